#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/tree_proof.hpp"

#include "reveal/families.hpp"
#include "reveal/known_kernels.hpp"

namespace drift {
namespace {

using testing::HasSubstr;
using Row = std::span<const float>;

Exponential exponential(const std::string& name, float (*exp)(float)) {
  return {name, [exp](std::size_t, std::size_t, Row values) {
            std::vector<float> out;
            for (const float value : values) {
              out.push_back(exp(value));
            }
            return out;
          }};
}

float rough_exp(float x) { return exp_of(x) * (1 + 0x1p-22F); }

const std::vector<Exponential>& exponentials() {
  static const std::vector<Exponential> kBoth = {exponential("rough", rough_exp),
                                                 exponential("libm", exp_of)};
  return kBoth;
}

class ProvesEachKnownSum : public testing::TestWithParam<KnownSum> {};

TEST_P(ProvesEachKnownSum, ByAThousandRowsOfASum) {
  for (const std::size_t length : {1, 2, 16, 77, 700}) {
    const Revealed revealed = reveal_signed(each_row(GetParam().sum), length);
    const Proof proof = prove_sum(each_row(GetParam().sum), *revealed.tree, sum_finishes());
    EXPECT_TRUE(proof.proved()) << length;
    EXPECT_EQ(proof.proved_rows, 1000U);
    EXPECT_EQ(proof.finish, "as it is");
  }
}

TEST_P(ProvesEachKnownSum, ByAThousandRowsOfSoftmaxWithItsExponentialAndFinish) {
  for (const bool reciprocal : {true, false}) {
    const RowKernel softmax = softmax_over(GetParam().sum, reciprocal);
    const Revealed revealed = reveal_nonnegative(softmax_exceeds_one(softmax), 29);
    const Proof proof = prove_softmax(softmax, *revealed.tree, exponentials(), softmax_finishes());
    EXPECT_TRUE(proof.proved());
    EXPECT_EQ(proof.exponential, "libm");
    EXPECT_EQ(proof.finish, reciprocal ? "times the sum's reciprocal" : "divided by the sum");
  }
}

INSTANTIATE_TEST_SUITE_P(Reveal, ProvesEachKnownSum, testing::ValuesIn(known_sums()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
                           return name;
                         });

/// Trees of all known sums against all others: only the same tree is proved.
TEST(Proof, FailsForEveryOtherTree) {
  for (const KnownSum& kernel : known_sums()) {
    for (const KnownSum& other : known_sums()) {
      const SumTree tree = other.tree(48);
      const bool same = tree == kernel.tree(48);
      const Proof proof = prove_sum(each_row(kernel.sum), tree, sum_finishes());
      EXPECT_EQ(proof.proved(), same) << kernel.name << " by " << other.name;
    }
  }
}

TEST(Proof, FailsByOneRowOfAThousand) {
  const RowKernel sum = [](std::size_t rows, std::size_t length, Row values) {
    std::vector<float> out = each_row(known_sum("serial").sum)(rows, length, values);
    out[out.size() / 2] = std::nextafter(out[out.size() / 2], 100.0F);
    return out;
  };
  const Proof proof = prove_sum(sum, serial_tree(10), sum_finishes());
  EXPECT_EQ(proof.proved_rows, 999U);
  EXPECT_FALSE(proof.proved());
}

TEST(Proof, FailsForTheOtherFoldOfSoftmax) {
  const RowKernel softmax = softmax_over(known_sum("8 lanes, tree fold").sum);
  const SumTree serial = known_sum("8 lanes, serial fold").tree(16);
  const Proof proof = prove_softmax(softmax, serial, exponentials(), softmax_finishes());
  EXPECT_FALSE(proof.proved());
  EXPECT_GT(proof.proved_rows, 0U);  // many sums round alike: near is no proof
}

TEST(Proof, LeavesATreeConsistentWhereNoExponentialFits) {
  const RowKernel softmax = softmax_over(known_sum("8 lanes, tree fold").sum);
  const Revealed revealed = reveal_nonnegative(softmax_exceeds_one(softmax), 16);
  const Proof proof = prove_softmax(softmax, *revealed.tree, std::span(exponentials()).first(1),
                                    softmax_finishes());
  const RevealedOrder order = revealed_order("softmax", 16, revealed, proof);
  EXPECT_EQ(order.status, "consistent");
  EXPECT_EQ(order.fold, "8 lanes, vertical; then fold 4 apart, 2 apart, neighbours");
  EXPECT_LT(order.proof.proved_rows, order.proof.rows);
}

TEST(Proof, IsReportedWithTreeAndWords) {
  const RowKernel sum = each_row(known_sum("serial").sum);
  const Revealed revealed = reveal_signed(sum, 3);
  const RevealedOrder order =
      revealed_order("sum", 3, revealed, prove_sum(sum, *revealed.tree, sum_finishes()));
  EXPECT_EQ(order.operation, "sum");
  EXPECT_EQ(order.length, 3U);
  EXPECT_EQ(order.status, "proved");
  EXPECT_EQ(order.tree, "(0+1)+2");
  EXPECT_EQ(order.fold, "serial");
  EXPECT_EQ(order.why_not, "");
  EXPECT_EQ(order.proof.proved_rows, 1000U);
}

TEST(Proof, FindsHowAMeanIsScaled) {
  const RowSum sum = known_sum("serial").sum;
  const RowKernel divided = each_row([&](Row x) { return sum(x) / static_cast<float>(x.size()); });
  const RowKernel scaled =
      each_row([&](Row x) { return sum(x) * (1.0F / static_cast<float>(x.size())); });
  EXPECT_EQ(prove_sum(divided, serial_tree(11), mean_finishes()).finish, "divided by the length");
  EXPECT_TRUE(prove_sum(divided, serial_tree(11), mean_finishes()).proved());
  EXPECT_EQ(prove_sum(scaled, serial_tree(11), mean_finishes()).finish,
            "times the length's reciprocal");
  EXPECT_TRUE(prove_sum(scaled, serial_tree(11), mean_finishes()).proved());
}

TEST(Proof, NeedsRowsAndCandidates) {
  const RowKernel sum = each_row(known_sum("serial").sum);
  EXPECT_THROW(prove_sum(sum, serial_tree(3), {}), Error);
  ProofOptions none;
  none.rows = 0;
  EXPECT_THROW(prove_sum(sum, serial_tree(3), sum_finishes(), none), Error);
  EXPECT_FALSE(Proof{}.proved());
}

TEST(Proof, TriesTheSameRowsHoweverTheyAreBatched) {
  const RowKernel sum = each_row(known_sum("8 lanes, tree fold").sum);
  const SumTree wrong = known_sum("8 lanes, serial fold").tree(20);
  ProofOptions options;
  const std::size_t proved = prove_sum(sum, wrong, sum_finishes(), options).proved_rows;
  EXPECT_GT(proved, 0U);
  EXPECT_LT(proved, 1000U);
  options.batching.rows = 7;
  EXPECT_EQ(prove_sum(sum, wrong, sum_finishes(), options).proved_rows, proved);
  options.batching = {1, 0};
  EXPECT_EQ(prove_sum(sum, wrong, sum_finishes(), options).proved_rows, proved);
}

TEST(DotProof, HoldsWithFusedMultiplyAddAndWithout) {
  for (const std::size_t length : {1, 2, 5, 8, 16, 70}) {
    for (const bool fused : {false, true}) {
      SCOPED_TRACE(testing::Message() << length << (fused ? " fused" : ""));
      const DotKernel dot = each_dot([=](Row a, Row b) { return lanes_dot(a, b, fused); });
      const Revealed revealed = reveal_dot(dot, length);
      ASSERT_TRUE(revealed.tree) << revealed.why_not;
      EXPECT_TRUE(prove_dot(dot, *revealed.tree).proved());
      const SumTree order = known_sum("8 lanes, serial fold").tree(length);
      EXPECT_EQ(revealed.tree->additions(), order.additions());
      for (SumTree::Node term = 0; term < length; ++term) {
        EXPECT_EQ(revealed.tree->fused(term), fused && term >= 8) << term;
      }
      if (length > 8) {
        std::vector<bool> other(length, false);
        std::fill(other.begin() + 8, other.end(), !fused);
        EXPECT_FALSE(prove_dot(dot, SumTree(length, order.additions(), other)).proved());
      }
    }
  }
}

TEST(DotProof, TriesTheSameRowsHoweverTheyAreBatched) {
  const DotKernel dot = each_dot([](Row a, Row b) { return lanes_dot(a, b, true); });
  const SumTree unfused = known_sum("8 lanes, serial fold").tree(20);
  ProofOptions options;
  const std::size_t proved = prove_dot(dot, unfused, options).proved_rows;
  EXPECT_GT(proved, 0U);
  EXPECT_LT(proved, 1000U);
  options.batching.rows = 7;
  EXPECT_EQ(prove_dot(dot, unfused, options).proved_rows, proved);
}

TEST(DotProof, FailsWhereProductsAreRoundedOtherwise) {
  // Products rounded to odd digits: neither fused nor plain.
  const DotKernel dot = each_dot([](Row a, Row b) {
    float sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      sum += std::nextafter(a[i] * b[i], 2.0F * std::abs(a[i] * b[i]) + 1.0F);
    }
    return sum;
  });
  const Revealed revealed = reveal_dot(dot, 6);
  EXPECT_FALSE(revealed.tree && prove_dot(dot, *revealed.tree).proved());
}

TEST(MultiTermAdder, IsRevealedByMasksAndRefusedByTriples) {
  for (const std::size_t length : {5, 9, 16, 40}) {
    const Revealed revealed = reveal_signed(each_row(dropping_adder), length);
    ASSERT_TRUE(revealed.tree) << revealed.why_not;
    EXPECT_EQ(*revealed.tree, wide_serial_tree(length, 4));
    const Revealed refused = reveal_nonnegative(sums_exceed_one(each_row(dropping_adder)), length);
    EXPECT_FALSE(refused.tree);
    EXPECT_THAT(refused.why_not, HasSubstr("not a sum of all its terms"));
    // It drops bits where the tree's additions are exact: no proof.
    EXPECT_FALSE(prove_sum(each_row(dropping_adder), *revealed.tree, sum_finishes()).proved());
  }
}

}  // namespace
}  // namespace drift
