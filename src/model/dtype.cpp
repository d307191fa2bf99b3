#include "model/dtype.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace drift {
namespace {

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian");

/// `bits` shifted right by `shift` (1 to 31) and rounded to nearest, ties to even.
std::uint32_t shift_rounded(std::uint32_t bits, std::uint32_t shift) {
  const std::uint32_t half = std::uint32_t{1} << (shift - 1);
  const std::uint32_t odd = (bits >> shift) & 1U;
  return (bits + half - 1 + odd) >> shift;
}

template <float (*Raise)(std::uint16_t)>
void raise_16(std::span<const std::byte> stored, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, stored.data() + i * sizeof bits, sizeof bits);
    out[i] = Raise(bits);
  }
}

}  // namespace

std::uint64_t dtype_size(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat64:
    case Dtype::kInt64:
    case Dtype::kUint64:
      return 8;
    case Dtype::kFloat32:
    case Dtype::kInt32:
    case Dtype::kUint32:
      return 4;
    case Dtype::kFloat16:
    case Dtype::kBfloat16:
    case Dtype::kInt16:
    case Dtype::kUint16:
      return 2;
    case Dtype::kInt8:
    case Dtype::kUint8:
    case Dtype::kBool:
      return 1;
  }
  throw std::logic_error("no such dtype");
}

std::string_view dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat64:
      return "float64";
    case Dtype::kFloat32:
      return "float32";
    case Dtype::kFloat16:
      return "float16";
    case Dtype::kBfloat16:
      return "bfloat16";
    case Dtype::kInt64:
      return "int64";
    case Dtype::kInt32:
      return "int32";
    case Dtype::kInt16:
      return "int16";
    case Dtype::kInt8:
      return "int8";
    case Dtype::kUint64:
      return "uint64";
    case Dtype::kUint32:
      return "uint32";
    case Dtype::kUint16:
      return "uint16";
    case Dtype::kUint8:
      return "uint8";
    case Dtype::kBool:
      return "bool";
  }
  throw std::logic_error("no such dtype");
}

float float16_to_float32(std::uint16_t bits) {
  const std::uint32_t sign = (std::uint32_t{bits} & 0x8000U) << 16;
  const std::uint32_t exponent = (std::uint32_t{bits} >> 10) & 0x1FU;
  std::uint32_t mantissa = std::uint32_t{bits} & 0x3FFU;
  if (exponent == 0x1F) {
    return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  }
  if (exponent != 0) {
    return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  }
  if (mantissa == 0) {
    return std::bit_cast<float>(sign);
  }
  // A subnormal is mantissa × 2^-24; float32 holds it as a normal number.
  const auto leading = static_cast<std::uint32_t>(std::bit_width(mantissa)) - 1;
  mantissa = (mantissa << (23 - leading)) & 0x7FFFFFU;
  return std::bit_cast<float>(sign | ((leading + 103) << 23) | mantissa);
}

float bfloat16_to_float32(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

std::uint16_t float32_to_float16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t half = 0;
  if (magnitude > 0x7F800000U) {
    half = 0x7E00U | ((magnitude >> 13) & 0x3FFU);
  } else if (magnitude >= 0x47800000U) {  // 2^16 and more
    half = 0x7C00U;
  } else if (magnitude >= 0x38800000U) {  // 2^-14, the least normal float16, and more
    half = shift_rounded(magnitude - 0x38000000U, 13);
  } else if (magnitude >= 0x33000000U) {  // 2^-25: half of the least subnormal
    const std::uint32_t shift = 126 - (magnitude >> 23);
    half = shift_rounded((magnitude & 0x7FFFFFU) | 0x800000U, shift);
  }
  return static_cast<std::uint16_t>(sign | half);
}

std::uint16_t float32_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  }
  return static_cast<std::uint16_t>(shift_rounded(bits, 16));
}

bool raises_to_float32(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32:
    case Dtype::kFloat16:
    case Dtype::kBfloat16:
    case Dtype::kUint8:
    case Dtype::kBool:
      return true;
    default:
      return false;
  }
}

void raise_to_float32(Dtype dtype, std::span<const std::byte> stored, std::span<float> out) {
  if (stored.size() != out.size() * dtype_size(dtype)) {
    throw std::logic_error("raise_to_float32: sizes differ");
  }
  if (dtype == Dtype::kFloat32) {
    if (!out.empty()) {
      std::memcpy(out.data(), stored.data(), stored.size());
    }
  } else if (dtype == Dtype::kFloat16) {
    raise_16<float16_to_float32>(stored, out);
  } else if (dtype == Dtype::kBfloat16) {
    raise_16<bfloat16_to_float32>(stored, out);
  } else if (dtype == Dtype::kUint8 || dtype == Dtype::kBool) {
    std::transform(stored.begin(), stored.end(), out.begin(),
                   [](std::byte byte) { return static_cast<float>(byte); });
  } else {
    throw std::logic_error("raise_to_float32: no dtype that it takes");
  }
}

}  // namespace drift
