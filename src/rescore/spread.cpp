#include "rescore/spread.hpp"

#include <algorithm>
#include <cmath>

#include "driftaudit/order_statistics.hpp"

namespace drift {
namespace {

constexpr std::uint32_t kPartSteps = 10;

}  // namespace

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
    spread.median = *median(finite);
    spread.p99 = percentile(finite, 99);
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
