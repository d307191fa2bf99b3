#pragma once

#include <cstdint>
#include <vector>

#include "runner/tensor_data.hpp"

namespace drift {

/// A contiguous float32 tensor, its first element `alignment` bytes (a multiple of 4, below 64)
/// behind an address that 64 divides. `values`: row-major, as many as the sizes say, else
/// std::invalid_argument.
wire::TensorData contiguous_tensor(const std::vector<std::int64_t>& sizes,
                                   const std::vector<float>& values, std::uint32_t alignment = 0);

/// The elements of a float32 tensor in row-major order, whatever its strides; of another type:
/// std::invalid_argument.
std::vector<float> float_elements(const wire::TensorData& tensor);

}  // namespace drift
