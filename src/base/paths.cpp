#include "driftaudit/paths.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/own_files.hpp"
#include "driftaudit/process.hpp"

namespace drift {
namespace {

struct CachePlace {
  fs::path path;
  bool bears_our_name;  ///< it is made by us, whatever it holds
};

CachePlace cache_place() {
  const auto absolute = [](const char* name, const std::string& value) {
    if (!fs::path(value).is_absolute()) {
      throw usage_error(fmt::format("{}={}: not an absolute path", name, value));
    }
    return fs::path(value);
  };
  if (const std::string own = environment_value("DRIFTAUDIT_CACHE"); !own.empty()) {
    return {absolute("DRIFTAUDIT_CACHE", own), false};
  }
  if (const std::string xdg = environment_value("XDG_CACHE_HOME"); !xdg.empty()) {
    return {absolute("XDG_CACHE_HOME", xdg) / "driftaudit", true};
  }
  if (const std::string home = environment_value("HOME"); !home.empty()) {
    return {absolute("HOME", home) / ".cache" / "driftaudit", true};
  }
  throw usage_error("no place for the cache: neither HOME nor XDG_CACHE_HOME is set",
                    "set DRIFTAUDIT_CACHE to a folder");
}

bool has_mark(const fs::path& folder) {
  return is_own(folder / kCacheMark) && fs::is_regular_file(folder / kCacheMark);
}

/// Where it can't be written, neither can anything else, which will say so.
void mark(const fs::path& folder) {
  constexpr std::string_view kText =
      "A cache of driftaudit: what it makes in this folder it may delete at any time.\n";
  const int fd = ::open((folder / kCacheMark).c_str(),
                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) {
    [[maybe_unused]] const ssize_t ignored = ::write(fd, kText.data(), kText.size());
    ::close(fd);
  }
}

/// Makes the folder for its owner alone; false where it can't be made.
bool make_cache(const fs::path& path) {
  try {
    make_folders(path.parent_path());
  } catch (const Error&) {
    return false;
  }
  return ::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

/// Older versions made the cache by the umask, which may have let the person's own group write.
void close_to_group(const fs::path& folder) {
  struct stat info {};
  if (::stat(folder.c_str(), &info) == 0 && info.st_uid == ::geteuid() &&
      info.st_gid == ::getegid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == S_IWGRP) {
    ::chmod(folder.c_str(), 0700);
  }
}

void claim(const CachePlace& place) {
  const fs::path& path = place.path;
  std::error_code error;
  if (!fs::exists(path, error) && !make_cache(path)) {
    return;  // what is to be written there will say why it can't
  }
  if (!fs::is_directory(path, error)) {
    throw usage_error(fmt::format("{}: not a folder", path.string()),
                      "set DRIFTAUDIT_CACHE to a folder");
  }
  if (has_mark(path)) {
    require_own(path);
    return;
  }
  if (place.bears_our_name) {
    close_to_group(path);
  }
  require_own(path);
  const bool is_empty = fs::is_empty(path, error) && !error;
  // Another process may have marked it since.
  if (!is_empty && !place.bears_our_name && !has_mark(path)) {
    throw usage_error(
        fmt::format("DRIFTAUDIT_CACHE={}: not empty, and no cache of driftaudit", path.string()),
        fmt::format(
            "name a new or an empty folder; if an older version filled this one: touch '{}'",
            (path / kCacheMark).string()));
  }
  mark(path);
}

}  // namespace

fs::path cache_folder() {
  CachePlace place = cache_place();
  claim(place);
  return std::move(place.path);
}

fs::path cache_part(const std::string& name) {
  const fs::path root = cache_folder();
  require_own_below(root, root / name);
  return root / name;
}

fs::path data_folder() {
  if (const std::string own = environment_value("DRIFTAUDIT_DATA"); !own.empty()) {
    if (!fs::is_directory(own)) {
      throw usage_error(fmt::format("DRIFTAUDIT_DATA={}: no such folder", own));
    }
    return fs::absolute(own);  // tools that are given it start elsewhere
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  fs::path installed = program.parent_path().parent_path() / "share" / "driftaudit";
  if (!error && fs::is_directory(installed)) {
    return installed;
  }
  fs::path source = DRIFTAUDIT_SOURCE_FOLDER;
  if (fs::is_directory(source / "venvs")) {
    return source;
  }
  throw usage_error(fmt::format("the shipped data is neither in {} nor in {}", installed.string(),
                                source.string()),
                    "set DRIFTAUDIT_DATA to the folder that holds venvs/ and prompts/");
}

fs::path runner_source_folder() {
  const fs::path data = data_folder();
  const fs::path installed = data / "runner";
  return fs::is_directory(installed) ? installed : data / "src" / "runner";
}

}  // namespace drift
