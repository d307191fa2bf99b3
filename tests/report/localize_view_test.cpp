#include "report/localize_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/made_report.hpp"
#include "report/verdict.hpp"

namespace drift {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string table_of(const Report& report) { return report_table(report, false, 120); }

TEST(LocalizeTable, FollowsTheChangeDownTheNetwork) {
  const std::string table = table_of(localize_report());
  EXPECT_THAT(table, HasSubstr("greedy, prompt 1, step 2  "));
  EXPECT_THAT(table, HasSubstr("and 1 of A's, with a KV cache\n"));
  EXPECT_THAT(table, HasSubstr("  embeddings  embed.sum         same\n"));
  EXPECT_THAT(table,
              HasSubstr("  block 1     mlp.residual  3.00e-06  7.50e-07       12       1.5\n"));
}

TEST(LocalizeTable, NamesWhatChangedByItself) {
  EXPECT_THAT(table_of(localize_report()),
              HasSubstr("shape         max |Δ| on A's inputs  max ULP  in B's own pass  max ULP\n"
                        "  attn.softmax  in each of 2 blocks  block.0.attn.softmax  [1, 2, 1, 9]  "
                        "             3.12e-09        3         2.50e-08       12\n"));
}

TEST(LocalizeTable, OfAnOlderReportHasNoChangeOnEqualInputs) {
  Report report = localize_report();
  for (LocalizedOperation& operation : report.localize->operations) {
    operation.own_change.reset();
  }
  EXPECT_THAT(table_of(report),
              HasSubstr("[1, 2, 1, 9]  "
                        "                    –        –         2.50e-08       12\n"));
}

TEST(LocalizeTable, SaysWhatHappensToTheFunctionByItself) {
  const std::string table = table_of(localize_report());
  EXPECT_THAT(table, HasSubstr("softmax by itself, on 17408 random rows of 68 lengths"));
  EXPECT_THAT(table, HasSubstr("same at lengths tried of    1–7, 9\n"));
  EXPECT_THAT(table, HasSubstr("differs at lengths tried of 8, 10–129, in 37.5 % of their rows\n"));
  EXPECT_THAT(table, HasSubstr("B's bits of a row hang on the alignment (0, 4, 16, 32) at lengths "
                               "64–129\n"));
  EXPECT_THAT(table, HasSubstr("a row's bits don't hang on the number of rows (1, 2, 7, 64), the "
                               "threads (1, 2)\n"));
  EXPECT_THAT(table, HasSubstr("fold by itself: not tried, its inputs aren't known\n"));
}

TEST(LocalizeTable, TellsTheOrdersThatWereRevealed) {
  Report report = localize_report();
  EXPECT_THAT(table_of(report), HasSubstr("driftaudit reveal softmax"));
  report.reveal = reveal_report().reveal;
  const std::string table = table_of(report);
  EXPECT_THAT(table, HasSubstr("     4  B  1000 of 1000  fold 2 apart, neighbours\n"));
  EXPECT_THAT(table, HasSubstr("verdict  attn.softmax changed by itself"));
  EXPECT_THAT(table,
              HasSubstr("  softmax adds in another order at 4 elements, in the same at 2\n"));
  EXPECT_THAT(table, Not(HasSubstr("driftaudit reveal softmax"))) << "it was";
}

TEST(LocalizeTable, WarnsOfASideThatDoesNotRepeatItself) {
  Report report = localize_report();
  report.builds[1].repeatable = false;
  EXPECT_THAT(table_of(report), ::testing::StartsWith("warning  B ("));
}

TEST(LocalizeVerdict, NamesTheOwnOperationAndWhatIsProved) {
  const Verdict verdict = verdict_of(localize_report());
  EXPECT_EQ(verdict.headline, "attn.softmax changed by itself, in each of 2 blocks");
  EXPECT_THAT(verdict.details,
              Contains("first difference in order of execution: block.0.attn.softmax "
                       "[1, 2, 1, 9], its own"));
  EXPECT_THAT(verdict.details,
              Contains("proved on this pass: given A's inputs as they lay, B gives other bits in 2 "
                       "of 6 operations; 3 others only carry a change on (inherited, on these "
                       "inputs)"));
  EXPECT_THAT(verdict.details, Contains(HasSubstr("not replayable, A's own inputs give A other "
                                                  "bits once more: lm_head")));
  EXPECT_THAT(verdict.details, Contains(HasSubstr("re-enter from the KV cache at 1 operation, "
                                                  "first block.1.attn.keys")));
}

TEST(LocalizeVerdict, CountsTheBlocks) {
  Report report = localize_report();
  report.localize->operations[4].own = false;
  EXPECT_EQ(verdict_of(report).headline, "attn.softmax changed by itself, in 1 of 2 blocks");
  report.localize->operations[6].own = true;
  EXPECT_EQ(verdict_of(report).headline,
            "attn.softmax (in 1 of 2 blocks), lm_head changed by themselves");
}

TEST(LocalizeVerdict, SpeaksOfWhatTheSidesDifferBy) {
  Report report = localize_report();
  report.builds[1].libtorch_sha256 = report.builds[0].libtorch_sha256;
  report.builds[1].cpu_capability = report.builds[0].cpu_capability;
  report.builds[1].knobs = report.builds[0].knobs;
  report.builds[0].threads = 1;
  report.builds[1].threads = 2;
  EXPECT_EQ(verdict_of(report).headline,
            "attn.softmax gives other bits on 2 threads than on 1 thread, in each of 2 blocks");
  report.builds[1].threads = 1;
  report.builds[0].cpu_capability = "DEFAULT";
  report.builds[1].cpu_capability = "AVX2";
  EXPECT_EQ(verdict_of(report).headline,
            "attn.softmax gives other bits on avx2 than on default kernels, in each of 2 blocks");
}

TEST(LocalizeVerdict, SaysThatNothingDiffers) {
  Report report = localize_report();
  for (LocalizedOperation& operation : report.localize->operations) {
    operation.same = true;
    operation.own = false;
  }
  report.localize->own.clear();
  report.localize->first_difference.reset();
  const Verdict verdict = verdict_of(report);
  EXPECT_EQ(verdict.headline, "nothing differs: all 7 operations give the same bits");
  EXPECT_THAT(verdict.details, ::testing::ElementsAre(
                                   "proved on this pass: given A's inputs as they lay, B gives A's "
                                   "bits in 7 operations"));
}

TEST(LocalizeVerdict, BlamesNothingThatIsNotShown) {
  Report report = localize_report();
  for (LocalizedOperation& operation : report.localize->operations) {
    operation.own = false;
  }
  EXPECT_THAT(verdict_of(report).headline, HasSubstr("no operation was shown to change by itself"));
  report.localize->operations[1].inputs_same = true;
  EXPECT_THAT(verdict_of(report).details,
              Contains(HasSubstr("but not when replayed: block.0.attn.softmax;")));
}

TEST(LocalizeVerdict, PointsToRevealAndTheSources) {
  Report report = localize_report();
  const Verdict verdict = verdict_of(report);
  ASSERT_EQ(verdict.next.size(), 3U);
  EXPECT_THAT(verdict.next[0].command, HasSubstr("driftaudit reveal softmax "));
  EXPECT_THAT(verdict.next[1].question, HasSubstr("likely"));
  EXPECT_EQ(verdict.next[1].command, "softmax: SoftMaxKernel.cpp (vec_reduce_all)");
  EXPECT_EQ(verdict.next[2].command, report.localize->compare);
}

TEST(LocalizeMarkdown, HoldsTheTable) {
  const std::string text = report_markdown(localize_report());
  EXPECT_THAT(text, HasSubstr("## driftaudit: attn.softmax changed by itself"));
  EXPECT_THAT(text, HasSubstr("softmax by itself, on 17408 random rows"));
  EXPECT_THAT(text, Not(HasSubstr("nothing was compared")));
}

TEST(Suggestions, LeadFromAnAuditToLocalize) {
  Report report = identical_report();
  report.builds[0].label = "1.10.1";
  report.builds[1].label = "1.13.1";
  report.comparison[0].first_changed_step = 3;
  report.comparison[0].steps_changed = report.summary.steps_changed = 1;
  report.summary.verdict = "same_tokens";
  EXPECT_THAT(verdict_of(report).next.at(0).command,
              HasSubstr("driftaudit localize 1.10.1 1.13.1"));
  EXPECT_THAT(verdict_of(report).next.at(0).command, HasSubstr(" --prompt 1 --step 3"));
  report.comparison[0].first_changed_step = 1;
  EXPECT_THAT(verdict_of(report).next.at(0).command, Not(HasSubstr("--step")));
  report.builds[0].recorded = RecordedBuild{"base.json", "", "", report.host};
  for (const Suggestion& next : verdict_of(report).next) {
    EXPECT_THAT(next.command, Not(HasSubstr("localize"))) << "a saved side can't be run";
  }
}

TEST(Suggestions, LeadFromABisectionToLocalize) {
  const std::vector<Suggestion> next = verdict_of(bisect_report()).next;
  EXPECT_THAT(next.at(1).command, HasSubstr("driftaudit localize"));
}

TEST(RangesInWords, AreShortened) {
  EXPECT_EQ(ranges_in_words({}), "none");
  EXPECT_EQ(ranges_in_words({{1, 7}, {9, 9}}), "1–7, 9");
  std::vector<LengthRange> many;
  for (std::uint64_t i = 0; i < 20; ++i) {
    many.push_back({2 * i, 2 * i});
  }
  EXPECT_THAT(ranges_in_words(many), HasSubstr("22 and 8 ranges more"));
}

}  // namespace
}  // namespace drift
