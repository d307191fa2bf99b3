#include "driftaudit/sum_tree.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

#include "reveal/families.hpp"
#include "reveal/rounded_sum.hpp"

namespace drift {
namespace {

using Floats = std::vector<float>;

SumTree tree_of(const std::string& text) { return tree_from_text(text); }

TEST(SumTree, IsEqualUnderCommutationOnly) {
  EXPECT_EQ(tree_of("(3+2)+(1+0)"), tree_of("(0+1)+(2+3)"));
  EXPECT_NE(tree_of("((0+1)+2)+3"), tree_of("(0+1)+(2+3)"));
  EXPECT_NE(tree_of("(0+1)+2"), tree_of("(0+2)+1"));
  EXPECT_NE(tree_of("(0+1)+2"), tree_of("0+1+2"));
}

TEST(SumTree, TakesAdditionsInAnyOrderAndNumbersThemAlike) {
  const SumTree from_root(4, {{{5, 6}}, {{0, 1}}, {{2, 3}}});
  const SumTree from_terms(4, {{{3, 2}}, {{1, 0}}, {{5, 4}}});
  EXPECT_EQ(from_root, from_terms);
  EXPECT_EQ(from_root.root(), 6U);
  EXPECT_EQ(from_root.children(6), (std::vector<SumTree::Node>{4, 5}));
}

TEST(SumTree, DropsZerosAndWhatTheyLeaveWithOneChild) {
  constexpr SumTree::Node kZero = SumTree::kZero;
  EXPECT_EQ(SumTree(2, {{{kZero, 0}}, {{2, 1}}, {{3, kZero}}}), tree_of("0+1"));
  EXPECT_EQ(SumTree(1, {{{kZero, 0}}}), tree_of("0"));
}

TEST(SumTree, RoundsAFusedProductThatIsAddedToZero) {
  const SumTree tree(2, {{{SumTree::kZero, 0}}, {{2, 1}}}, {true, true});
  EXPECT_FALSE(tree.fused(0));
  EXPECT_TRUE(tree.fused(1));
}

TEST(SumTree, RefusesWhatIsNoTree) {
  EXPECT_THROW(SumTree(0, {}), Error);
  EXPECT_THROW(SumTree(2, {}), Error);                                     // two sums
  EXPECT_THROW(SumTree(2, {{{0, 1}}, {{2, 1}}}), Error);                   // a term twice
  EXPECT_THROW(SumTree(2, {{{0, 7}}}), Error);                             // no such node
  EXPECT_THROW(SumTree(3, {{{0, 4}}, {{3, 1}}}), Error);                   // a ring with terms
  EXPECT_THROW(SumTree(1, {{{1, SumTree::kZero}}}), Error);                // a ring without
  EXPECT_THROW(SumTree(1, {{{SumTree::kZero}}, {{1, 0}}, {{3}}}), Error);  // a ring beside
}

TEST(SumTree, KnowsItsNodes) {
  const SumTree tree = tree_of("((1+2)+3)+0");
  EXPECT_EQ(least_terms(tree), (std::vector<SumTree::Node>{0, 1, 2, 3, 1, 1, 0}));
  EXPECT_EQ(term_counts(tree), (std::vector<std::size_t>{1, 1, 1, 1, 2, 3, 4}));
  EXPECT_EQ(parents(tree), (std::vector<SumTree::Node>{6, 4, 4, 5, 5, 6, SumTree::kZero}));
  EXPECT_EQ(depth(tree), 3U);
  EXPECT_EQ(tree.widest(), 2U);
  EXPECT_EQ(depth(tree_of("0")), 0U);
}

TEST(TreeText, ReadsBackAsTheSameTree) {
  for (const char* text : {"0", "0+1", "((0+2)+(1+3))+4", "0+1+2", "(0+1+2)+3", "0+*1",
                           "((0+*2)+*3)+(1+*4)", "*0+*1+*2"}) {
    EXPECT_EQ(tree_text(tree_of(text)), text);
  }
  const SumTree deep = serial_tree(20000);
  EXPECT_EQ(tree_of(tree_text(deep)), deep);
}

TEST(TreeText, RefusesWhatItNeverWrites) {
  for (const char* text : {"", "+", "0+", "(0+1", "0+1)", "((0+1))", "(0)", "0+0", "0+2", "0 +1",
                           "0+x", "0++1", "0+1(2+3)", "()", "0+99999999999999999999", "*", "-1"}) {
    EXPECT_THROW(tree_of(text), Error) << text;
  }
}

TEST(EvaluateSum, RoundsAtEachAddition) {
  const Floats x = {1, 0x1p-24F, 0x1p-24F, 0x1p-24F};
  EXPECT_EQ(evaluate_sum(tree_of("((0+1)+2)+3"), x), 1.0F);
  EXPECT_EQ(evaluate_sum(tree_of("0+((1+2)+3)"), x), 1.0F + 0x1p-22F);  // 1.5 units, to even
  EXPECT_EQ(evaluate_sum(tree_of("(0+3)+(1+2)"), x), 1.0F + 0x1p-23F);
  EXPECT_EQ(evaluate_sum(tree_of("0"), Floats{3}), 3.0F);
}

TEST(EvaluateSum, RoundsAMultiTermAdditionOnce) {
  const Floats x = {1, 0x1p-24F, 0x1p-60F};
  EXPECT_EQ(evaluate_sum(tree_of("(0+1)+2"), x), 1.0F);
  EXPECT_EQ(evaluate_sum(tree_of("0+1+2"), x), 1.0F + 0x1p-23F);
  EXPECT_EQ(evaluate_sum(tree_of("0+1+2"), Floats{0x1p100F, 1, -0x1p100F}), 1.0F);
}

TEST(EvaluateSum, TakesAsManyValuesAsTerms) {
  EXPECT_THROW(evaluate_sum(tree_of("0+1"), Floats{1}), Error);
  EXPECT_THROW(evaluate_dot(tree_of("0+1"), Floats{1, 2}, Floats{1, 2, 3}), Error);
}

TEST(EvaluateDot, KeepsAFusedProductUnrounded) {
  const float f = 1.0F + 0x1p-12F;  // its square is 1 + 2^-11 + 2^-24
  const Floats a = {-(1.0F + 0x1p-11F), f};
  const Floats b = {1, f};
  EXPECT_EQ(evaluate_dot(tree_of("0+1"), a, b), 0.0F);
  EXPECT_EQ(evaluate_dot(tree_of("0+*1"), a, b), 0x1p-24F);
  EXPECT_EQ(evaluate_dot(tree_of("*0+1"), a, b), 0.0F);
  EXPECT_EQ(evaluate_dot(tree_of("*0+*1"), a, b), 0x1p-24F);
}

TEST(RoundedSum, RoundsTheExactSumOnce) {
  using Doubles = std::vector<double>;
  // Half a unit of float32, and beyond double's reach something that breaks the tie.
  EXPECT_EQ(rounded_sum(Doubles{1, 0x1p-24}), 1.0F);
  EXPECT_EQ(rounded_sum(Doubles{1, 0x1p-24, 0x1p-200}), 1.0F + 0x1p-23F);
  EXPECT_EQ(rounded_sum(Doubles{1, 0x1p-24, -0x1p-200}), 1.0F);
  EXPECT_EQ(rounded_sum(Doubles{1, 3 * 0x1p-24, -0x1p-200}), 1.0F + 0x1p-23F);
  EXPECT_EQ(rounded_sum(Doubles{0x1p-200, 0x1p200, 1, -0x1p200, -1}), static_cast<float>(0x1p-200));
  EXPECT_EQ(rounded_sum(Doubles{5, -5}), 0.0F);
  EXPECT_TRUE(std::isinf(rounded_sum(Doubles{1, INFINITY})));
  EXPECT_TRUE(std::isnan(rounded_sum(Doubles{-INFINITY, INFINITY})));
}

}  // namespace
}  // namespace drift
