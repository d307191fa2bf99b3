#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/file.hpp"

namespace drift {

/// Places in cache_folder() that belong to builds:
///   builds/torch-1.10.1-cca660b27a90/   one unpacked build
///   runners/<key>/                      one compiled runner
///   logs/                               logs of compilations that failed
///   locks/                              two lock files for each build and runner: one held while
///                                       it is made or removed, one shared while it is in use
///   scratch/                            folders being filled
fs::path builds_folder();
fs::path runners_folder();
fs::path logs_folder();
fs::path lock_file(const std::string& name);

/// Whether the name is that of a compiled runner's folder, or of what an interrupted search has
/// kept: such a key.
bool is_key(const std::string& name);

/// A folder in scratch/, locked while its process lives and removed with the object. What a killed
/// process left behind is therefore known by its free lock.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& purpose);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::optional<FileLock> lock_;
};

/// Scratch folders whose processes are gone: by their names, and by the lock beside each.
std::vector<fs::path> stale_scratch_folders();

/// Removes them.
void sweep_scratch_folders();

/// Throws (trouble) unless `needed` bytes fit into `available`, the free bytes at `folder`.
void require_free_disk(const fs::path& folder, std::uint64_t needed, std::uint64_t available);

/// Moves a folder to `target` in one step; an error (trouble) when it can't.
void move_folder(const fs::path& from, const fs::path& target);

/// Size of all regular files below `folder`; files that vanish meanwhile are skipped.
std::uint64_t folder_bytes(const fs::path& folder);

}  // namespace drift
