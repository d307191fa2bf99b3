#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "driftaudit/progress.hpp"

namespace drift {

/// A wheel (a zip archive) open for reading. Names and sizes in it are not trusted: a name that
/// leads out of the folder is refused, and so are bytes that differ from the declared size or CRC.
class Wheel {
 public:
  struct Entry {
    std::string name;
    std::uint64_t size = 0;
    std::uint64_t index = 0;
  };

  /// Errors (trouble): not a zip archive, truncated, an unsafe name.
  explicit Wheel(const std::filesystem::path& path);
  ~Wheel();
  Wheel(Wheel&&) noexcept;
  Wheel& operator=(Wheel&&) = delete;
  Wheel(const Wheel&) = delete;
  Wheel& operator=(const Wheel&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Its files, without folders.
  const std::vector<Entry>& entries() const { return entries_; }
  /// Reads an entry piece by piece. Errors (trouble): damaged.
  void read(const Entry& entry, const std::function<void(const char*, std::size_t)>& piece) const;

 private:
  struct Archive;
  std::filesystem::path path_;
  std::unique_ptr<Archive> archive_;
  std::vector<Entry> entries_;
};

/// A file that came out of a wheel.
struct UnpackedFile {
  std::string path;  ///< relative, as in the wheel
  std::uint64_t size = 0;
  std::string sha256;
  bool library = false;
};

/// Bytes that unpack_runner_parts() will write, by the wheels' own account.
std::uint64_t runner_parts_bytes(const std::vector<Wheel>& wheels);

/// Unpacks into `folder`, which is empty, what a runner needs: libtorch_cpu and libc10 of the first
/// wheel, the libraries that they need and that some wheel has, the headers, the version. Relative
/// paths stay, so that run paths relative to `$ORIGIN` hold. Errors (trouble): a damaged wheel, no
/// libtorch in it, disk full.
std::vector<UnpackedFile> unpack_runner_parts(const std::vector<Wheel>& wheels,
                                              const std::filesystem::path& folder,
                                              Progress& progress);

}  // namespace drift
