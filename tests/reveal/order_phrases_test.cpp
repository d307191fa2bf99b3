#include <algorithm>

#include <gtest/gtest.h>

#include "driftaudit/order_words.hpp"

#include "reveal/families.hpp"
#include "reveal/known_kernels.hpp"
#include "reveal/read_order.hpp"
#include "runner/split_mix.hpp"

namespace drift {
namespace {

/// Whether the words say this order and no other.
::testing::AssertionResult says(const SumTree& tree, std::size_t lanes = 0) {
  const std::string words = order_words(tree, lanes);
  const std::optional<SumTree> read = read_order(words, tree.terms());
  if (!read || *read == SumTree(tree.terms(), tree.additions())) {
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "\"" << words << "\" over " << tree.terms() << " reads "
                                       << tree_text(*read) << ", not " << tree_text(tree);
}

TEST(OrderPhrases, SayTheOrdersOfKnownKernels) {
  for (const KnownSum& known : known_sums()) {
    SCOPED_TRACE(known.name);
    for (std::size_t terms = 1; terms <= 300; terms += terms < 70 ? 1 : 23) {
      for (const std::size_t lanes : {0, 8}) {
        ASSERT_TRUE(says(known.tree(terms), lanes));
      }
    }
  }
}

TEST(OrderPhrases, SayWhereTheLastTermsJoinTheFirst) {
  // torch's sum over 6 and 7: the last ones one after the other, then the rest.
  for (const char* text : {"((((0+4)+5)+1)+2)+3", "(((((0+4)+5)+6)+1)+2)+3"}) {
    const SumTree tree = tree_from_text(text);
    EXPECT_TRUE(says(tree));
    EXPECT_EQ(order_words(tree), "the last " + std::to_string(tree.terms() - 4) +
                                     " onto the first term one after the other; then serial");
  }
  EXPECT_TRUE(says(tree_from_text("((0+((3+4)+5))+1)+2")));
  EXPECT_EQ(order_words(tree_from_text("((0+((3+4)+5))+1)+2")),
            "from the sum of the last 3 on: serial");
}

/// Adds two of what is left, or three, until one is.
SumTree random_tree(SplitMix64& random, std::size_t terms, std::size_t nearby) {
  TreeBuilder builder(terms);
  std::vector<SumTree::Node> left;
  for (SumTree::Node i = 0; i < terms; ++i) {
    left.push_back(i);
  }
  while (left.size() > 1) {
    const std::size_t a = random.below(left.size() - 1);
    const std::size_t b = a + 1 + random.below(std::min(nearby, left.size() - 1 - a));
    const SumTree::Node sum = builder.add({left[a], left[b]});
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(b));
    left[a] = sum;
  }
  return builder.finish();
}

TEST(OrderPhrases, SayRandomOrders) {
  SplitMix64 random(17);
  for (int i = 0; i < 4000; ++i) {
    const std::size_t terms = 1 + random.below(12);
    ASSERT_TRUE(says(random_tree(random, terms, 1 + random.below(4))));
  }
}

TEST(OrderPhrases, SayRandomFamilies) {
  SplitMix64 random(23);
  const auto order = [&](std::size_t terms) {
    switch (random.below(4)) {
      case 0:
        return serial_tree(terms);
      case 1:
        return neighbours_tree(terms);
      case 2:
        return halving_tree(terms);
      default:
        return random_tree(random, terms, 2);
    }
  };
  for (int i = 0; i < 1000; ++i) {
    const std::size_t lanes = 2 + random.below(15);
    const std::size_t whole = lanes * (1 + random.below(6)) + random.below(lanes);
    const std::size_t blocks = (whole + lanes - 1) / lanes;
    const SumTree head = random.below(2) == 0 ? lanes_tree(whole, lanes, order(lanes))
                                              : blocks_tree(whole, lanes, order(blocks));
    ASSERT_TRUE(says(head));
    ASSERT_TRUE(says(with_serial_tail(head, whole + random.below(4))));
  }
}

TEST(OrderPhrases, GiveOneOrderOneWording) {
  // However the additions are written down, the tree is the same, and so are its words.
  EXPECT_EQ(order_words(tree_from_text("3+((2+(1+0))+4)")),
            order_words(tree_from_text("(4+((0+1)+2))+3")));
  SplitMix64 random(29);
  for (const KnownSum& known : known_sums()) {
    const SumTree tree = known.tree(37);
    std::vector<SumTree::Addition> additions = tree.additions();
    for (SumTree::Addition& addition : additions) {
      if (random.below(2) == 0) {
        std::reverse(addition.children.begin(), addition.children.end());
      }
    }
    EXPECT_EQ(order_words(SumTree(37, additions)), order_words(tree)) << known.name;
  }
}

}  // namespace
}  // namespace drift
