#include "study/rate_interval.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "driftaudit/flip_rate.hpp"

#include "runner/split_mix.hpp"

namespace drift {
namespace {

/// Exponential, of this mean.
double drawn(SplitMix64& random, double mean) {
  return -mean * std::log((static_cast<double>(random.next() >> 11) + 0.5) * 0x1.0p-53);
}

TEST(MeanRate, CoversTheMeanOfStepsThatResembleOneAnother) {
  constexpr int kTrials = 200;
  SplitMix64 random(11);
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> prompts(40);
    for (std::vector<double>& prompt : prompts) {
      prompt.assign(30, drawn(random, 2e-5));
    }
    const StudyRate rate = mean_rate(prompts, random.next());
    ASSERT_TRUE(rate.low);
    covered += *rate.low <= 20 && 20 <= *rate.high ? 1 : 0;
    EXPECT_LT(*rate.high / *rate.low, 4);
  }
  EXPECT_GE(covered, 0.93 * kTrials);
}

TEST(MeanRate, WeighsStepsNotPrompts) {
  EXPECT_DOUBLE_EQ(mean_rate({{1e-6, 1e-6, 1e-6}, {5e-6}}, 1).per_million, 2);
}

TEST(RateOverPrompts, HasNoIntervalWhereFewPromptsBearIt) {
  PromptSums sums{std::vector<double>(40, 0.001), std::vector<double>(40, 100)};
  EXPECT_TRUE(rate_over_prompts(sums, 1).low);
  for (int p = 0; p < 5; ++p) {
    sums.events[static_cast<std::size_t>(p)] = 10;
  }
  const StudyRate rate = rate_over_prompts(sums, 1);
  EXPECT_NEAR(rate.per_million, 50.035 / 4000 * 1e6, 1e-6);
  EXPECT_FALSE(rate.low || rate.high);
}

TEST(RateOverPrompts, OfNothingIsZero) {
  EXPECT_EQ(rate_over_prompts({}, 1).per_million, 0);
  EXPECT_FALSE(rate_over_prompts({{0, 0}, {5, 5}}, 1).low);
}

TEST(BearingPrompts, AreAllWhereAllAddAsMuch) {
  EXPECT_DOUBLE_EQ(bearing_prompts({2, 2, 2, 2}), 4);
  EXPECT_DOUBLE_EQ(bearing_prompts({2, 0, 0, 0}), 1);
  EXPECT_EQ(bearing_prompts({}), 0);
}

TEST(StudentT, HasItsTabulatedProbabilities) {
  EXPECT_NEAR(student_t_probability(12.706, 1), 0.05, 1e-5);
  EXPECT_NEAR(student_t_probability(-2.228, 10), 0.05, 1e-4);
  EXPECT_NEAR(student_t_probability(3.182, 3), 0.05, 1e-4);
}

}  // namespace
}  // namespace drift
