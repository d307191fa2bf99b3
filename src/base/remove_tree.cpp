#include "driftaudit/remove_tree.hpp"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace drift {
namespace {

namespace fs = std::filesystem;

/// Removes what the open folder `at` has under a name. Each step goes by an open folder, so that no
/// name on the way can be exchanged for a link.
bool remove_entry(int at, const char* name) {
  if (::unlinkat(at, name, 0) == 0 || errno == ENOENT) {
    return true;
  }
  if (errno != EISDIR && errno != EPERM) {
    return false;
  }
  const int fd = ::openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR* const folder = fd < 0 ? nullptr : ::fdopendir(fd);
  if (folder == nullptr) {
    if (fd >= 0) {
      ::close(fd);
    }
    return false;
  }
  while (const dirent* entry = ::readdir(folder)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) {
      remove_entry(fd, entry->d_name);
    }
  }
  ::closedir(folder);
  return ::unlinkat(at, name, AT_REMOVEDIR) == 0;
}

}  // namespace

bool remove_tree(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : ".";
  const int at = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) {
    return errno == ENOENT;
  }
  const bool gone = remove_entry(at, path.filename().c_str());
  ::close(at);
  return gone;
}

}  // namespace drift
