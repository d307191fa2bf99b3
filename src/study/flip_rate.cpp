#include "driftaudit/flip_rate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "runner/split_mix.hpp"

namespace drift {
namespace {

constexpr double kMillion = 1e6;
constexpr int kReplicates = 1000;
constexpr std::uint64_t kLeastNear = 10;

/// A step that remembers its prompt.
struct PlacedChange {
  GapChange step;
  std::size_t prompt = 0;
};

/// How often each prompt was drawn.
using Multiplicities = std::vector<std::uint32_t>;

std::uint64_t near_steps(std::uint64_t steps) {
  const auto wanted =
      static_cast<std::uint64_t>(std::llround(std::pow(static_cast<double>(steps), 2.0 / 3) / 2));
  return std::min(std::max(wanted, kLeastNear), steps);
}

/// All steps by their gaps, and what is summed over them.
class SortedGaps {
 public:
  explicit SortedGaps(const GapChanges& prompts) {
    for (std::size_t p = 0; p < prompts.size(); ++p) {
      lengths_.push_back(prompts[p].size());
      for (const GapChange& step : prompts[p]) {
        steps_.push_back({step, p});
      }
    }
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const auto& a, const auto& b) { return a.step.gap < b.step.gap; });
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].step.flipped) {
        flips_.push_back(i);
      }
    }
  }

  std::uint64_t total(const Multiplicities& drawn) const {
    std::uint64_t steps = 0;
    for (std::size_t p = 0; p < lengths_.size(); ++p) {
      steps += drawn[p] * lengths_[p];
    }
    return steps;
  }

  /// One past the last of the nearest `near` steps.
  std::size_t end_of(std::uint64_t near, const Multiplicities& drawn) const {
    std::uint64_t taken = 0;
    std::size_t end = 0;
    while (end < steps_.size() && taken < near) {
      taken += drawn[steps_[end].prompt];
      ++end;
    }
    return end;
  }

  double gap_at(std::size_t i) const { return steps_[i].step.gap; }

  /// The rate, a step.
  double rate(const Multiplicities& drawn) const {
    const std::uint64_t steps = total(drawn);
    if (steps == 0) {
      return 0;
    }
    const std::size_t end = end_of(near_steps(steps), drawn);
    const double h = gap_at(end - 1);
    double expected = 0;
    for (std::size_t i = 0; i < end; ++i) {
      expected += drawn[steps_[i].prompt] * chance(steps_[i].step, h);
    }
    for (auto flip = std::lower_bound(flips_.begin(), flips_.end(), end); flip != flips_.end();
         ++flip) {
      expected += drawn[steps_[*flip].prompt];
    }
    return expected / static_cast<double>(steps);
  }

 private:
  static double chance(const GapChange& step, double h) {
    if (h <= 0) {
      return step.flipped ? 1 : 0;
    }
    return std::min(std::abs(step.change), h) / (2 * h);
  }

  std::vector<std::uint64_t> lengths_;  ///< of the prompts
  std::vector<PlacedChange> steps_;
  std::vector<std::size_t> flips_;  ///< indices of steps
};

/// The rate with the interval that its replicates give.
template <class Rate>
StudyRate with_interval(std::size_t prompts, std::uint64_t seed, const Rate& rate) {
  const double value = rate(Multiplicities(prompts, 1));
  StudyRate found{value * kMillion, std::nullopt, std::nullopt};
  if (prompts < 2 || !(value > 0)) {
    return found;
  }
  SplitMix64 random(seed);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kReplicates; ++i) {
    Multiplicities drawn(prompts, 0);
    for (std::size_t p = 0; p < prompts; ++p) {
      ++drawn[random.below(prompts)];
    }
    const double off = rate(drawn) - value;  // apart from the value, so that squares keep digits
    sum += off;
    squares += off * off;
  }
  const double mean = sum / kReplicates;
  const double deviation = std::sqrt(std::max(0.0, squares / kReplicates - mean * mean));
  const double factor = std::exp(student_t95(prompts - 1) * deviation / value);
  found.low = found.per_million / factor;
  found.high = std::min(found.per_million * factor, kMillion);
  return found;
}

}  // namespace

double student_t95(std::uint64_t degrees) {
  constexpr double kOne = 12.7062;
  constexpr double kTwo = 4.30265;
  if (degrees <= 2) {
    return degrees == 2 ? kTwo : kOne;
  }
  constexpr double kZ = 1.959964;
  const auto n = static_cast<double>(degrees);
  const double z3 = kZ * kZ * kZ;
  const double z5 = z3 * kZ * kZ;
  const double z7 = z5 * kZ * kZ;
  return kZ + (z3 + kZ) / (4 * n) + (5 * z5 + 16 * z3 + 3 * kZ) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * kZ) / (384 * n * n * n);
}

FlipRate estimate_flip_rate(const GapChanges& prompts, std::uint64_t seed) {
  FlipRate found;
  double changes = 0;
  for (const std::vector<GapChange>& prompt : prompts) {
    for (const GapChange& step : prompt) {
      ++found.steps;
      found.changed += step.change != 0 ? 1 : 0;
      found.flips_seen += step.flipped ? 1 : 0;
      changes += std::abs(step.change);
    }
  }
  if (found.steps == 0) {
    return found;
  }
  const SortedGaps sorted(prompts);
  const auto steps = static_cast<double>(found.steps);
  found.mean_abs_change = changes / steps;
  found.near = near_steps(found.steps);
  found.bandwidth = sorted.gap_at(found.near - 1);
  found.density =
      found.bandwidth > 0 ? static_cast<double>(found.near) / (steps * found.bandwidth) : 0;
  found.flips = with_interval(prompts.size(), seed,
                              [&](const Multiplicities& drawn) { return sorted.rate(drawn); });
  return found;
}

StudyRate mean_rate(const std::vector<std::vector<double>>& prompts, std::uint64_t seed) {
  std::vector<double> sums;
  for (const std::vector<double>& prompt : prompts) {
    double sum = 0;
    for (const double value : prompt) {
      sum += value;
    }
    sums.push_back(sum);
  }
  return with_interval(prompts.size(), seed, [&](const Multiplicities& drawn) {
    double sum = 0;
    double steps = 0;
    for (std::size_t p = 0; p < prompts.size(); ++p) {
      sum += drawn[p] * sums[p];
      steps += static_cast<double>(drawn[p] * prompts[p].size());
    }
    return steps > 0 ? sum / steps : 0;
  });
}

}  // namespace drift
