#pragma once

#include <bit>
#include <cstdint>

namespace drift {

/// An integer that grows with the float by one for each representable step; 0 for both zeros.
/// Floats are sign and magnitude, so the negative ones run backwards in their bits.
inline std::int32_t ordered(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  return bits >= 0 ? bits : -(bits & 0x7fffffff);
}

}  // namespace drift
