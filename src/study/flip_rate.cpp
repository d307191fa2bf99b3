#include "driftaudit/flip_rate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>

#include <boost/math/special_functions/gamma.hpp>

#include "study/rate_interval.hpp"

namespace drift {
namespace {

constexpr double kMillion = 1e6;
constexpr std::uint64_t kLeastNear = 10;
constexpr std::size_t kLeastTested = 30;   ///< steps that tell whether their ratios are level
constexpr std::size_t kLeastDirect = 10;   ///< steps within their own change
constexpr std::size_t kLeastCompared = 4;  ///< steps of the smallest reach that is looked at
constexpr double kLeastOfPart = 2;         ///< prompts that bear what is only taken in
constexpr double kLevelRefused = 0.1;      ///< each test of the density; low, since a pass is used
constexpr double kConcentrated = 0.2;      ///< all scales together
constexpr double kSymmetryRefused = 0.02;

std::uint64_t near_steps(std::uint64_t steps) {
  const auto wanted =
      static_cast<std::uint64_t>(std::llround(std::pow(static_cast<double>(steps), 2.0 / 3) / 2));
  return std::min(std::max(wanted, kLeastNear), steps);
}

/// A step whose gap changed.
struct Ratio {
  double value = 0;  ///< gap ÷ |change|
  std::size_t prompt = 0;
  bool closing = false;
};

enum class Changes { kAll, kClosing };

/// The changed steps by the ratio of gap and change.
class Ratios {
 public:
  explicit Ratios(const GapChanges& prompts) : overtaken_(prompts.size(), 0) {
    for (std::size_t p = 0; p < prompts.size(); ++p) {
      steps_.push_back(static_cast<double>(prompts[p].size()));
      for (const GapChange& step : prompts[p]) {
        const double value = step.change != 0 ? step.gap / std::abs(step.change)
                                              : std::numeric_limits<double>::infinity();
        overtaken_[p] += step.flipped && value >= 1 ? 1 : 0;
        if (std::isfinite(value)) {
          ratios_.push_back({value, p, step.change < 0});
        }
      }
    }
    std::stable_sort(ratios_.begin(), ratios_.end(),
                     [](const Ratio& a, const Ratio& b) { return a.value < b.value; });
  }

  std::size_t prompts() const { return steps_.size(); }
  std::size_t changed() const { return ratios_.size(); }

  /// How many are below.
  std::size_t count(double reach) const {
    const auto end =
        std::lower_bound(ratios_.begin(), ratios_.end(), reach,
                         [](const Ratio& ratio, double value) { return ratio.value < value; });
    return static_cast<std::size_t>(end - ratios_.begin());
  }

  /// Above `wanted` of the ratios, or of all there are; at least 1.
  double reach_over(std::size_t wanted) const {
    if (ratios_.empty() || wanted == 0) {
      return 1;
    }
    const double last = ratios_[std::min(wanted, ratios_.size()) - 1].value;
    const auto next =
        std::upper_bound(ratios_.begin(), ratios_.end(), last,
                         [](double value, const Ratio& ratio) { return value < ratio.value; });
    return std::max(1.0, next != ratios_.end()
                             ? next->value
                             : std::nextafter(last, std::numeric_limits<double>::infinity()));
  }

  /// Expected flips, prompt by prompt.
  PromptSums expected(double reach, Changes which) const {
    PromptSums sums{overtaken_, steps_};
    const double each = (which == Changes::kAll ? 0.5 : 1.0) / reach;
    visit(reach, [&](const Ratio& ratio) {
      sums.events[ratio.prompt] += which == Changes::kAll || ratio.closing ? each : 0;
    });
    return sums;
  }

  template <class Visit>
  void visit(double reach, const Visit& visit) const {
    const std::size_t end = count(reach);
    for (std::size_t i = 0; i < end; ++i) {
      visit(ratios_[i]);
    }
  }

  /// The probability of a sum of `score` over the steps within reach as far from 0, if its mean is
  /// 0 and prompts are independent.
  template <class Score>
  double probability(double reach, const Score& score) const {
    std::vector<double> sums(prompts(), 0);
    std::vector<double> counts(prompts(), 0);
    visit(reach, [&](const Ratio& ratio) {
      sums[ratio.prompt] += score(ratio);
      counts[ratio.prompt] += 1;
    });
    double sum = 0;
    double squares = 0;
    for (const double value : sums) {
      sum += value;
      squares += value * value;
    }
    return squares > 0
               ? student_t_probability(sum / std::sqrt(squares), bearing_prompts(counts) - 1)
               : 1;
  }

