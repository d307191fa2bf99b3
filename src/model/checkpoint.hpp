#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/dtype.hpp"

namespace drift {

/// Bytes and what keeps them alive.
struct OwnedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

/// A run of bytes that one or several tensors look into.
class Storage {
 public:
  Storage() = default;
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  virtual std::uint64_t size() const = 0;
  /// All of its size() bytes: of a mapped file, or read into memory. Errors (usage): unreadable.
  virtual OwnedBytes load() const = 0;
};

/// A tensor of a checkpoint, where it lies. Its reader has checked that all its elements lie
/// within the storage.
struct StoredTensor {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;  ///< in elements, one a dimension
  std::uint64_t offset = 0;            ///< of the first element, in elements
  std::shared_ptr<const Storage> storage;
  std::filesystem::path file;  ///< for messages

  std::uint64_t elements() const;
  bool contiguous() const;
};

/// The checkpoint's first file: `source` itself, or of a folder model.safetensors,
/// model.safetensors.index.json, pytorch_model.bin or pytorch_model.bin.index.json (looked for in
/// that order). Errors (usage): the folder holds none.
std::filesystem::path checkpoint_file(const std::filesystem::path& source);

/// Reads the table of a checkpoint, whose first file is checkpoint_file(source); what a file is,
/// its content says. Tensor names are unique. Errors (usage) as
/// write_canonical_weights says.
std::vector<StoredTensor> open_checkpoint(const std::filesystem::path& source);

/// The table of one file of weights, safetensors or torch's: its content says which.
std::vector<StoredTensor> read_weights_file(const std::filesystem::path& file);

/// Row-major strides of a shape, in elements.
std::vector<std::uint64_t> contiguous_strides(const std::vector<std::uint64_t>& shape);

/// The product of a shape's sizes, or nothing when it or its bytes can't be counted in 63 bits.
bool count_elements(const std::vector<std::uint64_t>& shape, Dtype dtype, std::uint64_t& elements);

/// "[768, 2304]".
std::string shape_text(const std::vector<std::uint64_t>& shape);

/// Gives a float tensor's elements as float32, in row-major order, a piece at a time.
class TensorReader {
 public:
  explicit TensorReader(const StoredTensor& tensor);

  /// The next elements; empty at the end. Valid until the next call. All readers of tensors with
  /// equally many elements give pieces of the same lengths.
  std::span<const float> next();

 private:
  std::span<const std::byte> gather(std::size_t count);

  const StoredTensor& tensor_;
  OwnedBytes storage_;
  bool contiguous_;
  std::uint64_t elements_;
  std::uint64_t done_ = 0;
  std::vector<std::uint64_t> index_;  // of the next element
  std::vector<std::byte> gathered_;
  std::vector<float> raised_;
};

}  // namespace drift
