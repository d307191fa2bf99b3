#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace drift {

/// What a checkpoint stores an element as.
enum class Dtype {
  kFloat64,
  kFloat32,
  kFloat16,
  kBfloat16,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUint64,
  kUint32,
  kUint16,
  kUint8,
  kBool
};

/// Bytes of one element.
std::uint64_t dtype_size(Dtype dtype);
/// torch's name: "float32".
std::string_view dtype_name(Dtype dtype);
/// Whether raise_to_float32() takes it.
bool raises_to_float32(Dtype dtype);

/// Exact: every float16 and bfloat16 is a float32. NaNs keep sign and payload.
float float16_to_float32(std::uint16_t bits);
float bfloat16_to_float32(std::uint16_t bits);

/// Rounded to nearest, ties to even; too large becomes infinite. NaNs stay (quiet) NaNs.
std::uint16_t float32_to_float16(float value);
std::uint16_t float32_to_bfloat16(float value);

/// Raises little-endian float32, float16, bfloat16, uint8 or bool elements (no other dtype) to
/// float32, exactly; a bool is the number that its byte holds.
/// `stored` is out.size() elements long and may lie at any address.
void raise_to_float32(Dtype dtype, std::span<const std::byte> stored, std::span<float> out);

}  // namespace drift
