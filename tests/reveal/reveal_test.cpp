#include "driftaudit/reveal.hpp"

#include <bit>
#include <cmath>
#include <numeric>

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

TEST(LikelyOrders, AreConfirmedWithFewProbes) {
  for (const std::size_t length : {4, 8, 16, 100, 1000}) {
    const std::vector<SumTree> likely = likely_orders(length);
    for (const char* name : {"serial", "neighbours", "8 lanes, serial fold", "8 lanes, tree fold",
                             "16 lanes, serial fold", "16 lanes, tree fold"}) {
      SCOPED_TRACE(testing::Message() << name << " " << length);
      const ExceedsOne answers = sums_exceed_one(each_row(known_sum(name).sum));
      const Revealed revealed = reveal_nonnegative(answers, length, {}, likely);
      expect_tree(revealed, known_sum(name).tree(length));
      if (length >= 100) {
        EXPECT_LE(revealed.probes, 5 * length + 32 * likely.size());
      }
    }
  }
}

TEST(LikelyOrders, NeverOutdoTheAnswers) {
  const std::vector<SumTree> likely = likely_orders(100);
  for (const KnownSum& known : known_sums()) {
    const ExceedsOne answers = sums_exceed_one(each_row(known.sum));
    expect_tree(reveal_nonnegative(answers, 100, {}, likely), known.tree(100));
  }
  // One that differs in its last addition only, one of another length, one of several terms.
  const RowSum sum = known_sum("serial").sum;
  const SumTree wrong[] = {with_serial_tail(serial_tree(97), 99), wide_serial_tree(99, 3),
                           serial_tree(98), reverse_serial_tree(99)};
  expect_tree(reveal_nonnegative(sums_exceed_one(each_row(sum)), 99, {}, wrong), serial_tree(99));
}

TEST(LikelyOrders, AreAskedAboutInFull) {
  const ExceedsOne answers = sums_exceed_one(each_row(known_sum("serial").sum));
  for (SumTree::Node swapped = 10; swapped < 20; ++swapped) {
    std::vector<SumTree::Node> nodes(1000);
    std::iota(nodes.begin(), nodes.end(), SumTree::Node{0});
    std::swap(nodes[swapped * 47], nodes[swapped * 47 + 1]);
    TreeBuilder builder(1000);
    builder.graft(serial_tree(1000), nodes);
    const SumTree wrong[] = {builder.finish()};
    expect_tree(reveal_nonnegative(answers, 1000, {}, wrong), serial_tree(1000));
  }
}

TEST(Reveal, FindsRandomTreesAndNeverAGuessInstead) {
  std::size_t state = 1;
  const auto below = [&](std::size_t bound) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return (state >> 33) % bound;
  };
  for (int round = 0; round < 200; ++round) {
    const std::size_t length = 4 + below(20);
    const auto random_tree = [&] {
      TreeBuilder builder(length);
      std::vector<SumTree::Node> sums(length);
      std::iota(sums.begin(), sums.end(), SumTree::Node{0});
      while (sums.size() > 1) {
        std::swap(sums[below(sums.size())], sums.back());
        const SumTree::Node last = sums.back();
        sums.pop_back();
        SumTree::Node& other = sums[below(sums.size())];
        other = builder.add({other, last});
      }
      return builder.finish();
    };
    const SumTree tree = random_tree();
    const std::vector<SumTree> others = {random_tree(), random_tree()};
    const RowKernel kernel =
        each_row([&](std::span<const float> x) { return evaluate_sum(tree, x); });
    expect_tree(reveal_nonnegative(sums_exceed_one(kernel), length, {}, others), tree);
    expect_tree(reveal_signed(kernel, length), tree);
  }
}

TEST(Batching, ChangesNoAnswer) {
  const KnownSum& known = known_sum("8 lanes, tree fold");
  std::vector<std::size_t> rows_seen;
  const RowKernel kernel = [&](std::size_t rows, std::size_t length, std::span<const float> x) {
    rows_seen.push_back(rows);
    return each_row(known.sum)(rows, length, x);
  };
  Batching fixed;
  fixed.rows = 7;
  expect_tree(reveal_signed(kernel, 50, fixed), known.tree(50));
  expect_tree(reveal_nonnegative(sums_exceed_one(kernel), 50, fixed), known.tree(50));
  EXPECT_THAT(rows_seen, testing::Each(7U));
  rows_seen.clear();
  Batching small;
  small.max_values = 120;
  expect_tree(reveal_signed(kernel, 50, small), known.tree(50));
  expect_tree(reveal_nonnegative(softmax_exceeds_one(softmax_over(known.sum)), 50, small),
              known.tree(50));
  EXPECT_THAT(rows_seen, testing::Each(testing::Le(2U)));
}

TEST(Batching, GivesDotProductsTheirFactorsInEveryCall) {
  const DotKernel dot = each_dot(
      [](std::span<const float> a, std::span<const float> b) { return lanes_dot(a, b, true); });
  const Revealed at_once = reveal_dot(dot, 37);
  ASSERT_TRUE(at_once.tree);
  for (const Batching& batching : {Batching{37 * 5, 0}, Batching{1, 0}, Batching{1, 7}}) {
    expect_tree(reveal_dot(dot, 37, batching), *at_once.tree);
  }
}

TEST(Reveal, OfLongRowsTakesFewProbesAndCalls) {
  for (const char* name : {"serial", "8 lanes, tree fold", "numpy"}) {
    const KnownSum& known = known_sum(name);
    const Revealed revealed = reveal_signed(each_row(known.sum), 4096);
    expect_tree(revealed, known.tree(4096));
    EXPECT_LE(revealed.probes, 4096U * 10);
    EXPECT_LE(revealed.calls, 60U);
  }
}

}  // namespace
}  // namespace drift
