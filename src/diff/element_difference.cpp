#include "driftaudit/element_difference.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/ulp.hpp"

namespace drift {
namespace {

std::uint64_t count_non_finite(float a, float b) {
  return (std::isfinite(a) ? 0U : 1U) + (std::isfinite(b) ? 0U : 1U);
}

double mean(double sum, std::uint64_t count) {
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

ElementDifference compare_elements(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) {
    throw trouble(
        fmt::format("tensors of {} and {} elements can't be compared", a.size(), b.size()));
  }
  ElementDifference difference;
  difference.elements = a.size();
  std::uint64_t finite = 0;
  std::uint64_t comparable = 0;
  double sum_abs = 0;
  double sum_ulp = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference.non_finite += count_non_finite(a[i], b[i]);
    if (std::isfinite(a[i]) && std::isfinite(b[i])) {
      const double change = std::abs(double{b[i]} - double{a[i]});
      difference.max_abs = std::max(difference.max_abs, change);
      sum_abs += change;
      ++finite;
    }
    if (const std::uint64_t ulp = ulp_distance(a[i], b[i]); ulp != kUlpNan) {
      difference.max_ulp = std::max(difference.max_ulp, ulp);
      sum_ulp += static_cast<double>(ulp);
      ++comparable;
    }
    difference.changed +=
        std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]) ? 1U : 0U;
  }
  difference.same = difference.changed == 0;
  difference.mean_abs = mean(sum_abs, finite);
  difference.mean_ulp = mean(sum_ulp, comparable);
  return difference;
}

}  // namespace drift
