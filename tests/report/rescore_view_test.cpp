#include "report/rescore_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/made_report.hpp"

namespace drift {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string table_of(const Report& report) { return report_table(report, false, 100); }

/// The made one without its outliers.
Report sound_report() {
  Report report = rescore_report();
  RescoreRecord& record = *report.rescore;
  for (RescoredToken& token : record.scored) {
    token.logprob_prefill = token.logprob_decode;
  }
  for (RescoredRequest& request : record.requests) {
    request.outliers = 0;
    request.first_outlier.reset();
    request.answers.reset();
  }
  for (RescoreSpread& spread : record.spread) {
    spread.outliers = 0;
  }
  record.outliers.clear();
  record.non_finite = record.not_chosen = 0;
  report.gates[0].tripped = false;
  return report;
}

TEST(RescoreTable, SaysOfEachRequestFromWhereItFails) {
  const std::string table = table_of(rescore_report());
  EXPECT_THAT(table, HasSubstr("A decoded, B scored: prompt and text in one prefill\n"));
  EXPECT_THAT(table, HasSubstr("  greedy 2  One\\nday       4         3    1.00e-06      2.75  "
                               "every step from 2 on; answers prompt 3\n"));
  EXPECT_THAT(table, HasSubstr("step 4, the last\n"));
}

TEST(RescoreTable, SplitsByPosition) {
  const std::string table = table_of(rescore_report());
  EXPECT_THAT(table, HasSubstr("  early (first 10)       8         1    1.00e-06  2.75  2.75\n"));
  EXPECT_THAT(table, HasSubstr("  late (last 10)         8         3    1.00e-06  2.75  2.75\n"));
}

TEST(RescoreTable, ShowsTheFirstOutlierOfARequestInItsText) {
  EXPECT_THAT(report_table(rescore_report(), false, 120),
              HasSubstr("  greedy prompt 2, step 2: |Δ| 2.75, decoding -0.5, prefill -3.25; rank "
                        "4 in the prefill, 2.75 below its highest\n    One\\nday a[ b] c d\n"));
}

TEST(RescoreTable, NamesARequestOfAFileByItsId) {
  Report report = rescore_report();
  report.rescore->decoded_by.reset();
  report.rescore->source = report.prompts = "served.jsonl";
  report.builds.resize(1);
  for (RescoredRequest& request : report.rescore->requests) {
    request.mode = "given";
    request.request_id = "id-" + std::to_string(request.prompt);
  }
  const std::string table = table_of(report);
  EXPECT_THAT(table, HasSubstr("4 requests of served.jsonl"));
  EXPECT_THAT(table, HasSubstr("request id-2 answers request id-3 from step 2 on"));
  EXPECT_THAT(table, Not(HasSubstr("next  "))) << "what generated it is not at hand";
}

TEST(RescoreVerdict, SaysWhichRequestsFailAndWhetherTheTextIsWrong) {
  const Verdict verdict = rescore_verdict(rescore_report());
  EXPECT_EQ(verdict.headline, "4 outliers in 2 of 4 requests");
  EXPECT_THAT(verdict.details, Contains("greedy prompt 2 answers prompt 3 from step 2 on"));
  EXPECT_THAT(verdict.details, Contains("greedy prompt 4: step 4, the last"));
  EXPECT_THAT(verdict.details, Contains(HasSubstr("3 of them can't come from the prefill")));
  EXPECT_THAT(verdict.details, Contains(HasSubstr("1 token of a NaN")));
  EXPECT_THAT(verdict.tripped, ElementsAre("--fail-on outliers: 4 of 16 tokens are outlying"));
}

TEST(RescoreVerdict, SaysHowABatchDiffersFromItsRequestsAlone) {
  const Verdict verdict = rescore_verdict(rescore_report());
  EXPECT_THAT(verdict.details,
              Contains("2 of 4 batched requests have the same tokens alone; where tokens are the "
                       "same, log-probabilities differ by at most 2.00e-06"));
  EXPECT_THAT(verdict.details, Contains("greedy prompt 2 has the answer that prompt 3 has alone"));
  EXPECT_THAT(verdict.details, Contains("greedy prompt 3 parts from itself alone at step 4"));
}

TEST(RescoreVerdict, SaysWhereNoOutlierIs) {
  Report report = rescore_report();
  report.rescore->spread[1].outliers = 0;
  EXPECT_THAT(rescore_verdict(report).details, Contains("no outlier is among the first ten steps"));
}

TEST(RescoreVerdict, NamesThePeriodOfRequestsAndClaimsNoneOfFew) {
  Report report = rescore_report();
  EXPECT_THAT(rescore_verdict(report).details, Not(Contains(HasSubstr("period"))));
  report.rescore->request_period = RescorePeriod{3, 2};
  EXPECT_THAT(rescore_verdict(report).details, Contains("one request in 3 fails: 2, 5, 8, …"));
}

TEST(RescoreVerdict, OfSoundRunsSaysSoAndAsksForMoreText) {
  const Verdict verdict = rescore_verdict(sound_report());
  EXPECT_EQ(verdict.headline, "no outliers: the prefill says what decoding said");
  EXPECT_THAT(verdict.tripped, IsEmpty());
  ASSERT_EQ(verdict.next.size(), 1U);
  EXPECT_THAT(verdict.next[0].command, HasSubstr("driftaudit rescore "));
  EXPECT_THAT(verdict.next[0].command, HasSubstr(" --prompts alice-200"));
}

TEST(RescoreVerdict, DoesNotCallSoundWhatTheMedianHides) {
  Report report = sound_report();
  report.rescore->noise.reset();  // as reports had it whose limit hung on the median
  report.rescore->spread[0].median = 0.125;
  report.rescore->limit = 50 * 0.125;
  const Verdict verdict = rescore_verdict(report);
  EXPECT_EQ(verdict.headline, "no outliers, but only since the median |Δ| itself is 0.125");
  ASSERT_FALSE(verdict.next.empty());
  EXPECT_THAT(verdict.next[0].command, HasSubstr(" --outlier 0.001"));
}

/// Of a file that was found to follow a rule.
Report ruled_report(const LogprobRule& rule, bool given = false) {
  Report report = sound_report();
  RescoreRecord& record = *report.rescore;
  record.decoded_by.reset();
  record.source = "served.jsonl";
  report.builds.resize(1);
  record.spread[0].median = 0.25;
  record.noise = RescoreNoise{0.3, 1e-6, "bfloat16", 0.0625, 1e-3, 0.75};
  record.limit = 0.75;
  record.rule = RescoreRule{rule, given, given ? 0U : 8U, 16, 5e-7, 2e-6};
  return report;
}

TEST(RescoreVerdict, NamesTheRuleOfAFileAndTheOptionForIt) {
  const Verdict verdict =
      rescore_verdict(ruled_report({.temperature = 0.7, .top_k = 20, .top_p = 0.9}));
  EXPECT_EQ(verdict.headline,
            "the log-probabilities aren't those of raw logits: temperature 0.7, renormalised over "
            "the 20 highest, renormalised over the top-p 0.9");
  EXPECT_THAT(verdict.details,
              Contains(HasSubstr("fitted on 8 tokens, confirmed on all 16; what remains has a "
                                 "median of 5.00e-07 and is at most 2.00e-06")));
  ASSERT_EQ(verdict.next.size(), 1U);
  EXPECT_THAT(verdict.next[0].command,
              HasSubstr("--logprobs served.jsonl --logprobs-temperature 0.7 --logprobs-top-k 20 "
                        "--logprobs-top-p 0.9"));
}

TEST(RescoreVerdict, HasNoOptionForAFileThatMustBeMended) {
  const Verdict verdict = rescore_verdict(ruled_report({.shift = 1}));
  EXPECT_THAT(verdict.headline, HasSubstr("each stands one token too early"));
  EXPECT_THAT(verdict.next, IsEmpty());
}

TEST(RescoreVerdict, SaysWhichRuleWasGiven) {
  const Report report = ruled_report({.base = 2}, true);
  EXPECT_THAT(table_of(report), HasSubstr("scores served.jsonl, taken as base 2\n"));
  EXPECT_THAT(rescore_verdict(report).details, Contains("taken as the options say: base 2"));
}

TEST(RescoreVerdict, SaysWhereOnlyHalfPrecisionIsAsFarApart) {
  Report report = ruled_report({});
  report.rescore->rule.reset();
  const Verdict verdict = rescore_verdict(report);
  EXPECT_EQ(verdict.headline, "no outliers, as far as half precision tells");
  EXPECT_THAT(verdict.details, Contains(HasSubstr("the build's own decoding 1.00e-06")));
  EXPECT_THAT(verdict.details, Contains(HasSubstr("(12 steps of bfloat16, the most there is)")));
}

TEST(RescoreVerdict, AsksWhatMovesAFailure) {
  Report report = rescore_report();
  report.builds[1].label = report.builds[0].label;
  const Verdict verdict = rescore_verdict(report);
  ASSERT_EQ(verdict.next.size(), 2U);
  EXPECT_THAT(verdict.next[0].command, HasSubstr(" --no-cache"));
  EXPECT_THAT(verdict.next[1].command,
              AllOf(HasSubstr("driftaudit sweep "), HasSubstr(" --check rescore")));
}

TEST(RescoreVerdict, AsksFirstWhetherRequestsOfABatchFailAlone) {
  Report report = rescore_report();
  report.settings.batch = 4;
  const Verdict verdict = rescore_verdict(report);
  ASSERT_EQ(verdict.next.size(), 2U);
  EXPECT_THAT(verdict.next[0].question, HasSubstr("alone"));
  EXPECT_THAT(verdict.next[0].command, Not(HasSubstr("--batch")));
  EXPECT_THAT(verdict.next[1].command, HasSubstr("--batch 4 --no-cache"));
}

TEST(RescoreMarkdown, HoldsTheTable) {
  const std::string markdown = report_markdown(rescore_report());
  EXPECT_THAT(markdown, HasSubstr("## driftaudit: 4 outliers in 2 of 4 requests\n"));
  EXPECT_THAT(markdown, HasSubstr("answers prompt 3"));
}

}  // namespace
}  // namespace drift
