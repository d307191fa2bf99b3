#include "driftaudit/ulp.hpp"

#include <cmath>

#include "diff/ordered_float.hpp"

namespace drift {

FloatType float_type(const std::string& name) {
  if (name == "bfloat16") {
    return FloatType::kBFloat16;
  }
  return name == "float16" ? FloatType::kFloat16 : FloatType::kFloat32;
}

std::uint64_t ulp_distance(float a, float b, FloatType type) {
  if (std::isnan(a) || std::isnan(b)) {
    return kUlpNan;
  }
  const std::int64_t distance = std::int64_t{ordered(b, type)} - std::int64_t{ordered(a, type)};
  return static_cast<std::uint64_t>(distance < 0 ? -distance : distance);
}

}  // namespace drift
