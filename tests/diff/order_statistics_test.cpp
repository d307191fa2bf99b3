#include "driftaudit/order_statistics.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median({}), std::nullopt);
  EXPECT_EQ(median({std::nan(""), 1, std::numeric_limits<double>::infinity(), 2, 3}), 2);
}

TEST(Percentile, IsByNearestRank) {
  EXPECT_EQ(percentile({1, 2, 3, 4}, 50), 2);
  EXPECT_EQ(percentile({1, 2, 3, 4}, 51), 3);
  EXPECT_EQ(percentile({1, 2, 3, 4}, 0), 1);
  EXPECT_EQ(percentile({1, 2, 3, 4}, 100), 4);
  EXPECT_EQ(percentile(std::vector<double>(100, 7), 99), 7);
}

}  // namespace
}  // namespace drift
