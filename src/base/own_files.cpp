#include "driftaudit/own_files.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/process.hpp"

namespace drift {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
constexpr mode_t kOthersEnter = S_IXGRP | S_IXOTH;

bool is_trusted(uid_t owner) {
  const uid_t self = ::geteuid();
  // By sudo a person's cache stays the person's, who could have run anything as root.
  return owner == self || owner == 0 ||
         (self == 0 && environment_value("SUDO_UID") == std::to_string(owner));
}

void require_owner(const fs::path& path, const struct stat& info, const std::string& remedy) {
  if (!is_trusted(info.st_uid)) {
    throw usage_error(
        fmt::format("{}: belongs to user {}, not to you, and what is in the cache is run",
                    path.string(), info.st_uid),
        remedy.empty()
            ? "set DRIFTAUDIT_CACHE to a folder of your own, or make this one yours with "
              "chown -R"
            : remedy);
  }
}

void require_mode(const fs::path& path, const struct stat& info, const std::string& remedy) {
  if ((info.st_mode & kOthersWrite) != 0) {
    throw usage_error(
        fmt::format("{}: others may write to it (mode {:o}), and what is in the cache is run",
                    path.string(), info.st_mode & 07777U),
        remedy.empty() ? "where nobody else has written to it: chmod -R go-w '" + path.string() +
                             "'; or set DRIFTAUDIT_CACHE to another folder"
                       : remedy);
  }
}

}  // namespace

void require_own(const fs::path& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) != 0) {
    throw usage_error(fmt::format("{}: {}", folder.string(), std::strerror(errno)));
  }
  require_owner(folder, info, "");
  require_mode(folder, info, "");
}

void require_own_below(const fs::path& root, const fs::path& path, const std::string& remedy) {
  struct stat info {};
  if (::stat(root.c_str(), &info) != 0) {
    return;
  }
  bool reachable = (info.st_mode & kOthersEnter) != 0;
  fs::path at = root;
  for (const fs::path& part : path.lexically_relative(root)) {
    at /= part;
    if (::lstat(at.c_str(), &info) != 0) {
      return;
    }
    if (S_ISLNK(info.st_mode)) {
      throw usage_error(
          fmt::format("{}: a symbolic link, of which the cache has none of its own", at.string()),
          "remove the link; to keep the cache elsewhere, set DRIFTAUDIT_CACHE");
    }
    require_owner(at, info, remedy);
    if (reachable) {
      require_mode(at, info, remedy);
    }
    reachable = reachable && (info.st_mode & kOthersEnter) != 0;
  }
}

bool is_own(const fs::path& entry) {
  struct stat info {};
  return ::lstat(entry.c_str(), &info) == 0 && !S_ISLNK(info.st_mode) && is_trusted(info.st_uid);
}

}  // namespace drift
