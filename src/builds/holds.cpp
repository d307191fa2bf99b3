#include "builds/holds.hpp"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "driftaudit/interrupt.hpp"

#include "builds/cache.hpp"

namespace drift {
namespace {

/// What this process holds, by the lock's path: an open file with a shared lock. The kernel drops
/// it when the process ends, however it ends.
class Holds {
 public:
  void add(const fs::path& path) {
    const std::lock_guard guard(mutex_);
    if (files_.contains(path)) {
      return;
    }
    std::error_code none;
    if (!fs::is_directory(path.parent_path(), none)) {
      make_folders(path.parent_path());
    }
    int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) {
      fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    }
    if (fd >= 0) {
      files_.emplace(path, fd);
      wait_for(fd);
    }
  }

  void drop(const fs::path& path) {
    const std::lock_guard guard(mutex_);
    if (const auto at = files_.find(path); at != files_.end()) {
      ::close(at->second);
      files_.erase(at);
    }
  }

 private:
  static void wait_for(int fd) {
    while (::flock(fd, LOCK_SH | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
      throw_if_interrupted();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  std::mutex mutex_;
  std::map<fs::path, int> files_;
};

Holds& holds() {
  static Holds all;
  return all;
}

fs::path use_lock(const std::string& name) { return lock_file(name + ".use"); }

}  // namespace

void hold(const std::string& name) { holds().add(use_lock(name)); }
void give_up(const std::string& name) { holds().drop(use_lock(name)); }

std::optional<FileLock> lock_unused(const std::string& name) {
  give_up(name);
  return FileLock::try_lock(use_lock(name));
}

}  // namespace drift
