#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "driftaudit/file.hpp"

#include "model/checkpoint_writer.hpp"

namespace drift {

/// Writes a zip as torch lays it out: entries stored, each one's bytes at a multiple of 64. Unlike
/// libzip's, its bytes are the same under every version of every library. No ZIP64: errors (usage)
/// beyond 4 GiB.
class ZipWriter {
 public:
  explicit ZipWriter(const std::filesystem::path& path) : file_(path), path_(path) {}

  void add(const std::string& name, std::string_view bytes);
  void add(const std::string& name, const std::function<void(const ByteSink&)>& produce);
  /// Writes the directory; the file is there only after it.
  void commit();

 private:
  void check_size() const;

  AtomicFile file_;
  std::filesystem::path path_;
  std::string directory_;
  std::uint16_t entries_ = 0;
};

}  // namespace drift
