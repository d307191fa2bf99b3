#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "driftaudit/step_difference.hpp"

#include "diff/made_logits.hpp"

namespace drift {
namespace {

constexpr std::size_t kVocabulary = 500;

struct Pair {
  std::vector<float> a, b;
};

/// Two sides that differ a little everywhere.
Pair made_pair_of_logits() {
  Made made(7);
  Pair pair{made.logits(kVocabulary, -20, 5), {}};
  pair.b = pair.a;
  for (float& logit : pair.b) {
    logit += made.between(-1e-4F, 1e-4F);
  }
  return pair;
}

Step kept(const std::vector<float>& logits, std::size_t keep_top) {
  return reduce_step(0, logits, keep_top);
}

TEST(KeptDifference, OfTheSameBytesIsExact) {
  const Pair pair = made_pair_of_logits();
  const StepDifference d = compare_kept(kept(pair.a, 8), kept(pair.a, 16), kVocabulary);
  EXPECT_TRUE(d.same);
  EXPECT_FALSE(d.on_kept);
  EXPECT_EQ(d.max_abs, 0);
  EXPECT_EQ(d.kl, 0);
  EXPECT_EQ(d.gap_change, 0);
}

TEST(KeptDifference, IsALowerBoundOfAllLogits) {
  const Pair pair = made_pair_of_logits();
  const StepDifference all = compare_logits(pair.a, pair.b);
  const StepDifference d = compare_kept(kept(pair.a, 16), kept(pair.b, 16), kVocabulary);
  EXPECT_FALSE(d.same);
  EXPECT_TRUE(d.on_kept);
  EXPECT_GT(d.max_abs, 0);
  EXPECT_LE(d.max_abs, all.max_abs);
  EXPECT_LE(d.max_ulp, all.max_ulp);
  EXPECT_FALSE(d.kl.has_value());
}

TEST(KeptDifference, KnowsTheGapsAndTheirChangeExactly) {
  const Pair pair = made_pair_of_logits();
  const StepDifference all = compare_logits(pair.a, pair.b);
  const StepDifference d = compare_kept(kept(pair.a, 8), kept(pair.b, 8), kVocabulary);
  EXPECT_EQ(d.gap_a, all.gap_a);
  EXPECT_EQ(d.gap_b, all.gap_b);
  EXPECT_EQ(d.gap_change, all.gap_change);
}

TEST(KeptDifference, OfAllLogitsIsThatOfTheLogits) {
  const Pair pair = made_pair_of_logits();
  const StepDifference all = compare_logits(pair.a, pair.b);
  const StepDifference d =
      compare_kept(kept(pair.a, kVocabulary), kept(pair.b, kVocabulary), kVocabulary);
  EXPECT_FALSE(d.on_kept);
  EXPECT_EQ(d.max_abs, all.max_abs);
  EXPECT_EQ(d.max_ulp, all.max_ulp);
  EXPECT_EQ(d.kl, all.kl);
}

TEST(KeptDifference, HasNoGapChangeWhereBDidNotKeepAsTopIds) {
  std::vector<float> a(kVocabulary, -5);
  std::vector<float> b(kVocabulary, -5);
  a[1] = 3;
  a[2] = 2;
  b[3] = 3;
  b[4] = 2;
  const StepDifference d = compare_kept(kept(a, 2), kept(b, 2), kVocabulary);
  EXPECT_FALSE(d.gap_change.has_value());
  EXPECT_EQ(d.max_abs, 0) << "no id was kept by both";
  EXPECT_FALSE(d.same);
}

TEST(KeptDifference, CountsNumbersThatAreNotFinite) {
  Pair pair = made_pair_of_logits();
  pair.b[3] = std::numeric_limits<float>::quiet_NaN();
  const StepDifference d = compare_kept(kept(pair.a, 8), kept(pair.b, 8), kVocabulary);
  EXPECT_EQ(d.non_finite, 1U);
  EXPECT_TRUE(d.flip_possible);
}

}  // namespace
}  // namespace drift
