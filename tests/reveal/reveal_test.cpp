#include "driftaudit/reveal.hpp"

#include <bit>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

#include "reveal/families.hpp"
#include "reveal/known_kernels.hpp"

namespace drift {
namespace {

using testing::HasSubstr;

class EachKnownSum : public testing::TestWithParam<KnownSum> {};

void expect_tree(const Revealed& revealed, const SumTree& tree) {
  ASSERT_TRUE(revealed.tree) << revealed.why_not;
  // No diff of thousands of nodes.
  EXPECT_TRUE(*revealed.tree == tree) << tree_text(*revealed.tree).substr(0, 400) << "\nnot\n"
                                      << tree_text(tree).substr(0, 400);
}

/// Both ways at one length; the bounds are of the algorithms, for these trees.
void expect_revealed(const KnownSum& known, std::size_t length) {
  SCOPED_TRACE(length);
  const SumTree tree = known.tree(length);
  const RowKernel kernel = each_row(known.sum);
  const Revealed by_masks = reveal_signed(kernel, length);
  expect_tree(by_masks, tree);
  const Revealed by_triples = reveal_nonnegative(sums_exceed_one(kernel), length);
  expect_tree(by_triples, tree);
  const auto bits = static_cast<std::size_t>(std::bit_width(length));
  EXPECT_LE(by_masks.probes, length * (bits + 1));
  EXPECT_LE(by_triples.probes, length * (4 * bits + 5));
}

TEST_P(EachKnownSum, IsRevealedAtEveryLengthTo70) {
  for (std::size_t length = 1; length <= 70; ++length) {
    expect_revealed(GetParam(), length);
  }
}

TEST_P(EachKnownSum, IsRevealedWhenLong) {
  for (const std::size_t length : {255, 256, 511, 1000}) {
    expect_revealed(GetParam(), length);
  }
}

TEST_P(EachKnownSum, IsRevealedThroughSoftmax) {
  for (const std::size_t length : {2, 3, 8, 16, 37}) {
    for (const bool reciprocal : {true, false}) {
      const RowKernel softmax = softmax_over(GetParam().sum, reciprocal);
      expect_tree(reveal_nonnegative(softmax_exceeds_one(softmax), length),
                  GetParam().tree(length));
    }
  }
}

TEST_P(EachKnownSum, IsRevealedThroughMeans) {
  const RowSum& sum = GetParam().sum;
  const RowKernel mean = each_row(
      [&](std::span<const float> x) { return sum(x) * (1.0F / static_cast<float>(x.size())); });
  for (const std::size_t length : {1, 3, 49, 130}) {
    expect_tree(reveal_signed(sums_of_means(mean), length), GetParam().tree(length));
  }
}

INSTANTIATE_TEST_SUITE_P(Reveal, EachKnownSum, testing::ValuesIn(known_sums()),
                         [](const auto& test) {
                           std::string name = test.param.name;
                           std::erase_if(name, [](char c) { return c == ' ' || c == ','; });
                           return name;
                         });

}  // namespace
}  // namespace drift
