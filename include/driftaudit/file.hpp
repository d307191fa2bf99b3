#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace drift {

namespace fs = std::filesystem;

/// The bytes of a file. Errors (usage): missing, not a regular file, unreadable, larger than
/// `max_bytes`.
std::string read_file(const fs::path& path, std::uint64_t max_bytes = std::uint64_t{1} << 32);

/// A file mapped read-only. An empty file has an empty span. Errors (usage) as for read_file.
class MappedFile {
 public:
  explicit MappedFile(const fs::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A file that comes into being whole or not at all: written beside its target under a temporary
/// name, then renamed over it by commit(). Without commit() the destructor removes it.
/// Errors carry `status`: usage for what a person asked to be written, trouble for our cache.
class AtomicFile {
 public:
  explicit AtomicFile(fs::path target, bool in_cache = false);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void write(std::span<const std::byte> bytes);
  /// Overwrites bytes already written, from `offset` on: for a header known only at the end.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  std::uint64_t size() const { return size_; }
  void commit();

 private:
  [[noreturn]] void fail(int error_number) const;

  fs::path target_;
  fs::path temporary_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
  bool in_cache_;
};

/// write(bytes) and commit() of an AtomicFile.
void write_file(const fs::path& path, std::string_view bytes, bool in_cache = false);

/// Creates the folder and its parents, which only their owner may write to; errors are trouble.
void make_folders(const fs::path& path);

/// A new folder `parent/prefix-XXXXXX`, removed with all it holds unless released.
class TemporaryFolder {
 public:
  TemporaryFolder(const fs::path& parent, std::string_view prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }
  /// Moves the folder to `target` (same file system), which must not exist or be an empty folder.
  void move_to(const fs::path& target);

 private:
  fs::path path_;
};

/// An exclusive lock on a file, shared by all processes that use the same path, held for the
/// object's life. The kernel drops it when the process ends, however it ends.
class FileLock {
 public:
  /// Waits for the lock; an interruption ends the wait with its error.
  explicit FileLock(const fs::path& path);
  /// Takes the lock if it is free.
  static std::optional<FileLock> try_lock(const fs::path& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

/// Bytes that an unprivileged process may still write on the file system that holds `path` (or its
/// nearest existing parent).
std::uint64_t free_disk_bytes(const fs::path& path);

}  // namespace drift
