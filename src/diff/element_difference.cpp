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

void ElementComparison::add(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) {
    throw trouble(
        fmt::format("tensors of {} and {} elements can't be compared", a.size(), b.size()));
  }
  sums_.elements += a.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    sums_.non_finite += count_non_finite(a[i], b[i]);
    if (std::isfinite(a[i]) && std::isfinite(b[i])) {
      const double change = std::abs(double{b[i]} - double{a[i]});
      sums_.max_abs = std::max(sums_.max_abs, change);
      sum_abs_ += change;
      ++finite_;
    }
    if (const std::uint64_t ulp = ulp_distance(a[i], b[i]); ulp != kUlpNan) {
      sums_.max_ulp = std::max(sums_.max_ulp, ulp);
      sum_ulp_ += static_cast<double>(ulp);
      ++comparable_;
    }
    sums_.changed +=
        std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]) ? 1U : 0U;
  }
}

ElementDifference ElementComparison::difference() const {
  ElementDifference difference = sums_;
  difference.same = difference.changed == 0;
  difference.mean_abs = mean(sum_abs_, finite_);
  difference.mean_ulp = mean(sum_ulp_, comparable_);
  return difference;
}

ElementDifference compare_elements(std::span<const float> a, std::span<const float> b) {
  ElementComparison comparison;
  comparison.add(a, b);
  return comparison.difference();
}

}  // namespace drift
