#include "driftaudit/flip_rate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

#include "runner/split_mix.hpp"

namespace drift {
namespace {

constexpr double kMillion = 1e6;
constexpr double kTiny = 1e-4;

/// In (0, 1).
double uniform(SplitMix64& random) {
  return (static_cast<double>(random.next() >> 11) + 0.5) * 0x1.0p-53;
}

double exponential(SplitMix64& random, double mean) { return -mean * std::log(uniform(random)); }

/// By Box and Muller.
double normal(SplitMix64& random) {
  return std::sqrt(-2 * std::log(uniform(random))) *
         std::cos(2 * std::numbers::pi * uniform(random));
}

double below(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }  // normal distribution

/// How steps are made, and the chance of gap + change < 0.
struct Steps {
  std::function<double(SplitMix64&)> gap;
  std::function<double(double gap)> density;
  std::function<double(SplitMix64&, double gap)> change;
  std::function<double(double gap)> flips;  ///< the chance, at a gap
};

/// Exponential gaps of mean 1.
Steps level_gaps() {
  return {[](SplitMix64& random) { return exponential(random, 1); },
          [](double gap) { return std::exp(-gap); },
          {},
          {}};
}

/// Normal changes of a size that may depend on the gap.
Steps with_changes(Steps steps, const std::function<double(double gap)>& size) {
  steps.change = [size](SplitMix64& random, double gap) { return size(gap) * normal(random); };
  steps.flips = [size](double gap) { return below(-gap / size(gap)); };
  return steps;
}

Steps tame(double size = kTiny) {
  return with_changes(level_gaps(), [size](double) { return size; });
}

/// A share of the gaps is exponential of a smaller mean.
Steps denser_near_zero(double share, double mean) {
  Steps steps = level_gaps();
  steps.gap = [=](SplitMix64& random) {
    return exponential(random, uniform(random) < share ? mean : 1);
  };
  steps.density = [=](double gap) {
    return (1 - share) * std::exp(-gap) + share * std::exp(-gap / mean) / mean;
  };
  return with_changes(steps, [](double) { return kTiny; });
}

/// Changes of Student's t with two degrees of freedom: their variance is infinite.
Steps heavy_tails() {
  Steps steps = level_gaps();
  steps.change = [](SplitMix64& random, double) {
    return kTiny * normal(random) / std::sqrt(exponential(random, 1));
  };
  steps.flips = [](double gap) {
    const double x = gap / kTiny;
    return (1 - x / std::sqrt(2 + x * x)) / 2;
  };
  return steps;
}

/// This share of the changes closes the gap.
Steps lopsided(double closing) {
  Steps steps = level_gaps();
  steps.change = [=](SplitMix64& random, double) {
    const double size = kTiny * std::abs(normal(random));
    return uniform(random) < closing ? -size : size;
  };
  steps.flips = [=](double gap) { return 2 * closing * below(-gap / kTiny); };
  return steps;
}

double true_rate(const Steps& steps) {
  double rate = 0;
  constexpr double kFrom = -21;  // logarithms
  constexpr double kTo = 3;
  constexpr int kParts = 20000;
  constexpr double kWidth = (kTo - kFrom) / kParts;
  for (int i = 0; i < kParts; ++i) {
    const double gap = std::exp(kFrom + (i + 0.5) * kWidth);
    rate += kWidth * gap * steps.density(gap) * steps.flips(gap);
  }
  return rate;
}

struct Size {
  int prompts = 0;
  int steps = 0;
};
constexpr Size kQuick{20, 40};
constexpr Size kMiddle{40, 100};
constexpr Size kWhole{200, 100};

std::vector<GapChange> prompt_of(SplitMix64& random, const Steps& made, int steps) {
  std::vector<GapChange> prompt;
  for (int i = 0; i < steps; ++i) {
    const double gap = made.gap(random);
    const double change = made.change(random, gap);
    prompt.push_back({gap, change, gap + change < 0});
  }
  return prompt;
}

using Maker = std::function<GapChanges(SplitMix64&)>;

/// Every step on its own.
Maker independent(const Steps& made, Size size) {
  return [=](SplitMix64& random) {
    GapChanges prompts;
    for (int p = 0; p < size.prompts; ++p) {
      prompts.push_back(prompt_of(random, made, size.steps));
    }
    return prompts;
  };
}

/// Text in a loop: each gap and its change come up ten times, hardly changed.
Maker looping(Size size) {
  constexpr int kTurns = 10;
  return [=](SplitMix64& random) {
    GapChanges prompts = independent(tame(), {size.prompts, size.steps / kTurns})(random);
    for (std::vector<GapChange>& prompt : prompts) {
      const std::vector<GapChange> once = prompt;
      for (int turn = 1; turn < kTurns; ++turn) {
        for (const GapChange& step : once) {
          const double gap = step.gap * (1 + 0.01 * uniform(random));
          prompt.push_back({gap, step.change, gap + step.change < 0});
        }
      }
    }
    return prompts;
  };
}

/// Each prompt's changes have a size of their own, log-normal.
constexpr double kUnlike = 1;
Maker unlike_prompts(Size size) {
  return [=](SplitMix64& random) {
    GapChanges prompts;
    for (int p = 0; p < size.prompts; ++p) {
      prompts.push_back(
          prompt_of(random, tame(kTiny * std::exp(kUnlike * normal(random))), size.steps));
    }
    return prompts;
  };
}

/// Of trials, in hundredths.
struct Coverage {
  double given = 0;       ///< with an interval
  double held = 0;        ///< of these, those whose interval holds the true rate
  double missed = 0;      ///< of all, those with an interval that doesn't
  double mean_ratio = 0;  ///< of the estimate to the true rate, where an interval is given
  double mean_width = 0;  ///< high ÷ low, geometric
};

Coverage coverage(const Maker& make, double rate, int trials = 100) {
  const double truth = rate * kMillion;
  SplitMix64 random(7);
  int given = 0;
  int held = 0;
  Coverage found;
  for (int trial = 0; trial < trials; ++trial) {
    const StudyRate flips = estimate_flip_rate(make(random), random.next()).flips;
    if (!flips.low) {
      continue;
    }
    ++given;
    held += *flips.low <= truth && truth <= *flips.high ? 1 : 0;
    found.mean_ratio += flips.per_million / truth;
    found.mean_width += std::log(*flips.high / *flips.low);
  }
  const double intervals = std::max(given, 1);
  found.given = 100.0 * given / trials;
  found.held = 100.0 * held / intervals;
  found.missed = 100.0 * (given - held) / trials;
  found.mean_ratio /= intervals;
  found.mean_width = std::exp(found.mean_width / intervals);
  return found;
}

Coverage coverage(const Steps& steps, Size size) {
  return coverage(independent(steps, size), true_rate(steps));
}

TEST(FlipRate, CoversTheTrueRateOfARareFlipThatNoStepShows) {
  EXPECT_NEAR(true_rate(tame()), kTiny / std::sqrt(2 * std::numbers::pi), 1e-8);
  const Coverage found = coverage(tame(), kMiddle);
  EXPECT_GE(found.given, 90);
  EXPECT_GE(found.held, 95);
  EXPECT_NEAR(found.mean_ratio, 1, 0.1);
  EXPECT_LT(found.mean_width, 3);
}

TEST(FlipRate, CoversItWithTheFewPromptsOfAQuickStudy) {
  const Coverage found = coverage(tame(), kQuick);
  EXPECT_GE(found.given, 75);
  EXPECT_GE(found.held, 95);
  EXPECT_NEAR(found.mean_ratio, 1, 0.2);
  EXPECT_LT(found.mean_width, 8);
}

TEST(FlipRate, CoversItWhereChangesGrowWithTheGap) {
  // Changes paired with gaps at random would make it several times too high.
  const Coverage found = coverage(
      with_changes(level_gaps(), [](double gap) { return kTiny * (1 + 3 * gap); }), kMiddle);
  EXPECT_GE(found.given, 85);
  EXPECT_GE(found.held, 95);
  EXPECT_NEAR(found.mean_ratio, 1, 0.2);
}

TEST(FlipRate, CoversItWhereTextLoops) {
  const Coverage found = coverage(looping(kWhole), true_rate(tame()));
  EXPECT_GE(found.given, 85);
  EXPECT_GE(found.held, 95);
  EXPECT_NEAR(found.mean_ratio, 1, 0.15);
  EXPECT_LT(found.mean_width, 8);
}

TEST(FlipRate, CoversItWhereChangesAreAsLargeAsGaps) {
  const Coverage found = coverage(tame(0.5), kMiddle);
  EXPECT_GE(found.given, 90);
  EXPECT_GE(found.held, 95);
  EXPECT_NEAR(found.mean_ratio, 1, 0.05);
  EXPECT_LT(found.mean_width, 1.5);
}

TEST(FlipRate, CoversItWhereChangesHaveHeavyTails) {
  for (const Size size : {kQuick, kMiddle}) {
    const Coverage found = coverage(heavy_tails(), size);
    EXPECT_GE(found.given, 75) << size.prompts;
    EXPECT_GE(found.held, 94) << size.prompts;
  }
}

TEST(FlipRate, CoversItWherePromptsAreUnlike) {
  const double rate = true_rate(tame()) * std::exp(kUnlike * kUnlike / 2);
  for (const Size size : {kQuick, kMiddle}) {
    const Coverage found = coverage(unlike_prompts(size), rate);
    EXPECT_GE(found.given, 65) << size.prompts;
    EXPECT_GE(found.held, 93) << size.prompts;
  }
}

TEST(FlipRate, CoversItWhereSomeGapsAreDenserNearZero) {
  for (const double mean : {0.03, 0.01, 0.003, 0.001}) {
    const Coverage found = coverage(denser_near_zero(0.05, mean), kMiddle);
    EXPECT_GE(found.given, 80) << mean;
    EXPECT_GE(found.held, 93) << mean;
  }
}

TEST(FlipRate, HasNoIntervalOfTooFewStepsToTellWhereGapsAreDense) {
  EXPECT_LE(coverage(denser_near_zero(0.05, 0.003), kQuick).given, 5);
}

TEST(FlipRate, HasNoIntervalWhereChangesVanishTowardsZero) {
  const Coverage found =
      coverage(with_changes(level_gaps(), [](double gap) { return kTiny + 0.1 * gap; }), kMiddle);
  EXPECT_LE(found.given, 5);
}

TEST(FlipRate, CoversOrRefusesWhereChangesGrowWithinTheReach) {
  for (const double gap_of_double : {0.003, 0.01, 0.03}) {
    const auto size = [=](double gap) { return kTiny * (1 + gap / gap_of_double); };
    EXPECT_LE(coverage(with_changes(level_gaps(), size), kMiddle).missed, 7) << gap_of_double;
  }
}

TEST(FlipRate, CoversOrRefusesWhereOnlyTheSmallestGapsChangeMuch) {
  const auto size = [](double gap) { return gap < 0.001 ? 1e-3 : 1e-5; };
  const Steps steps = with_changes(level_gaps(), size);
  EXPECT_LE(coverage(independent(steps, kWhole), true_rate(steps), 40).missed, 5);
}

TEST(FlipRate, CoversOrRefusesWhereChangesCloseGapsMoreOften) {
  EXPECT_LE(coverage(lopsided(0.6), kMiddle).missed, 7);
  EXPECT_LE(coverage(lopsided(0.9), kMiddle).given, 2);
  SplitMix64 random(3);
  GapChanges closing = independent(tame(), kMiddle)(random);
  for (std::vector<GapChange>& prompt : closing) {
    for (GapChange& step : prompt) {
      step.change = -std::abs(step.change);
      step.flipped = step.gap + step.change < 0;
    }
  }
  const FlipRate rate = estimate_flip_rate(closing, 1);
  EXPECT_TRUE(rate.basis->interval == "symmetry" && !rate.flips.low && !rate.flips.high);
}

TEST(FlipRate, SaysHowItHangsOnTheChoice) {
  SplitMix64 random(3);
  const FlipRate rate = estimate_flip_rate(independent(tame(), kMiddle)(random), 1);
  ASSERT_TRUE(rate.basis);
  EXPECT_EQ(rate.basis->interval, "given");
  EXPECT_EQ(rate.basis->steps, 126U);  // 4000^(2/3) / 2
  EXPECT_NEAR(rate.flips.per_million,
              static_cast<double>(rate.basis->steps) / (2 * rate.basis->reach * 4000) * kMillion,
              1e-6);
  for (const double other : {*rate.basis->half, *rate.basis->quarter, rate.basis->closing}) {
    EXPECT_LE(rate.flips.low.value(), other);
    EXPECT_GE(rate.flips.high.value(), other);
  }
}

TEST(FlipRate, CountsFlipsOfLargeChangesWithoutAnyReach) {
  SplitMix64 random(5);
  const FlipRate rate = estimate_flip_rate(independent(tame(0.5), kMiddle)(random), 1);
  EXPECT_EQ(rate.basis->reach, 1);
  EXPECT_FALSE(rate.basis->half || rate.basis->quarter);
  EXPECT_DOUBLE_EQ(rate.basis->closing, static_cast<double>(rate.flips_seen) / 4000 * kMillion);
}

TEST(FlipRate, IsTheSameForTheSameSeed) {
  SplitMix64 random(3);
  const GapChanges made = unlike_prompts(kMiddle)(random);
  const StudyRate once = estimate_flip_rate(made, 5).flips;
  EXPECT_EQ(once.high.value(), estimate_flip_rate(made, 5).flips.high);
  EXPECT_EQ(once.per_million, estimate_flip_rate(made, 6).flips.per_million);
  EXPECT_NE(once.high, estimate_flip_rate(made, 6).flips.high);
}

TEST(FlipRate, CountsWhatItRestsOn) {
  GapChanges made(2);
  for (int i = 1; i <= 50; ++i) {
    made[0].push_back({i * 0.1, 0.02, false});
    made[1].push_back({i * 0.1 + 0.05, 0, false});
  }
  made[1].back().flipped = true;
  const FlipRate rate = estimate_flip_rate(made, 1);
  EXPECT_EQ(rate.steps, 100U);
  EXPECT_EQ(rate.changed, 50U);
  EXPECT_EQ(rate.flips_seen, 1U);
  EXPECT_DOUBLE_EQ(rate.mean_abs_change, 0.01);
  EXPECT_EQ(rate.near, 11U);  // 100^(2/3) / 2 = 10.8
  EXPECT_DOUBLE_EQ(rate.bandwidth, 0.6);
  EXPECT_DOUBLE_EQ(rate.density, 11 / (100 * 0.6));
  // Ratios are 5, 10, 15, …: eleven of them below 60. One flip was seen without a change.
  EXPECT_EQ(rate.basis->steps, 11U);
  EXPECT_DOUBLE_EQ(rate.basis->reach, 60);
  EXPECT_NEAR(rate.flips.per_million, (11 / 120.0 + 1) / 100 * kMillion, 1e-6);
  EXPECT_EQ(rate.basis->interval, "few steps");
  EXPECT_FALSE(rate.flips.low);
}

TEST(FlipRate, HasNoIntervalWhereNothingChanged) {
  const GapChanges still(3, std::vector<GapChange>(20, GapChange{0.5, 0, false}));
  const FlipRate rate = estimate_flip_rate(still, 1);
  EXPECT_EQ(rate.flips.per_million, 0);
  EXPECT_FALSE(rate.flips.low || rate.flips.high || rate.basis);
}

TEST(FlipRate, HasNoIntervalOfOnePromptAndNoFigureOfNone) {
  SplitMix64 random(3);
  const FlipRate one = estimate_flip_rate(independent(tame(), {1, 4000})(random), 1);
  EXPECT_GT(one.flips.per_million, 0);
  EXPECT_FALSE(one.flips.high);
  EXPECT_EQ(one.basis->interval, "few prompts");
  EXPECT_EQ(estimate_flip_rate({}, 1).flips.per_million, 0);
  EXPECT_EQ(estimate_flip_rate(GapChanges(4), 1).steps, 0U);
}

TEST(FlipRate, CountsHalfOfTheGapsOfZeroThatChange) {
  GapChanges tied(8, std::vector<GapChange>{});
  for (std::vector<GapChange>& prompt : tied) {
    for (int i = 0; i < 20; ++i) {
      prompt.push_back({0, i % 2 == 0 ? 0.1 : -0.1, i % 2 != 0});
    }
  }
  const FlipRate rate = estimate_flip_rate(tied, 1);
  EXPECT_DOUBLE_EQ(rate.flips.per_million, kMillion / 2);
  EXPECT_EQ(rate.basis->reach, 1);
}

}  // namespace
}  // namespace drift
