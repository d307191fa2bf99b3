#include "driftaudit/flip_rate.hpp"

#include <cmath>
#include <functional>
#include <numbers>

#include <gtest/gtest.h>

#include "runner/split_mix.hpp"

namespace drift {
namespace {

constexpr double kMillion = 1e6;

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

/// How large a change is where the gap is so large.
using Scale = std::function<double(double gap)>;

/// The chance of gap + change < 0, for exponential gaps of mean 1 and normal changes.
double true_rate(const Scale& scale) {
  double rate = 0;
  constexpr int kSteps = 400000;
  const double most = 10 * scale(0);
  const double width = most / kSteps;
  for (int i = 0; i < kSteps; ++i) {
    const double gap = (i + 0.5) * width;
    rate += width * std::exp(-gap) * below(-gap / scale(gap));
  }
  return rate;
}

GapChange made_step(SplitMix64& random, double gap, const Scale& scale) {
  const double change = scale(gap) * normal(random);
  return {gap, change, gap + change < 0};
}

/// Every step on its own.
GapChanges independent(SplitMix64& random, const Scale& scale, int prompts, int steps) {
  GapChanges made(static_cast<std::size_t>(prompts));
  for (std::vector<GapChange>& prompt : made) {
    for (int i = 0; i < steps; ++i) {
      prompt.push_back(made_step(random, exponential(random, 1), scale));
    }
  }
  return made;
}

/// Text in a loop: each gap and its change come up ten times, hardly changed.
GapChanges looping(SplitMix64& random, const Scale& scale, int prompts, int steps) {
  constexpr int kTurns = 10;
  GapChanges made = independent(random, scale, prompts, steps / kTurns);
  for (std::vector<GapChange>& prompt : made) {
    const std::vector<GapChange> once = prompt;
    for (int turn = 1; turn < kTurns; ++turn) {
      for (const GapChange& step : once) {
        const double gap = step.gap * (1 + 0.01 * uniform(random));
        prompt.push_back({gap, step.change, gap + step.change < 0});
      }
    }
  }
  return made;
}

using Maker = std::function<GapChanges(SplitMix64&, const Scale&, int, int)>;

struct Coverage {
  double share = 0;        ///< trials whose interval holds the true rate
  double mean_ratio = 0;   ///< of the estimate to the true rate
  double worst_width = 0;  ///< high ÷ low, the largest
};

Coverage coverage(const Maker& make, const Scale& scale, int prompts, int steps) {
  constexpr int kTrials = 100;
  const double truth = true_rate(scale) * kMillion;
  SplitMix64 random(7);
  Coverage found;
  for (int trial = 0; trial < kTrials; ++trial) {
    const StudyRate rate =
        estimate_flip_rate(make(random, scale, prompts, steps), random.next()).flips;
    found.share += rate.low.value() <= truth && truth <= rate.high.value() ? 1.0 / kTrials : 0;
    found.mean_ratio += rate.per_million / truth / kTrials;
    found.worst_width = std::max(found.worst_width, *rate.high / *rate.low);
  }
  return found;
}

TEST(FlipRate, CoversTheTrueRateOfARareFlipThatNoStepShows) {
  const Scale tiny = [](double) { return 1e-4; };
  EXPECT_NEAR(true_rate(tiny), 1e-4 / std::sqrt(2 * std::numbers::pi), 1e-8);
  const Coverage found = coverage(independent, tiny, 40, 100);
  EXPECT_GE(found.share, 0.88);
  EXPECT_NEAR(found.mean_ratio, 1, 0.1);
  EXPECT_LT(found.worst_width, 2.5);
}

TEST(FlipRate, CoversItWhereChangesGrowWithTheGap) {
  // Changes paired with gaps at random would make it several times too high.
  const Scale grows = [](double gap) { return 1e-4 * (1 + 3 * gap); };
  const Coverage found = coverage(independent, grows, 40, 100);
  EXPECT_GE(found.share, 0.85);
  EXPECT_NEAR(found.mean_ratio, 1, 0.15);
}

TEST(FlipRate, CoversItWhereTextLoops) {
  const Scale tiny = [](double) { return 1e-4; };
  const Coverage found = coverage(looping, tiny, 200, 100);
  EXPECT_GE(found.share, 0.88);
  EXPECT_NEAR(found.mean_ratio, 1, 0.1);
  EXPECT_LT(found.worst_width, 5);
}

TEST(FlipRate, CoversItWhereChangesAreAsLargeAsGaps) {
  const Scale large = [](double) { return 0.5; };
  const Coverage found = coverage(independent, large, 40, 100);
  EXPECT_GE(found.share, 0.88);
  EXPECT_NEAR(found.mean_ratio, 1, 0.05);
}

TEST(FlipRate, CoversItWithTheFewPromptsOfAQuickStudy) {
  const Scale tiny = [](double) { return 1e-4; };
  const Coverage found = coverage(independent, tiny, 20, 40);
  EXPECT_GE(found.share, 0.85);
  EXPECT_NEAR(found.mean_ratio, 1, 0.15);
  EXPECT_LT(found.worst_width, 10);
}

TEST(FlipRate, IsTheSameForTheSameSeed) {
  SplitMix64 random(3);
  const GapChanges made = independent(
      random, [](double) { return 1e-3; }, 10, 50);
  const StudyRate once = estimate_flip_rate(made, 5).flips;
  EXPECT_EQ(once.high, estimate_flip_rate(made, 5).flips.high);
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
  // Six of the nearest changed by 0.02 each: 0.02 / (2 × 0.6) of a flip; one was seen farther up.
  EXPECT_NEAR(rate.flips.per_million, (6 * 0.02 / 1.2 + 1) / 100 * kMillion, 1e-6);
}

TEST(FlipRate, HasNoIntervalWhereNothingChanged) {
  const GapChanges still(3, std::vector<GapChange>(20, GapChange{0.5, 0, false}));
  const FlipRate rate = estimate_flip_rate(still, 1);
  EXPECT_EQ(rate.flips.per_million, 0);
  EXPECT_FALSE(rate.flips.low || rate.flips.high);
}

TEST(FlipRate, HasNoIntervalOfOnePromptAndNoFigureOfNone) {
  const GapChanges one(1, std::vector<GapChange>(20, GapChange{0.5, 0.1, false}));
  EXPECT_GT(estimate_flip_rate(one, 1).flips.per_million, 0);
  EXPECT_FALSE(estimate_flip_rate(one, 1).flips.high);
  EXPECT_EQ(estimate_flip_rate({}, 1).flips.per_million, 0);
  EXPECT_EQ(estimate_flip_rate(GapChanges(4), 1).steps, 0U);
}

TEST(FlipRate, CountsFlipsAmongGapsOfZero) {
  GapChanges tied(2, std::vector<GapChange>(20, GapChange{0, 0.1, true}));
  EXPECT_DOUBLE_EQ(estimate_flip_rate(tied, 1).flips.per_million, kMillion);
}

TEST(MeanRate, CoversTheMeanOfStepsThatResembleOneAnother) {
  constexpr int kTrials = 100;
  SplitMix64 random(11);
  double covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> prompts(40);
    for (std::vector<double>& prompt : prompts) {
      prompt.assign(30, exponential(random, 2e-5));
    }
    const StudyRate rate = mean_rate(prompts, random.next());
    covered += *rate.low <= 20 && 20 <= *rate.high ? 1.0 / kTrials : 0;
    EXPECT_LT(*rate.high / *rate.low, 4);
  }
  EXPECT_GE(covered, 0.85);
}

TEST(MeanRate, WeighsStepsNotPrompts) {
  EXPECT_DOUBLE_EQ(mean_rate({{1e-6, 1e-6, 1e-6}, {5e-6}}, 1).per_million, 2);
}

TEST(StudentT, IsNearItsTabulatedValues) {
  EXPECT_NEAR(student_t95(1), 12.706, 0.001);
  EXPECT_NEAR(student_t95(2), 4.303, 0.001);
  EXPECT_NEAR(student_t95(3), 3.182, 0.03);
  EXPECT_NEAR(student_t95(10), 2.228, 0.002);
  EXPECT_NEAR(student_t95(199), 1.972, 0.001);
}

}  // namespace
}  // namespace drift
