#pragma once

#include <bit>
#include <cstdint>

#include "driftaudit/ulp.hpp"

namespace drift {

/// An integer that grows with the float by one for each representable step; 0 for both zeros.
/// Floats are sign and magnitude, so the negative ones run backwards in their bits.
inline std::int32_t ordered(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits >= 0 ? bits : -(bits & 0x7fffffff);
}

/// The same for steps of bfloat16, which is a float's upper half.
inline std::int32_t ordered_bfloat16(float value) {
  const std::int32_t steps = ordered(value);
  return steps >= 0 ? steps >> 16 : -(-steps >> 16);
}

/// The same for steps of float16: 10 bits of mantissa and exponents from -14, below which it has
/// multiples of 2^-24 alone.
inline std::int32_t ordered_float16(float value) {
  constexpr std::int32_t kLeastNormal = 0x38800000;  // 2^-14
  constexpr std::int32_t kInfinity = 0x7f800000;
  const auto bits = std::bit_cast<std::int32_t>(value);
  const std::int32_t size = bits & 0x7fffffff;
  std::int32_t steps = 0;
  if (size >= kInfinity) {
    steps = 0x7c00;
  } else if (size >= kLeastNormal) {
    steps = (size - kLeastNormal + 0x00800000) >> 13;  // its exponent counts from 1
  } else {
    steps = static_cast<std::int32_t>(std::bit_cast<float>(size) * 0x1p24F);
  }
  return bits >= 0 ? steps : -steps;
}

inline std::int32_t ordered(float value, FloatType type) {
  switch (type) {
    case FloatType::kBFloat16:
      return ordered_bfloat16(value);
    case FloatType::kFloat16:
      return ordered_float16(value);
    case FloatType::kFloat32:
      break;
  }
  return ordered(value);
}

}  // namespace drift
