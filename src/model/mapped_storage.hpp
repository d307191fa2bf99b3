#pragma once

#include <memory>
#include <span>

#include "driftaudit/file.hpp"

#include "model/checkpoint.hpp"

namespace drift {

/// A part of a mapped file, which lives as long as the storage or what it gave.
class MappedStorage : public Storage {
 public:
  MappedStorage(std::shared_ptr<const MappedFile> file, std::span<const std::byte> bytes)
      : file_(std::move(file)), bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_.size(); }
  OwnedBytes load() const override { return {bytes_, file_}; }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::span<const std::byte> bytes_;
};

}  // namespace drift
