#include "report/reveal_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/made_report.hpp"

namespace drift {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kWidth = 100;

/// The same without some lengths.
Report at_lengths(const std::vector<std::uint64_t>& lengths) {
  Report report = reveal_report();
  RevealRecord& reveal = *report.reveal;
  reveal.lengths = lengths;
  const auto is_left = [&](const auto& item) {
    return std::find(lengths.begin(), lengths.end(), item.length) == lengths.end();
  };
  std::erase_if(reveal.trees, is_left);
  std::erase_if(reveal.comparisons, is_left);
  return report;
}

TEST(RevealTable, HasARowForEveryLengthAndBuild) {
  const std::string table = report_table(reveal_report(), false, kWidth);
  EXPECT_THAT(table, HasSubstr("reveal softmax · 2, 4, 5 and 6 elements\n"));
  EXPECT_THAT(table, HasSubstr("\n     4  A  1000 of 1000  serial\n"));
  EXPECT_THAT(table, HasSubstr("((0+1)+2)+3\n"));
  EXPECT_THAT(table, HasSubstr("\n     4  B  1000 of 1000  fold 2 apart, neighbours\n"));
  EXPECT_THAT(table, HasSubstr("\n     5  B  609 of 1000   consistent, not proved: fold; then"));
  EXPECT_THAT(table, HasSubstr("not explained: it adds in no fixed order"));
  EXPECT_THAT(table, HasSubstr("not a sum: its means run"));
}

TEST(RevealTable, MarksOrdersThatDifferForSure) {
  const std::string table = report_table(reveal_report(), true, kWidth);
  EXPECT_THAT(table, HasSubstr("\x1b[31m     4  B  1000 of 1000"));
  EXPECT_THAT(table, Not(HasSubstr("\x1b[31m     2")));
  EXPECT_THAT(table, Not(HasSubstr("\x1b[31m     5")));
}

TEST(RevealTable, OfOneBuildNamesNoSides) {
  Report report = reveal_report();
  report.builds.resize(1);
  std::erase_if(report.reveal->trees, [](const RevealedOrder& order) { return order.build == 1; });
  report.reveal->comparisons.clear();
  const std::string table = report_table(report, false, kWidth);
  EXPECT_THAT(table, HasSubstr("\n     4  1000 of 1000  serial\n"));
  EXPECT_THAT(table, HasSubstr("verdict  the order in which softmax adds is proved at 2, 4 and 5"));
}

TEST(RevealVerdict, NamesOnlyWhatIsProved) {
  const Verdict verdict = reveal_verdict(reveal_report());
  EXPECT_EQ(verdict.headline, "softmax adds in another order at 4 elements, in the same at 2");
  EXPECT_THAT(verdict.details,
              Contains("4 elements: 1.10.1: serial; 1.13.1: fold 2 apart, neighbours"));
  EXPECT_THAT(verdict.details, Each(Not(HasSubstr("fold; then"))));
  EXPECT_THAT(verdict.details, Contains(HasSubstr("consistent, not proved: B (")));
  EXPECT_THAT(verdict.details, Contains(HasSubstr("the tree gives the kernel's bits on 1000 of "
                                                  "1000 random rows")));
}

TEST(RevealVerdict, TellsAnOrderThatBothShareOnce) {
  const Verdict verdict = reveal_verdict(at_lengths({2}));
  EXPECT_EQ(verdict.headline, "softmax adds in the same order at 2 elements");
  EXPECT_EQ(std::count(verdict.details.begin(), verdict.details.end(), "2 elements: serial"), 1);
}

TEST(RevealVerdict, SaysOfWhichElementOfAProductItSpeaks) {
  Report report = at_lengths({4});
  report.reveal->operation = "matmul";
  report.reveal->shape = "16x12";
  report.reveal->trees[1].note =
      "elements of the 16 × 12 product add differently: this is the order at row 0, column 0";
  report.builds[0].conditions.alignment = 32;
  const Verdict verdict = reveal_verdict(report);
  EXPECT_EQ(verdict.headline,
            "matmul (row 0, column 0 of a 16x12 product of contiguous operands, aligned to 32 "
            "bytes) adds in another order at 4 elements");
  EXPECT_THAT(verdict.details, Contains(HasSubstr("1000 of 1000 random products, at row 0, column "
                                                  "0 of each")));
  EXPECT_THAT(verdict.details,
              Contains(HasSubstr("product add differently: this is the order at")));
  EXPECT_THAT(verdict.details, Each(Not(HasSubstr("random rows"))));
}

TEST(RevealVerdict, SaysThatNothingIsProved) {
  Report report = at_lengths({6});
  report.reveal->trees.pop_back();
  EXPECT_EQ(reveal_verdict(report).headline, "no order of softmax is proved");
  report = at_lengths({6});
  EXPECT_EQ(reveal_verdict(report).headline, "softmax isn't one sum: it has no order to tell");
}

TEST(RevealVerdict, PointsToABisectionAndToSourcesWhereOrdersDiffer) {
  Report report = reveal_report();
  report.builds[0].torch = "1.10.1";
  report.builds[1].torch = "1.13.1";
  report.builds[1].knobs = report.builds[0].knobs;
  ASSERT_EQ(reveal_verdict(report).next.size(), 3U);
  EXPECT_EQ(reveal_verdict(report).next[1].command, "softmax: SoftMaxKernel.cpp (vec_reduce_all)");
  EXPECT_EQ(reveal_verdict(report).next[2].command, report.reveal->compare);
  EXPECT_THAT(reveal_verdict(report).next[0].command, HasSubstr("driftaudit bisect 1.10.1 1.13.1"));
  EXPECT_THAT(reveal_verdict(report).next[0].command, Not(HasSubstr("--model")));
  report.reveal->comparisons.clear();
  EXPECT_TRUE(reveal_verdict(report).next.empty());
}

TEST(RevealMarkdown, HoldsTheTable) {
  const std::string text = report_markdown(reveal_report());
  EXPECT_THAT(text, HasSubstr("## driftaudit: softmax adds in another order"));
  EXPECT_THAT(text, HasSubstr("\n```\nreveal softmax"));
}

}  // namespace
}  // namespace drift