 private:
  std::vector<Ratio> ratios_;
  std::vector<double> steps_;      ///< of the prompts
  std::vector<double> overtaken_;  ///< flips that the two highest tokens' change doesn't explain
};

/// Whether far too many prompts have a ratio near 0, at any of the scales reach / 2, / 4, … 1.
/// Prompts, since one that repeats a small ratio says it once; their number is at most that of the
/// steps, which is Poisson's if ratios are level.
bool concentrated(const Ratios& ratios, double reach) {
  const double scales = std::ceil(std::log2(reach));
  const auto within = static_cast<double>(ratios.count(reach));
  for (double scale = reach / 2; scale >= 0.5; scale /= 2) {
    const double at = std::max(scale, 1.0);
    std::vector<bool> seen(ratios.prompts(), false);
    ratios.visit(at, [&](const Ratio& ratio) { seen[ratio.prompt] = true; });
    const auto prompts = std::count(seen.begin(), seen.end(), true);
    if (prompts > 0 && boost::math::gamma_p(static_cast<double>(prompts), within * at / reach) <
                           kConcentrated / scales) {
      return true;
    }
  }
  return false;
}

/// Whether the ratios within reach look level from 1 on, so that those below 1 can be told from
/// them.
bool level(const Ratios& ratios, double reach) {
  const auto slope = [&](const Ratio& ratio) { return ratio.value / reach - 0.5; };
  const auto crowding = [&](const Ratio& ratio) {
    return -std::log(std::max(ratio.value, 1.0) / reach) - (1 - 1 / reach);
  };
  return ratios.probability(reach, slope) >= kLevelRefused &&
         ratios.probability(reach, crowding) >= kLevelRefused && !concentrated(ratios, reach);
}

/// Whether as many changes open a gap as close one.
bool symmetric(const Ratios& ratios, double reach) {
  return ratios.probability(reach, [](const Ratio& ratio) { return ratio.closing ? 1.0 : -1.0; }) >=
         kSymmetryRefused;
}

/// The largest reach whose ratios are level; null: none is.
std::optional<double> level_reach(const Ratios& ratios, std::size_t near) {
  for (std::size_t wanted = near; wanted >= kLeastTested; wanted /= 2) {
    const double reach = ratios.reach_over(wanted);
    if (reach == 1 || (ratios.count(reach) >= kLeastTested && level(ratios, reach))) {
      return reach;
    }
  }
  return ratios.count(1) >= kLeastDirect ? std::optional(1.0) : std::nullopt;
}

/// Takes in another estimate of the same rate; without an interval of its own there is none.
void take_in(const StudyRate& other, StudyRate& rate) {
  if (!rate.low || !other.low) {
    rate.low = std::nullopt;
    rate.high = std::nullopt;
    return;
  }
  rate.low = std::min(*rate.low, *other.low);
  rate.high = std::max(*rate.high, *other.high);
}

void estimate_within(const Ratios& ratios, double reach, std::uint64_t seed, FlipRate& found) {
  FlipBasis& basis = found.basis.emplace();
  basis.reach = reach;
  basis.steps = ratios.count(reach);
  found.flips = rate_over_prompts(ratios.expected(reach, Changes::kAll), seed);
  const StudyRate closing =
      rate_over_prompts(ratios.expected(reach, Changes::kClosing), seed, kLeastOfPart);
  basis.closing = closing.per_million;
  StudyRate rate = found.flips;
  take_in(closing, rate);
  if (reach > 1) {
    const auto smaller = [&](std::size_t part) {
      const double other = ratios.reach_over(std::max(basis.steps / part, kLeastCompared));
      return rate_over_prompts(ratios.expected(other, Changes::kAll), seed, kLeastOfPart);
    };
    const StudyRate half = smaller(2);
    const StudyRate quarter = smaller(4);
    basis.half = half.per_million;
    basis.quarter = quarter.per_million;
    take_in(half, rate);
    take_in(quarter, rate);
  }
  found.flips = rate;
}

void without_interval(const char* reason, FlipRate& found) {
  found.flips.low = std::nullopt;
  found.flips.high = std::nullopt;
  found.basis->interval = reason;
}

void estimate(const Ratios& ratios, std::size_t near, std::uint64_t seed, FlipRate& found) {
  const std::optional<double> reach = level_reach(ratios, near);
  const double looked_at = reach.value_or(ratios.reach_over(std::min(near, kLeastTested)));
  estimate_within(ratios, looked_at, seed, found);
  if (!reach) {
    without_interval(std::min(near, ratios.changed()) < kLeastTested ? "few steps" : "density",
                     found);
  } else if (!symmetric(ratios, looked_at)) {
    without_interval("symmetry", found);
  } else if (!found.flips.low) {
    without_interval("few prompts", found);
  }
}

/// The density of gaps near 0, by the nearest neighbours.
void add_density(const GapChanges& prompts, FlipRate& found) {
  std::vector<double> gaps;
  for (const std::vector<GapChange>& prompt : prompts) {
    for (const GapChange& step : prompt) {
      gaps.push_back(step.gap);
    }
  }
  found.near = near_steps(found.steps);
  const auto at = gaps.begin() + static_cast<std::ptrdiff_t>(found.near - 1);
  std::nth_element(gaps.begin(), at, gaps.end());
  found.bandwidth = *at;
  found.density = *at > 0 ? static_cast<double>(found.near) /
                                (static_cast<double>(found.steps) * found.bandwidth)
                          : 0;
}

}  // namespace

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
  found.mean_abs_change = changes / static_cast<double>(found.steps);
  add_density(prompts, found);
  if (found.changed > 0) {
    estimate(Ratios(prompts), found.near, seed, found);
  } else {
    found.flips.per_million =
        static_cast<double>(found.flips_seen) / static_cast<double>(found.steps) * kMillion;
  }
  return found;
}

StudyRate mean_rate(const std::vector<std::vector<double>>& prompts, std::uint64_t seed) {
  PromptSums sums;
  for (const std::vector<double>& prompt : prompts) {
    double sum = 0;
    for (const double value : prompt) {
      sum += value;
    }
    sums.events.push_back(sum);
    sums.steps.push_back(static_cast<double>(prompt.size()));
  }
  return rate_over_prompts(sums, seed);
}

}  // namespace drift
