#include "driftaudit/order_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reveal/families.hpp"
#include "reveal/known_kernels.hpp"

namespace drift {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string words_of(const std::string& name, std::size_t terms, std::size_t lanes = 0) {
  return order_words(known_sum(name).tree(terms), lanes);
}

TEST(OrderWords, NameTheSerialOrders) {
  EXPECT_EQ(words_of("serial", 1), "one term");
  EXPECT_EQ(words_of("serial", 2), "serial");
  EXPECT_EQ(words_of("serial", 100), "serial");
  EXPECT_EQ(words_of("reverse", 100), "serial, from the last on");
  EXPECT_EQ(order_words(wide_serial_tree(30, 4)), "serial, 4 terms at once");
}

TEST(OrderWords, NameThePairwiseOrders) {
  EXPECT_EQ(words_of("neighbours", 64), "pairwise");
  EXPECT_EQ(words_of("neighbours", 37), "pairwise");
  EXPECT_EQ(words_of("halves", 64), "pairwise");
  EXPECT_EQ(words_of("halves", 37), "pairwise, in halves");
}

TEST(OrderWords, NameBothFoldsOfEightLanesAtSixteenTerms) {
  const SumTree serial =
      tree_from_text("(((((((0+8)+(1+9))+(2+10))+(3+11))+(4+12))+(5+13))+(6+14))+(7+15)");
  const SumTree apart =
      tree_from_text("(((0+8)+(4+12))+((2+10)+(6+14)))+(((1+9)+(5+13))+((3+11)+(7+15)))");
  for (const std::size_t lanes : {0, 8}) {
    EXPECT_EQ(order_words(serial, lanes),
              "8 lanes, vertical; then fold 0+1, +2 … (one after the other)");
    EXPECT_EQ(order_words(apart, lanes),
              "8 lanes, vertical; then fold 4 apart, 2 apart, neighbours");
  }
  EXPECT_EQ(
      order_difference("1.10.1", serial, "1.13.1", apart),
      "1.10.1 folds its 8 lanes one after the other; 1.13.1 4 apart, 2 apart, then neighbours");
  EXPECT_EQ(order_words(apart, 16), "fold 8 apart, 4 apart, 2 apart, neighbours");
}

TEST(OrderWords, NameLanesAtEveryLengthFromTwiceTheirNumber) {
  for (std::size_t terms = 16; terms <= 200; ++terms) {
    SCOPED_TRACE(terms);
    const std::string masked =
        terms % 8 == 0 ? "" : ", the last " + std::to_string(terms % 8) + " masked";
    EXPECT_EQ(words_of("8 lanes, serial fold", terms),
              "8 lanes, vertical" + masked + "; then fold 0+1, +2 … (one after the other)");
    EXPECT_EQ(words_of("8 lanes, tree fold", terms),
              "8 lanes, vertical" + masked + "; then fold 4 apart, 2 apart, neighbours");
  }
}

TEST(OrderWords, NameOtherNumbersOfLanes) {
  EXPECT_EQ(words_of("16 lanes, tree fold", 64),
            "16 lanes, vertical; then fold 8 apart, 4 apart, 2 apart, neighbours");
  EXPECT_EQ(words_of("16 lanes, serial fold", 64),
            "16 lanes, vertical; then fold 0+1, +2 … (one after the other)");
  EXPECT_EQ(words_of("stride 3", 31),
            "3 lanes, vertical, the last 1 masked; then fold 0+1, +2 … (one after the other)");
  EXPECT_EQ(order_words(lanes_tree(64, 8, fold_tree(8, {1, 2, 4}))),
            "8 lanes, vertical; then fold neighbours, 2 apart, 4 apart");
  EXPECT_EQ(order_words(lanes_tree(64, 8, fold_tree(8, {4, 1, 2}))),
            "8 lanes, vertical; then fold 4 apart, neighbours, 2 apart");
}

TEST(OrderWords, NameTheFoldAloneUpToTheNumberOfLanes) {
  EXPECT_EQ(words_of("8 lanes, tree fold", 8), "fold 4 apart, 2 apart, neighbours");
  EXPECT_EQ(words_of("8 lanes, tree fold", 8, 8), "fold 4 apart, 2 apart, neighbours");
  EXPECT_EQ(words_of("8 lanes, tree fold", 6), "fold 4 apart, 2 apart, neighbours");
  EXPECT_EQ(words_of("8 lanes, serial fold", 8), "serial");
}

TEST(OrderWords, NameAccumulators) {
  EXPECT_EQ(words_of("4 accumulators", 256),
            "4 accumulators of 8 lanes, vertical; accumulators serial; then fold 4 apart, 2 apart, "
            "neighbours");
}

TEST(OrderWords, NameBlocks) {
  EXPECT_EQ(words_of("blocks", 1024), "blocks of 128, each serial; blocks pairwise");
  EXPECT_EQ(words_of("blocks", 1000), "blocks of 128, each serial; blocks pairwise");
  EXPECT_EQ(words_of("numpy", 1024),
            "blocks of 128, each (8 lanes, vertical; then fold neighbours, 2 apart, 4 apart); "
            "blocks pairwise");
}

TEST(OrderWords, NameTails) {
  EXPECT_EQ(words_of("serial tail", 19),
            "8 lanes, vertical; then fold 4 apart, 2 apart, neighbours; then the last 3 one after "
            "the other");
  EXPECT_EQ(words_of("serial tail", 17),
            "8 lanes, vertical; then fold 4 apart, 2 apart, neighbours; then the last 1");
  EXPECT_EQ(words_of("tail first", 70),
            "8 lanes, vertical; then fold from the sum of the last 6 on: 0+1, +2 … (one after the "
            "other)");
  EXPECT_EQ(words_of("tail first", 11), "from the sum of the last 3 on: serial");
  TreeBuilder builder(12);
  const SumTree::Node head =
      builder.graft(neighbours_tree(8), std::vector<SumTree::Node>{0, 1, 2, 3, 4, 5, 6, 7});
  const SumTree::Node tail =
      builder.graft(serial_tree(4), std::vector<SumTree::Node>{8, 9, 10, 11});
  builder.add({head, tail});
  EXPECT_EQ(order_words(builder.finish()), "pairwise; then the sum of the last 4");
}

TEST(OrderWords, NameWhatIsLeftOfAccumulators) {
  const SumTree rest = tree_from_text("(((((0+4)+8)+9)+(1+5))+(2+6))+(3+7)");
  EXPECT_EQ(order_words(rest, 4),
            "4 lanes, vertical; then fold 0+1, +2 … (one after the other); the last 2 in the first "
            "lane");
  TreeBuilder builder(80);
  std::vector<SumTree::Node> lanes;
  for (SumTree::Node lane = 0; lane < 8; ++lane) {
    std::vector<SumTree::Node> members;
    for (SumTree::Node i = lane; i < 80; i += 8) {
      members.push_back(i);
    }
    lanes.push_back(builder.graft(rest, members));
  }
  builder.graft(serial_tree(8), lanes);
  EXPECT_EQ(order_words(builder.finish()),
            "8 lanes, each (4 lanes, vertical; then fold 0+1, +2 … (one after the other); the last "
            "2 in the first lane); then fold 0+1, +2 … (one after the other)");
}

TEST(OrderWords, NameAFoldOfAccumulatorsThatStartsFromTheTail) {
  // torch's sum over 300: four accumulators of eight lanes, then the lanes on top of the last four.
  TreeBuilder builder(300);
  std::vector<SumTree::Node> sums = {
      builder.graft(serial_tree(4), std::vector<SumTree::Node>{296, 297, 298, 299})};
  for (SumTree::Node lane = 0; lane < 8; ++lane) {
    std::vector<SumTree::Node> accumulators;
    for (SumTree::Node wide = lane; wide < 32; wide += 8) {
      std::vector<SumTree::Node> members;
      for (SumTree::Node i = wide; i < 296; i += 32) {
        members.push_back(i);
      }
      accumulators.push_back(builder.graft(serial_tree(members.size()), members));
    }
    sums.push_back(builder.graft(serial_tree(4), accumulators));
  }
  builder.graft(serial_tree(9), sums);
  EXPECT_EQ(
      order_words(builder.finish(), 8),
      "4 accumulators of 8 lanes, vertical, the last 8 masked; accumulators serial; then fold "
      "from the sum of the last 4 on: 0+1, +2 … (one after the other)");
}

TEST(OrderWords, NameBlocksThatStartFromTheLast) {
  EXPECT_EQ(order_words(blocks_tree(256, 112, tree_from_text("(0+2)+1"))),
            "blocks of 112, each serial; blocks from the last one on: serial");
  EXPECT_EQ(order_words(blocks_tree(700, 112, tree_from_text("(((((0+6)+1)+2)+3)+4)+5"))),
            "blocks of 112, each serial; blocks from the last one on: serial");
}

TEST(OrderWords, CallATailInTheMiddleOfAFoldIrregular) {
  EXPECT_THAT(order_words(tree_from_text("(((0+1)+(4+5))+2)+3")), StartsWith("irregular"));
  // Lanes 0 and 1, then the last two, then the other lanes.
  EXPECT_THAT(order_words(tree_from_text("((((((((0+8)+(1+9))+(16+17))+(2+10))+(3+11))+(4+12))+"
                                         "(5+13))+(6+14))+(7+15)")),
              StartsWith("irregular"));
}

TEST(OrderWords, SpellAnIrregularTreeOutWhileItIsShort) {
  EXPECT_EQ(order_words(tree_from_text("((1+3)+0)+2")), "irregular: (0+(1+3))+2");
  TreeBuilder builder(100);
  std::vector<SumTree::Node> order;
  for (SumTree::Node i = 0; i < 100; ++i) {
    order.push_back(i * 37 % 100);
  }
  builder.graft(serial_tree(100), order);
  EXPECT_EQ(order_words(builder.finish()), "irregular: 100 terms, 99 roundings at most");
}

TEST(OrderWords, SayWhichProductsAreFused) {
  const SumTree tree = lanes_tree(64, 8, serial_tree(8));
  std::vector<bool> fused(64, true);
  std::fill(fused.begin(), fused.begin() + 8, false);
  const SumTree with_fma(64, tree.additions(), fused);
  EXPECT_EQ(order_words(with_fma),
            order_words(tree) + "; fused multiply-add for 56 of 64 products");
  const SumTree apart = lanes_tree(64, 8, fold_tree(8, {4, 2, 1}));
  EXPECT_THAT(order_difference("A", tree, "B", with_fma), HasSubstr("56 of 64"));
  EXPECT_THAT(order_difference("A", apart, "B", with_fma), HasSubstr("56 of 64"));
}

TEST(OrderDifference, SaysWhenThereIsNone) {
  const SumTree tree = serial_tree(9);
  EXPECT_EQ(order_difference("A", tree, "B", tree), "A and B add in the same order: serial");
}

TEST(OrderDifference, GivesBothOrdersWhereMoreThanTheFoldDiffers) {
  EXPECT_EQ(order_difference("A", serial_tree(64), "B", neighbours_tree(64)),
            "A: serial; B: pairwise");
  EXPECT_THAT(order_difference("A", known_sum("8 lanes, tree fold").tree(64), "B",
                               known_sum("16 lanes, tree fold").tree(64)),
              StartsWith("A: 8 lanes, vertical; then fold 4 apart"));
}

}  // namespace
}  // namespace drift
