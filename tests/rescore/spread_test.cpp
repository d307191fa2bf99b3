#include "rescore/spread.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace drift {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Spread, TakesThe99thPercentileByNearestRank) {
  std::vector<double> deltas;
  for (int i = 1; i <= 200; ++i) {
    deltas.push_back(i);
  }
  const RescoreSpread spread = spread_of("all", deltas, 150);
  EXPECT_EQ(spread.tokens, 200U);
  EXPECT_EQ(spread.median, 100.5);
  EXPECT_EQ(spread.p99, 198);
  EXPECT_EQ(spread.max, 200);
  EXPECT_EQ(spread.outliers, 50U);
}

TEST(Spread, CountsWhatIsNotFiniteAmongTheOutliersAlone) {
  const RescoreSpread spread =
      spread_of("late", {1, kInfinity, 3, std::numeric_limits<double>::quiet_NaN()}, 10);
  EXPECT_EQ(spread.tokens, 4U);
  EXPECT_EQ(spread.outliers, 2U);
  EXPECT_EQ(spread.median, 2);
  EXPECT_EQ(spread.max, 3);
}

TEST(Outlier, LiesAboveTheLimitOrIsNotFinite) {
  EXPECT_FALSE(is_outlier(1e-3, 1e-3));
  EXPECT_TRUE(is_outlier(1.0001e-3, 1e-3));
  EXPECT_TRUE(is_outlier(std::numeric_limits<double>::quiet_NaN(), 1e-3));
  EXPECT_TRUE(is_outlier(kInfinity, kInfinity));
}

TEST(Part, IsEarlyAndLateForTenStepsEach) {
  EXPECT_STREQ(part_of(1, 60), "early");
  EXPECT_STREQ(part_of(10, 60), "early");
  EXPECT_STREQ(part_of(11, 60), "middle");
  EXPECT_STREQ(part_of(50, 60), "middle");
  EXPECT_STREQ(part_of(51, 60), "late");
}

TEST(Part, HalvesAShortAnswer) {
  EXPECT_STREQ(part_of(2, 5), "early");
  EXPECT_STREQ(part_of(3, 5), "middle");
  EXPECT_STREQ(part_of(4, 5), "late");
  EXPECT_STREQ(part_of(1, 1), "middle");
}

TEST(RegularDistance, IsThereWhereNumbersAreEquallyFarApartToTheEnd) {
  EXPECT_EQ(regular_distance({3, 6, 9}, 10), 3U);
  EXPECT_EQ(regular_distance({3, 6, 9}, 11), 3U);
  EXPECT_EQ(regular_distance({2, 4, 6, 8}, 8), 2U);
}

TEST(RegularDistance, IsNotClaimedFromFewOrWhereItBreaks) {
  EXPECT_FALSE(regular_distance({4, 8}, 8));
  EXPECT_FALSE(regular_distance({3, 6, 10}, 10));
  EXPECT_FALSE(regular_distance({3, 6, 9}, 12)) << "12 should fail too";
  EXPECT_FALSE(regular_distance({1, 2, 3}, 3)) << "all of them is no period";
  EXPECT_FALSE(regular_distance({}, 3));
}

}  // namespace
}  // namespace drift
