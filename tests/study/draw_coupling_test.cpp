#include "driftaudit/draw_coupling.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

#include "runner/split_mix.hpp"

namespace drift {
namespace {

const Chances kP = {{1, 0.5}, {2, 0.3}, {5, 0.2}};
const Chances kQ = {{1, 0.4}, {2, 0.35}, {5, 0.25}};

/// How often one set of exponential numbers picks other tokens: what the formula says of many.
double simulated_race(const Chances& p, const Chances& q) {
  constexpr int kDraws = 200000;
  SplitMix64 random(9);
  int other = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    double best_p = -1;
    double best_q = -1;
    std::int32_t token_p = -1;
    std::int32_t token_q = -1;
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double u = (static_cast<double>(random.next() >> 11) + 0.5) * 0x1.0p-53;
      const double e = -std::log(u);
      if (p[i].chance / e > best_p) {
        best_p = p[i].chance / e;
        token_p = p[i].id;
      }
      if (q[i].chance / e > best_q) {
        best_q = q[i].chance / e;
        token_q = q[i].id;
      }
    }
    other += token_p != token_q ? 1 : 0;
  }
  return static_cast<double>(other) / kDraws;
}

TEST(TotalVariation, IsHalfTheSumOfDifferences) {
  EXPECT_NEAR(total_variation(kP, kQ), 0.1, 1e-15);
  EXPECT_EQ(total_variation(kP, kP), 0);
  EXPECT_NEAR(total_variation({{1, 1.0}}, {{2, 1.0}}), 1, 1e-15);
}

TEST(OtherTokenByRace, IsWhatDrawingShows) {
  EXPECT_NEAR(other_token_by_race(kP, kQ), simulated_race(kP, kQ), 0.004);
}

TEST(OtherTokenByRace, LiesBetweenTotalVariationAndItsKnownBound) {
  const double t = total_variation(kP, kQ);
  EXPECT_GT(other_token_by_race(kP, kQ), t);
  EXPECT_LE(other_token_by_race(kP, kQ), 2 * t / (1 + t) + 1e-12);
  EXPECT_NEAR(other_token_by_race(kP, kP), 0, 1e-12);
  EXPECT_NEAR(other_token_by_race({{1, 1.0}}, {{2, 1.0}}), 1, 1e-15);
}

TEST(OtherTokenByInverse, IsTheMeasureOfIntervalsThatPart) {
  // Ends at 0.5 and 0.8 against 0.4 and 0.75: apart on 0.1 and on 0.05.
  EXPECT_NEAR(other_token_by_inverse(kP, kQ), 0.15, 1e-15);
  EXPECT_NEAR(other_token_by_inverse(kP, kP), 0, 1e-15);
  EXPECT_NEAR(other_token_by_inverse({{1, 0.5}, {3, 0.5}}, {{1, 0.5}, {2, 0.5}}), 0.5, 1e-15);
}

Step sampled_step() {
  Step step;
  step.top = {{9, 2}, {4, 1}, {7, 1}, {1, 0}};
  return step;
}

TEST(ChancesOf, AreASoftmaxOfTheHighestOverTheTemperature) {
  const Chances chances = chances_of(sampled_step(), 1, 1);
  ASSERT_EQ(chances.size(), 1U);
  EXPECT_EQ(chances[0].chance, 1);
  const Chances all = chances_of(sampled_step(), 4, 0.5);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].id, 1);
  EXPECT_EQ(all[3].id, 9);
  EXPECT_NEAR(all[3].chance, 1 / (1 + 2 * std::exp(-2) + std::exp(-4)), 1e-15);
  EXPECT_NEAR(all[0].chance / all[3].chance, std::exp(-4), 1e-15);
}

TEST(ChancesOf, KeepTiesWithTheLast) { EXPECT_EQ(chances_of(sampled_step(), 2, 1).size(), 3U); }

TEST(ChancesOf, NeedAllThatIsDrawnFrom) {
  EXPECT_THROW(chances_of(sampled_step(), 5, 1), Error);
  EXPECT_THROW(chances_of(sampled_step(), 0, 1), Error);
  Step odd = sampled_step();
  odd.top[1].logit = std::nanf("");
  EXPECT_THROW(chances_of(odd, 2, 1), Error);
}

}  // namespace
}  // namespace drift
