#pragma once

#include <cstdint>
#include <limits>

namespace drift {

/// What ulp_distance() gives when either number is NaN.
inline constexpr std::uint64_t kUlpNan = std::numeric_limits<std::uint64_t>::max();

/// Distance of two floats in representable steps (units in the last place).
///
/// Maps each float to a signed integer that grows with its value, so that the distance counts the
/// floats between them; +0 and -0 are 0 apart, infinities lie one step beyond the largest finite.
/// NaN against anything, itself included, is kUlpNan: callers count it, never add it up.
std::uint64_t ulp_distance(float a, float b);

}  // namespace drift
