#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "driftaudit/step_difference.hpp"
#include "driftaudit/ulp.hpp"

namespace drift {
namespace {

using Kept = std::unordered_map<std::int32_t, float>;

Kept by_id(const Step& step) {
  Kept kept;
  kept.reserve(step.top.size());
  for (const TokenLogit& entry : step.top) {
    kept.emplace(entry.id, entry.logit);
  }
  return kept;
}

/// All logits of a step that kept them all, or nothing.
std::vector<float> all_logits(const Step& step, std::size_t vocabulary) {
  if (step.top.size() != vocabulary) {
    return {};
  }
  std::vector<float> logits(vocabulary, std::nanf(""));
  for (const TokenLogit& entry : step.top) {
    if (entry.id < 0 || static_cast<std::size_t>(entry.id) >= vocabulary) {
      return {};
    }
    logits[static_cast<std::size_t>(entry.id)] = entry.logit;
  }
  return logits;
}

void compare_common(const Step& a, const Kept& b, FloatType type, StepDifference& difference) {
  for (const TokenLogit& entry : a.top) {
    const auto other = b.find(entry.id);
    if (other == b.end()) {
      continue;
    }
    if (std::isfinite(entry.logit) && std::isfinite(other->second)) {
      difference.max_abs =
          std::max(difference.max_abs, std::abs(double{other->second} - double{entry.logit}));
    }
    const std::uint64_t ulp = ulp_distance(entry.logit, other->second, type);
    if (ulp != kUlpNan) {
      difference.max_ulp = std::max(difference.max_ulp, ulp);
    }
  }
}

std::optional<double> gap_change_of_kept(const Step& a, const Kept& b) {
  if (a.top.size() < 2) {
    return std::nullopt;
  }
  const auto first = b.find(a.top[0].id);
  const auto second = b.find(a.top[1].id);
  if (first == b.end() || second == b.end()) {
    return std::nullopt;
  }
  const double change = std::abs((double{first->second} - double{second->second}) -
                                 (double{a.top[0].logit} - double{a.top[1].logit}));
  return std::isfinite(change) ? std::optional(change) : std::nullopt;
}

}  // namespace

StepDifference compare_kept(const Step& a, const Step& b, std::size_t vocabulary, FloatType type) {
  StepDifference difference;
  difference.same = a.digest == b.digest;
  difference.gap_a = a.gap;
  difference.gap_b = b.gap;
  difference.non_finite = a.non_finite + b.non_finite;
  if (difference.same) {
    if (difference.non_finite == 0) {
      difference.kl = 0;
    }
    if (std::isfinite(a.gap)) {
      difference.gap_change = 0;
    }
    return difference;
  }
  const std::vector<float> all_a = all_logits(a, vocabulary);
  const std::vector<float> all_b = all_logits(b, vocabulary);
  if (!all_a.empty() && !all_b.empty()) {
    return compare_logits(all_a, all_b, type);
  }
  const Kept kept_b = by_id(b);
  difference.on_kept = true;
  compare_common(a, kept_b, type, difference);
  difference.gap_change = gap_change_of_kept(a, kept_b);
  difference.flip_possible =
      difference.non_finite > 0 || !(difference.gap_a > 2 * difference.max_abs);
  return difference;
}

}  // namespace drift
