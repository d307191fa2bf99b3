#include "driftaudit/step_difference.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/ulp.hpp"

#include "diff/made_logits.hpp"

namespace drift {
namespace {

using Floats = std::vector<float>;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(CompareLogits, CallsEqualBytesTheSame) {
  const StepDifference d = compare_logits(Floats{1, 3, 2.5F}, Floats{1, 3, 2.5F});
  EXPECT_TRUE(d.same);
  EXPECT_EQ(d.max_abs, 0);
  EXPECT_EQ(d.max_ulp, 0U);
  EXPECT_EQ(d.kl, 0.0);
  EXPECT_EQ(d.gap_change, 0.0);
  EXPECT_EQ(d.gap_a, 0.5);
  EXPECT_EQ(d.gap_b, 0.5);
  EXPECT_FALSE(d.flip_possible);
}

TEST(CompareLogits, NeverCallsOtherBytesTheSame) {
  const StepDifference d = compare_logits(Floats{0.0F, 3, 1}, Floats{-0.0F, 3, 1});
  EXPECT_FALSE(d.same);
  EXPECT_EQ(d.max_abs, 0);
  EXPECT_EQ(d.max_ulp, 0U);
  EXPECT_EQ(d.kl, 0.0);
}

TEST(CompareLogits, TakesTheLargestChangeAndTheMostUlps) {
  const float next = std::nextafter(0.001F, 1.0F);
  const StepDifference d = compare_logits(Floats{4, 0.001F, -2, 1}, Floats{4, next, -2.5F, 1.25F});
  EXPECT_EQ(d.max_abs, 0.5);
  EXPECT_EQ(d.max_ulp, std::uint64_t{1} << 21);  // 1 to 1.25 and 2 to 2.5: a quarter of 2^23
}

TEST(CompareLogits, MeasuresTheGapChangeAtAsTopTwo) {
  // A's top two are ids 1 and 3; b[1] − b[3] = 4.25 − 3.5. B's own top two are ids 0 and 1.
  const StepDifference d = compare_logits(Floats{1, 4, 2, 3.5F}, Floats{5, 4.25F, 2, 3.5F});
  EXPECT_EQ(d.gap_a, 0.5);
  EXPECT_EQ(d.gap_b, 0.75);
  EXPECT_EQ(d.gap_change, 0.25);
  EXPECT_TRUE(d.flip_possible);  // 0.5 ≤ 2 × 4
}

TEST(CompareLogits, RulesAFlipOutOnlyAboveTwiceTheLargestChange) {
  EXPECT_TRUE(compare_logits(Floats{1, 0, -4}, Floats{1, 0, -4.5F}).flip_possible);  // 1 = 2 × 0.5
  EXPECT_FALSE(compare_logits(Floats{1, 0, -4}, Floats{1, 0, -4.25F}).flip_possible);
}

TEST(CompareLogits, ComputesKlByHand) {
  // A: 1/4, 3/4; B: 1/2, 1/2. KL = ¼ ln(½) + ¾ ln(3/2).
  const double kl = 0.25 * std::log(0.5) + 0.75 * std::log(1.5);
  const auto log3 = static_cast<float>(std::log(3.0));
  EXPECT_NEAR(*compare_logits(Floats{0, log3}, Floats{7, 7}).kl, kl, 1e-7);
}

TEST(CompareLogits, KlIsZeroUnderAShiftOfAllLogits) {
  EXPECT_NEAR(*compare_logits(Floats{0, 1, 2}, Floats{8, 9, 10}).kl, 0, 1e-15);
  EXPECT_NEAR(*compare_logits(Floats{0, 1, 2}, Floats{0.0078125F, 1.0078125F, 2.0078125F}).kl, 0,
              1e-17);
}

TEST(CompareLogits, CountsNanAndInfinitiesAndKeepsThemOutOfTheLargestChange) {
  const StepDifference d = compare_logits(Floats{1, kNan, 3, kInf}, Floats{1, 2, 3.5F, -kInf});
  EXPECT_EQ(d.non_finite, 3U);
  EXPECT_EQ(d.max_abs, 0.5);
  EXPECT_EQ(d.max_ulp, ulp_distance(kInf, -kInf));
  EXPECT_FALSE(d.kl.has_value());
  EXPECT_FALSE(d.gap_change.has_value());
  EXPECT_TRUE(d.flip_possible);
}

TEST(CompareLogits, CountsNanThatBothSidesShare) {
  const StepDifference d = compare_logits(Floats{1, kNan, 3}, Floats{1, kNan, 3});
  EXPECT_TRUE(d.same);
  EXPECT_EQ(d.non_finite, 2U);
  EXPECT_FALSE(d.kl.has_value());
  EXPECT_EQ(d.gap_change, 0.0);
}

TEST(CompareLogits, TakesMinusInfinityAsNoWeight) {
  const double kl = 0.5 * std::log(0.5 / 0.75) + 0.5 * std::log(0.5 / 0.25);
  const auto log3 = static_cast<float>(std::log(3.0));
  EXPECT_NEAR(*compare_logits(Floats{0, 0, -kInf}, Floats{log3, 0, -kInf}).kl, kl, 1e-7);
  // A rules the third token out, B gives it half: KL(A‖B) = ln 2.
  EXPECT_NEAR(*compare_logits(Floats{0, 0, -kInf}, Floats{0, 0, std::log(2.0F)}).kl, std::log(2.0),
              1e-7);
}

TEST(CompareLogits, KlIsInfiniteWhereBRulesOutWhatAAllows) {
  EXPECT_EQ(compare_logits(Floats{0, 0, 1}, Floats{0, 0, -kInf}).kl, kInf);
}

TEST(CompareLogits, HasNoKlOfASideWithoutAnyToken) {
  EXPECT_FALSE(compare_logits(Floats{-kInf, -kInf}, Floats{0, 0}).kl.has_value());
  EXPECT_FALSE(compare_logits(Floats{0, 0}, Floats{0, kInf}).kl.has_value());
}

TEST(CompareLogits, RefusesSidesOfOtherLength) {
  EXPECT_THROW(compare_logits(Floats{0, 0}, Floats{0, 0, 0}), Error);
  EXPECT_THROW(compare_logits(Floats{0}, Floats{1}), Error);
}

long double plain_kl(const Floats& a, const Floats& b) {
  long double sum_a = 0;
  long double sum_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum_a += std::exp(static_cast<long double>(a[i]));
    sum_b += std::exp(static_cast<long double>(b[i]));
  }
  long double kl = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const long double log_p = a[i] - std::log(sum_a);
    kl += std::exp(log_p) * (log_p - (b[i] - std::log(sum_b)));
  }
  return kl;
}

