#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/dtype.hpp"

namespace drift {

/// A tensor to be written: contiguous, row-major, little-endian.
struct OutgoingTensor {
  std::string name;
  Dtype dtype = Dtype::kFloat32;
  std::vector<std::uint64_t> shape;

  std::uint64_t bytes() const;
};

using ByteSink = std::function<void(std::span<const std::byte>)>;
/// Gives all bytes of the tensor with this index to the sink, in pieces.
using TensorSource = std::function<void(std::size_t index, const ByteSink& sink)>;

/// Write a checkpoint whose bytes depend on nothing but its tensors: no times, no versions of
/// libraries. Errors (usage): the file can't be written, or is too large for a zip (4 GiB).
void write_safetensors(const std::filesystem::path& file,
                       const std::vector<OutgoingTensor>& tensors, const TensorSource& source);
void write_torch_zip(const std::filesystem::path& file, const std::vector<OutgoingTensor>& tensors,
                     const TensorSource& source);
void write_torch_legacy(const std::filesystem::path& file,
                        const std::vector<OutgoingTensor>& tensors, const TensorSource& source);

}  // namespace drift
