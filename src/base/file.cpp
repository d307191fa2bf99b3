#include "driftaudit/file.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/remove_tree.hpp"

namespace drift {
namespace {

/// Opens a regular file for reading; its size comes with it.
std::pair<int, std::uint64_t> open_regular(const fs::path& path) {
  // O_NONBLOCK, or opening a fifo would wait for its writer.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    throw usage_error(fmt::format("{}: {}", path.string(), std::strerror(errno)));
  }
  struct stat info {};
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    throw usage_error(fmt::format("{}: not a regular file", path.string()));
  }
  return {fd, static_cast<std::uint64_t>(info.st_size)};
}

}  // namespace

std::string read_file(const fs::path& path, std::uint64_t max_bytes) {
  const auto [fd, size] = open_regular(path);
  if (size > max_bytes) {
    ::close(fd);
    throw usage_error(fmt::format("{}: {} bytes, more than the {} that such a file may have",
                                  path.string(), size, max_bytes));
  }
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::read(fd, bytes.data() + done, size - done);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      const int error_number = n < 0 ? errno : EIO;
      ::close(fd);
      throw usage_error(fmt::format("{}: {}", path.string(), std::strerror(error_number)));
    }
    done += static_cast<std::size_t>(n);
  }
  ::close(fd);
  return bytes;
}

MappedFile::MappedFile(const fs::path& path) {
  const auto [fd, size] = open_regular(path);
  if (size > 0) {
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) {
      const int error_number = errno;
      ::close(fd);
      throw usage_error(
          fmt::format("{}: can't be mapped: {}", path.string(), std::strerror(error_number)));
    }
    data_ = static_cast<const std::byte*>(address);
    size_ = size;
  }
  ::close(fd);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(const_cast<std::byte*>(data_), size_);
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

namespace {

/// Where a path leads: a rename would replace a symbolic link and not what it points to.
fs::path behind_links(fs::path real) {
  std::error_code error;
  // As many links as the system itself would follow; then opening it says what is wrong.
  for (int links = 0; links < 40 && fs::is_symlink(real, error); ++links) {
    const fs::path target = fs::read_symlink(real, error);
    real = target.is_absolute() ? target : real.parent_path() / target;
  }
  return real;
}

}  // namespace

AtomicFile::AtomicFile(fs::path target, bool in_cache)
    : target_(behind_links(std::move(target))), in_cache_(in_cache) {
  std::error_code ignored;
  const fs::file_status status = fs::status(target_, ignored);
  if (fs::is_directory(status)) {
    fail(EISDIR);
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    // A rename would put a file in the place of the device or the fifo.
    throw usage_error(fmt::format("{}: can't be written: not a regular file", target_.string()),
                      "choose another path");
  }
  std::string name = target_.string() + ".XXXXXX";
  fd_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (fd_ < 0) {
    fail(errno);
  }
  temporary_ = name;
  // mkostemp makes files private; a report is as readable as any file of its owner. To the cache
  // only its owner writes.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd_, (in_cache_ ? 0644 : 0666) & ~mask);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }
}

void AtomicFile::fail(int error_number) const {
  const std::string what =
      fmt::format("{}: can't be written: {}", target_.string(), std::strerror(error_number));
  if (in_cache_) {
    throw trouble(what, "free some space, or set DRIFTAUDIT_CACHE to a folder that has it");
  }
  throw usage_error(what, "choose another path");
}

void AtomicFile::write(std::string_view bytes) { write(std::as_bytes(std::span(bytes))); }

void AtomicFile::write(std::span<const std::byte> bytes) {
  write_at(size_, bytes);
  size_ += bytes.size();
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0) {
      fail(errno);
    }
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void AtomicFile::commit() {
  if (::fsync(fd_) != 0) {
    fail(errno);
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    fail(errno);
  }
  ::close(std::exchange(fd_, -1));
}

void write_file(const fs::path& path, std::string_view bytes, bool in_cache) {
  AtomicFile file(path, in_cache);
  file.write(bytes);
  file.commit();
}

void make_folders(const fs::path& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) {
    return;
  }
  if (const fs::path parent = path.parent_path(); !parent.empty() && parent != path) {
    make_folders(parent);
  }
  if (::mkdir(path.c_str(), 0755) != 0) {
    const int error_number = errno;
    if (!fs::is_directory(path, none)) {
      throw trouble(
          fmt::format("{}: can't make the folder: {}", path.string(), std::strerror(error_number)),
          "check the permissions and the free space there");
    }
  }
}

TemporaryFolder::TemporaryFolder(const fs::path& parent, std::string_view prefix) {
  make_folders(parent);
  std::string name = (parent / prefix).string() + "-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw trouble(
        fmt::format("{}: can't make a folder there: {}", parent.string(), std::strerror(errno)),
        "check the permissions and the free space there");
  }
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  if (!path_.empty()) {
    remove_tree(path_);
  }
}

void TemporaryFolder::move_to(const fs::path& target) {
  std::error_code error;
  fs::rename(path_, target, error);
  if (error) {
    throw trouble(
        fmt::format("{}: can't be moved into place: {}", target.string(), error.message()));
  }
  path_.clear();
}

namespace {

int open_lock(const fs::path& path) {
  make_folders(path.parent_path());
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) {
    throw trouble(fmt::format("{}: can't be locked: {}", path.string(), std::strerror(errno)));
  }
  return fd;
}

}  // namespace

FileLock::FileLock(const fs::path& path) : fd_(open_lock(path)) {
  // Polled, so that a signal ends the wait; whoever holds it holds it for seconds.
  while (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      const int error_number = errno;
      ::close(std::exchange(fd_, -1));
      throw trouble(
          fmt::format("{}: can't be locked: {}", path.string(), std::strerror(error_number)));
    }
    try {
      throw_if_interrupted();
    } catch (...) {
      ::close(std::exchange(fd_, -1));
      throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

std::optional<FileLock> FileLock::try_lock(const fs::path& path) {
  const int fd = open_lock(path);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return std::nullopt;
  }
  return FileLock(fd);
}

FileLock::~FileLock() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

std::uint64_t free_disk_bytes(const fs::path& path) {
  fs::path existing = fs::absolute(path);
  while (!fs::exists(existing) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  struct statvfs info {};
  if (::statvfs(existing.c_str(), &info) != 0) {
    throw trouble(fmt::format("{}: can't ask for its free space: {}", existing.string(),
                              std::strerror(errno)));
  }
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

}  // namespace drift
