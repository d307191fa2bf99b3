#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace drift {

/// A type of floating-point numbers, all of which float32 has as well.
enum class FloatType { kFloat32, kBFloat16, kFloat16 };

/// The one of a name: "float32", "bfloat16", "float16"; kFloat32 for any other.
FloatType float_type(const std::string& name);

/// What ulp_distance() gives when either number is NaN.
inline constexpr std::uint64_t kUlpNan = std::numeric_limits<std::uint64_t>::max();

/// Distance of two numbers of a type in its representable steps (units in the last place).
///
/// Maps each number to a signed integer that grows with its value, so that the distance counts the
/// numbers between them; +0 and -0 are 0 apart, infinities lie one step beyond the largest finite.
/// NaN against anything, itself included, is kUlpNan: callers count it, never add it up. A float
/// that the type doesn't have counts as the one that its leading bits make.
std::uint64_t ulp_distance(float a, float b, FloatType type = FloatType::kFloat32);

}  // namespace drift
