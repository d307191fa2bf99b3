#include "reveal/rounded_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace drift {
namespace {

/// Adds x to parts that don't overlap, least first, without loss (Shewchuk, "Adaptive Precision
/// Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997: grow-expansion).
void grow(std::vector<double>& parts, double x) {
  std::size_t kept = 0;
  for (const double part : parts) {
    const double sum = x + part;
    const double of_part = sum - x;
    const double error = (x - (sum - of_part)) + (part - of_part);
    if (error != 0) {
      parts[kept++] = error;
    }
    x = sum;
  }
  parts.resize(kept);
  parts.push_back(x);
}

/// The sum of parts in double, rounded to odd: that keeps what a second rounding to float32 needs.
double rounded_to_odd(const std::vector<double>& parts) {
  double high = parts.back();
  for (std::size_t i = parts.size() - 1; i > 0; --i) {
    const double sum = high + parts[i - 1];
    const double low = parts[i - 1] - (sum - high);
    high = sum;
    if (low != 0) {
      const bool even = (std::bit_cast<std::uint64_t>(high) & 1U) == 0;
      const double infinity = std::numeric_limits<double>::infinity();
      return even ? std::nextafter(high, std::copysign(infinity, low)) : high;
    }
  }
  return high;
}

}  // namespace

float rounded_sum(std::span<const double> terms) {
  const bool finite =
      std::all_of(terms.begin(), terms.end(), [](double x) { return std::isfinite(x); });
  if (!finite || terms.empty()) {
    return static_cast<float>(std::accumulate(terms.begin(), terms.end(), 0.0));
  }
  std::vector<double> parts;
  for (const double term : terms) {
    grow(parts, term);
  }
  return static_cast<float>(rounded_to_odd(parts));
}

}  // namespace drift
