#include "builds/cache.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <regex>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/own_files.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/remove_tree.hpp"

namespace drift {
namespace {

fs::path scratch_folder() { return cache_part("scratch"); }

fs::path lock_of(const fs::path& scratch) { return scratch.string() + ".lock"; }

/// Held while a scratch folder gets its lock, so that none is seen without it.
FileLock lock_scratch() { return FileLock(scratch_folder() / "lock"); }

/// A folder of a scratch folder's name with the lock that each of them has. One that was killed
/// before it had its lock is empty.
bool is_scratch_folder(const fs::directory_entry& entry) {
  static const std::regex name("(fetch|unpack|compile|remove)-[A-Za-z0-9]{6}");
  std::error_code none;
  return std::regex_match(entry.path().filename().string(), name) &&
         fs::is_directory(entry.symlink_status(none)) && is_own(entry.path()) &&
         (fs::is_regular_file(fs::symlink_status(lock_of(entry.path()), none)) ||
          fs::is_empty(entry.path(), none));
}

std::vector<fs::path> stale_folders_under_lock() {
  std::vector<fs::path> stale;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(scratch_folder(), error)) {
    if (is_scratch_folder(entry) && FileLock::try_lock(lock_of(entry.path()))) {
      stale.push_back(entry.path());
    }
  }
  return stale;
}

}  // namespace

fs::path builds_folder() { return cache_part("builds"); }
fs::path runners_folder() { return cache_part("runners"); }
fs::path logs_folder() { return cache_part("logs"); }
fs::path lock_file(const std::string& name) { return cache_part("locks") / (name + ".lock"); }

bool is_key(const std::string& name) {
  return name.size() == 24 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
}

ScratchFolder::ScratchFolder(const std::string& purpose) {
  const FileLock guard = lock_scratch();
  std::string name = (scratch_folder() / purpose).string() + "-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw trouble(
        fmt::format("{}: can't make a folder: {}", scratch_folder().string(), std::strerror(errno)),
        "check the permissions and the free space there");
  }
  path_ = name;
  lock_.emplace(lock_of(path_));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  remove_tree(path_);
  fs::remove(lock_of(path_), ignored);
}

std::vector<fs::path> stale_scratch_folders() {
  if (!fs::is_directory(scratch_folder())) {
    return {};
  }
  const FileLock guard = lock_scratch();
  return stale_folders_under_lock();
}

void sweep_scratch_folders() {
  if (!fs::is_directory(scratch_folder())) {
    return;
  }
  const FileLock guard = lock_scratch();
  for (const fs::path& folder : stale_folders_under_lock()) {
    std::error_code ignored;
    remove_tree(folder);
    fs::remove(lock_of(folder), ignored);
  }
}

void require_free_disk(const fs::path& folder, std::uint64_t needed, std::uint64_t available) {
  if (needed > available) {
    throw trouble(fmt::format("{}: {} free, {} needed", folder.string(), format_bytes(available),
                              format_bytes(needed)),
                  "free some space, or set DRIFTAUDIT_CACHE to a folder that has it");
  }
}

void move_folder(const fs::path& from, const fs::path& target) {
  make_folders(target.parent_path());
  std::error_code error;
  fs::rename(from, target, error);
  if (error) {
    throw trouble(
        fmt::format("{}: can't be moved into place: {}", target.string(), error.message()));
  }
}

std::uint64_t folder_bytes(const fs::path& folder) {
  std::uint64_t total = 0;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, error);
  for (const fs::recursive_directory_iterator end; !error && at != end; at.increment(error)) {
    std::error_code vanished;
    if (at->is_regular_file(vanished) && !at->is_symlink(vanished)) {
      const std::uint64_t size = at->file_size(vanished);
      total += vanished ? 0 : size;
    }
  }
  return total;
}

}  // namespace drift
