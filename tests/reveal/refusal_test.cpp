#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/reveal.hpp"
#include "driftaudit/tree_proof.hpp"

#include "reveal/families.hpp"
#include "reveal/known_kernels.hpp"

namespace drift {
namespace {

using testing::HasSubstr;
using Row = std::span<const float>;

void expect_refused(const Revealed& revealed, const std::string& why) {
  EXPECT_FALSE(revealed.tree) << tree_text(*revealed.tree);
  EXPECT_THAT(revealed.why_not, HasSubstr(why));
}

/// Adds in another order every other row, in a strange sequence.
RowKernel unsteady_sum() {
  return [asked = std::size_t{0}](std::size_t rows, std::size_t length, Row values) mutable {
    std::vector<float> out;
    for (std::size_t row = 0; row < rows; ++row) {
      const char* order = (asked * asked + asked / 3) % 4 < 2 ? "serial" : "reverse";
      ++asked;
      out.push_back(known_sum(order).sum(values.subspan(row * length, length)));
    }
    return out;
  };
}

float sum_in_double(Row terms) {
  double sum = 0;
  for (const float term : terms) {
    sum += term;
  }
  return static_cast<float>(sum);
}

TEST(Refusal, OfAMaximum) {
  for (const std::size_t length : {2, 3, 16, 100}) {
    expect_refused(reveal_signed(each_row(largest), length), "a sum gives a whole number");
    expect_refused(reveal_nonnegative(sums_exceed_one(each_row(largest)), length),
                   "not a sum of all its terms");
  }
}

TEST(Refusal, OfRunningMoments) {
  const RowKernel moments = each_row(running_mean);
  for (const std::size_t length : {5, 48, 768}) {
    expect_refused(reveal_signed(sums_of_means(moments), length), "a sum gives a whole number");
  }
  const MeanKind kind = mean_kind(moments, 768);
  EXPECT_TRUE(kind.running_mean);
  EXPECT_FALSE(kind.scaled_sum);
  EXPECT_THAT(kind.evidence, HasSubstr("running moments"));
}

TEST(Refusal, OfAMeanOfSomethingElse) {
  const RowKernel weighted = each_row(
      [](Row x) { return 0.75F * known_sum("serial").sum(x) / static_cast<float>(x.size()); });
  expect_refused(reveal_signed(sums_of_means(weighted), 12), "a sum gives a whole number");
}

TEST(Refusal, OfAKernelThatDoesNotRepeatItself) {
  for (const std::size_t length : {4, 8, 33}) {
    expect_refused(reveal_signed(unsteady_sum(), length), "contradict one another");
    const Revealed revealed = reveal_nonnegative(sums_exceed_one(unsteady_sum()), length);
    expect_refused(revealed, "the terms");
  }
}

TEST(Refusal, OfSumsThatKeepMoreThanFloat32) {
  expect_refused(reveal_nonnegative(sums_exceed_one(each_row(sum_in_double)), 3),
                 "more than float32");
  expect_refused(reveal_nonnegative(softmax_exceeds_one(softmax_over(sum_in_double)), 9),
                 "more than float32");
  // The masks absorb in double too: a tree fits, and the proof fails.
  const Revealed serial = reveal_signed(each_row(sum_in_double), 40);
  ASSERT_TRUE(serial.tree);
  EXPECT_EQ(*serial.tree, serial_tree(40));
  const Proof proof = prove_sum(each_row(sum_in_double), *serial.tree, sum_finishes());
  EXPECT_FALSE(proof.proved());
  EXPECT_EQ(revealed_order("sum", 40, serial, proof).status, "consistent");
}

TEST(Refusal, OfAnAdderThatRoundsOnce) {
  expect_refused(reveal_signed(each_row(exact_adder), 5), "rounds once");
  expect_refused(reveal_nonnegative(sums_exceed_one(each_row(exact_adder)), 5), "rounds once");
}

TEST(Refusal, OfASoftmaxWhoseReciprocalIsOff) {
  const RowKernel softmax = [](std::size_t rows, std::size_t length, Row values) {
    std::vector<float> out = softmax_over(known_sum("serial").sum)(rows, length, values);
    for (float& value : out) {
      value *= 1 - 0x1p-24F;
    }
    return out;
  };
  expect_refused(reveal_nonnegative(softmax_exceeds_one(softmax), 7), "exceed 1");
}

TEST(Refusal, SaysWhatItAskedInTheReport) {
  const Revealed refused = reveal_signed(each_row(largest), 3);
  const RevealedOrder order = revealed_order("amax", 3, refused, {});
  EXPECT_EQ(order.status, "not explained");
  EXPECT_EQ(order.tree, "");
  EXPECT_EQ(order.why_not, refused.why_not);
  EXPECT_EQ(order.probes, 2U);
}

TEST(Refusal, OfLengthsThatFloat32CannotCount) {
  const RowKernel sum = each_row(known_sum("serial").sum);
  EXPECT_THROW(reveal_signed(sum, 0), Error);
  EXPECT_THROW(reveal_signed(sum, kLongestRevealed + 1), Error);
  EXPECT_THROW(reveal_nonnegative(sums_exceed_one(sum), 0), Error);
}

TEST(Refusal, OfAKernelWithAnotherNumberOfOutputs) {
  const RowKernel short_kernel = [](std::size_t rows, std::size_t, Row) {
    return std::vector<float>(rows - 1);
  };
  EXPECT_THROW(reveal_signed(short_kernel, 4), Error);
  EXPECT_THROW(reveal_nonnegative(sums_exceed_one(short_kernel), 4), Error);
  EXPECT_THROW(reveal_nonnegative(softmax_exceeds_one(short_kernel), 4), Error);
  EXPECT_THROW(prove_sum(short_kernel, serial_tree(4), sum_finishes()), Error);
}

TEST(MeanKind, TellsAScaledSumAndNoMeanAtAll) {
  const RowKernel mean = each_row(
      [](Row x) { return known_sum("8 lanes, tree fold").sum(x) / static_cast<float>(x.size()); });
  EXPECT_TRUE(mean_kind(mean, 768).scaled_sum);
  EXPECT_FALSE(mean_kind(mean, 768).running_mean);
  const MeanKind none = mean_kind(each_row(largest), 768);
  EXPECT_FALSE(none.scaled_sum || none.running_mean);
  EXPECT_THAT(none.evidence, HasSubstr("no mean"));
  EXPECT_THROW(mean_kind(mean, 2), Error);
}

}  // namespace
}  // namespace drift
