#include "driftaudit/ulp.hpp"

#include <bit>
#include <cmath>

#include "diff/ordered_float.hpp"

namespace drift {

std::uint64_t ulp_distance(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) {
    return kUlpNan;
  }
  const std::int64_t distance = std::int64_t{ordered(b)} - std::int64_t{ordered(a)};
  return static_cast<std::uint64_t>(distance < 0 ? -distance : distance);
}

}  // namespace drift
