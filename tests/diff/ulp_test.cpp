#include "driftaudit/ulp.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace drift {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

TEST(UlpDistance, IsZeroBetweenSignedZeros) {
  EXPECT_EQ(ulp_distance(0.0F, -0.0F), 0U);
  EXPECT_EQ(ulp_distance(-0.0F, 0.0F), 0U);
}

TEST(UlpDistance, CountsTheFloatsBetween) {
  EXPECT_EQ(ulp_distance(1.0F, std::nextafter(1.0F, 2.0F)), 1U);
  EXPECT_EQ(ulp_distance(1.0F, std::nextafter(1.0F, 0.0F)), 1U);
  EXPECT_EQ(ulp_distance(1.0F, 2.0F), 1U << 23);
  EXPECT_EQ(ulp_distance(-1.0F, -2.0F), 1U << 23);
}

TEST(UlpDistance, CrossesZero) {
  EXPECT_EQ(ulp_distance(-kTiny, kTiny), 2U);
  EXPECT_EQ(ulp_distance(-0.0F, kTiny), 1U);
  EXPECT_EQ(ulp_distance(-1.0F, 1.0F), 2 * std::uint64_t{0x3f800000});
}

TEST(UlpDistance, PutsInfinityOneBeyondTheLargest) {
  EXPECT_EQ(ulp_distance(kInf, kLargest), 1U);
  EXPECT_EQ(ulp_distance(-kInf, -kLargest), 1U);
  EXPECT_EQ(ulp_distance(-kInf, kInf), 2 * std::uint64_t{0x7f800000});
}

TEST(UlpDistance, SetsNanApartFromEverything) {
  EXPECT_EQ(ulp_distance(kNan, 1.0F), kUlpNan);
  EXPECT_EQ(ulp_distance(1.0F, kNan), kUlpNan);
  EXPECT_EQ(ulp_distance(kNan, kNan), kUlpNan);
}

}  // namespace
}  // namespace drift