/// `change`: the largest change of a logit; both ways to KL have their rounds.
void compare_with_the_plain_way(float change) {
  Made made(static_cast<std::uint64_t>(change * 1e6F));
  for (int round = 0; round < 20; ++round) {
    const Floats a = made.logits(2 + made.next() % 2000, -110, -90);
    Floats b = a;
    double max_abs = 0;
    std::uint64_t max_ulp = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] += made.between(-change, change);
      max_abs = std::max(max_abs, std::abs(double{b[i]} - double{a[i]}));
      max_ulp = std::max(max_ulp, ulp_distance(a[i], b[i]));
    }
    const StepDifference d = compare_logits(a, b);
    EXPECT_EQ(d.max_abs, max_abs);
    EXPECT_EQ(d.max_ulp, max_ulp);
    EXPECT_EQ(d.flip_possible, !d.same && d.gap_a <= 2 * max_abs);
    const auto kl = static_cast<double>(plain_kl(a, b));
    EXPECT_NEAR(*d.kl, kl, 1e-8 * kl + 2e-14) << "change " << change << ", round " << round;
  }
}

TEST(CompareLogits, AgreesWithThePlainWayOnMadeLogits) {
  for (const float change : {1e-4F, 0.01F, 0.0156F, 0.3F, 5.0F}) {
    compare_with_the_plain_way(change);
  }
}

TEST(CompareLogits, KeepsTheDigitsOfATinyKl) {
  // Two tokens of probability ½, one grown by d: KL = ln(½ + ½ e^d) − d/2 = d²/8 − d⁴/192 + …
  const float d = 1.0F / 8192;
  const double expected = double{d} * d / 8;
  EXPECT_NEAR(*compare_logits(Floats{0, 0}, Floats{d, 0}).kl, expected, 1e-7 * expected);
}

TEST(CompareLogits, CountsUlpsInStepsOfTheType) {
  const Floats a{1, 3, -2.5F};
  const Floats b{1.0078125F, 3, -2.515625F};
  EXPECT_EQ(compare_logits(a, b).max_ulp, 65536U);
  EXPECT_EQ(compare_logits(a, b, FloatType::kBFloat16).max_ulp, 1U);
  EXPECT_EQ(compare_logits(a, b, FloatType::kFloat16).max_ulp, 8U);
  EXPECT_EQ(compare_logits(a, b, FloatType::kBFloat16).max_abs, compare_logits(a, b).max_abs);
}

}  // namespace
}  // namespace drift
