#include "driftaudit/element_difference.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

ElementDifference difference(const std::vector<float>& a, const std::vector<float>& b) {
  return compare_elements(a, b);
}

TEST(ElementDifference, OfEqualTensorsIsNone) {
  const ElementDifference none = difference({1, -0.0F, kNan}, {1, -0.0F, kNan});
  EXPECT_TRUE(none.same);
  EXPECT_EQ(none.elements, 3U);
  EXPECT_EQ(none.changed, 0U);
  EXPECT_EQ(none.max_abs, 0);
  EXPECT_EQ(none.max_ulp, 0U);
  EXPECT_EQ(none.non_finite, 2U);
}

TEST(ElementDifference, HasTheLargestAndTheMean) {
  const ElementDifference some = difference({1, 2, 4, 8}, {1, 2.5F, 4, 7});
  EXPECT_FALSE(some.same);
  EXPECT_EQ(some.changed, 2U);
  EXPECT_EQ(some.max_abs, 1);
  EXPECT_EQ(some.mean_abs, 1.5 / 4);
  EXPECT_EQ(some.max_ulp, 1U << 21U);
  EXPECT_EQ(some.mean_ulp, ((1 << 21) + (1 << 21)) / 4.);
}

TEST(ElementDifference, IsOfBitsEvenWhereNoNumberMoves) {
  const ElementDifference zeros = difference({0}, {-0.0F});
  EXPECT_FALSE(zeros.same);
  EXPECT_EQ(zeros.changed, 1U);
  EXPECT_EQ(zeros.max_ulp, 0U);
}

TEST(ElementDifference, LeavesOutWhatIsNotFinite) {
  const ElementDifference some = difference({1, kInf, kNan}, {2, 3, 4});
  EXPECT_EQ(some.non_finite, 2U);
  EXPECT_EQ(some.max_abs, 1);
  EXPECT_EQ(some.mean_abs, 1);
}

TEST(ElementDifference, OfNothingIsNone) { EXPECT_TRUE(difference({}, {}).same); }

TEST(ElementDifference, RefusesOtherSizes) { EXPECT_THROW(difference({1}, {1, 2}), Error); }

}  // namespace
}  // namespace drift
