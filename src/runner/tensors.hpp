#pragma once

#include <cstdint>
#include <string>

#include <ATen/ATen.h>

#include "tensor_data.hpp"

namespace drift::runner {

/// torch's type of that name; throws std::runtime_error for a number that is none.
at::ScalarType scalar_type_of(wire::DType dtype);

/// "float32", "bfloat16", "float16"; of others torch's own name.
const char* dtype_name(at::ScalarType type);

/// How a tensor of float, int64 or bool lies in memory; throws std::runtime_error for other types.
wire::TensorLayout layout_of(const at::Tensor& tensor);

/// Its bytes as TensorData::bytes has them.
std::string bytes_of(const at::Tensor& tensor);

/// murmur64a() over its elements in row-major order.
std::uint64_t digest_of(const at::Tensor& tensor);

/// A tensor in memory of its own that lies there as the layout says: same sizes, strides, storage
/// offset, and address modulo 64.
at::Tensor tensor_from(const wire::TensorData& data);

}  // namespace drift::runner
