#include "rescore/spread.hpp"

#include <algorithm>
#include <cmath>

namespace drift {
namespace {

constexpr std::uint32_t kPartSteps = 10;

/// The smallest value that at least this share of them doesn't exceed. `values` rise and are some.
double nearest_rank(const std::vector<double>& values, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) {
    return 0;
  }
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool is_outlier(double delta, double limit) { return !std::isfinite(delta) || delta > limit; }

RescoreSpread spread_of(const std::string& part, const std::vector<double>& deltas, double limit) {
  RescoreSpread spread;
  spread.part = part;
  spread.tokens = deltas.size();
  std::vector<double> finite;
  for (const double delta : deltas) {
    spread.outliers += is_outlier(delta, limit) ? 1 : 0;
    if (std::isfinite(delta)) {
      finite.push_back(delta);
    }
  }
  if (!finite.empty()) {
    std::sort(finite.begin(), finite.end());
    spread.median = median_of(finite);
    spread.p99 = nearest_rank(finite, 0.99);
    spread.max = finite.back();
  }
  return spread;
}

const char* part_of(std::uint32_t step, std::uint32_t steps) {
  const std::uint32_t edge = std::min(kPartSteps, steps / 2);
  if (step <= edge) {
    return "early";
  }
  return step > steps - edge ? "late" : "middle";
}

std::optional<std::uint32_t> regular_distance(const std::vector<std::uint32_t>& numbers,
                                              std::uint32_t end) {
  if (numbers.size() < 3) {
    return std::nullopt;
  }
  const std::uint32_t distance = numbers[1] - numbers[0];
  for (std::size_t i = 2; i < numbers.size(); ++i) {
    if (numbers[i] - numbers[i - 1] != distance) {
      return std::nullopt;
    }
  }
  if (distance < 2 || numbers.back() + distance <= end) {
    return std::nullopt;
  }
  return distance;
}

}  // namespace drift
