#include "report/study_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/made_report.hpp"

namespace drift {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string table_of(const Report& report) { return report_table(report, false, 120); }

TEST(StudyTable, ShowsThePromptsBesideTheOriginals) {
  const std::string table = table_of(study_report());
  EXPECT_THAT(table, HasSubstr("\noriginal  GPT-2 small, 4 threads on an AMD EPYC 7713 (AVX2)"));
  EXPECT_THAT(table, HasSubstr("the upgrade, greedy"));
  EXPECT_THAT(table, HasSubstr("471 of 480"));
  EXPECT_THAT(table, HasSubstr("1.07e-04  1.20e-04  same; 6 of 8 first steps, ≤ 1.07e-04\n"));
  EXPECT_THAT(table, HasSubstr("the upgrade, greedy, no KV cache"));
  EXPECT_THAT(table, HasSubstr("changed in 1 of 8"));
  EXPECT_THAT(table, HasSubstr("equal bit for bit\n"));
}

TEST(StudyTable, ShowsTheGapsBesideTheOriginals) {
  const std::string table = table_of(study_report());
  EXPECT_THAT(table, HasSubstr("distinct sets of gaps    3"));
  EXPECT_THAT(table, HasSubstr("5.00e-04, step 14 of \"So she set to work\""));
  EXPECT_THAT(table, HasSubstr("2.00e-04, step 9 of prompt 3, first against last, generic"));
  EXPECT_THAT(table, HasSubstr("median, first 10 steps   0.75"));
  EXPECT_THAT(table, HasSubstr("  6.27\n"));
  EXPECT_THAT(table, HasSubstr("steps within a loop      62.5 %\n"));
}

TEST(StudyTable, ShowsNoOriginalFigureBesideAnotherMeasure) {
  Report report = study_report();
  report.study->gaps.tokens = 40;
  EXPECT_THAT(table_of(report), Not(HasSubstr("6.27")));
  EXPECT_THAT(table_of(report), HasSubstr("6 of 8 first steps"));
  report.settings.new_tokens = 4;
  EXPECT_THAT(table_of(report), Not(HasSubstr("6 of 8 first steps")));
  report = study_report();
  report.settings.dtype = "bfloat16";
  EXPECT_THAT(table_of(report), Not(HasSubstr("6.27")));
  report = study_report();
  report.builds[1].torch = "2.0.0";
  EXPECT_THAT(table_of(report), Not(HasSubstr("7713")));
  EXPECT_THAT(table_of(report), Not(HasSubstr("6.27")));
  EXPECT_THAT(table_of(report), Not(HasSubstr("6 of 8 first steps")));
}

TEST(StudyTable, HasTheRangeTheRunsAndTheHistogram) {
  const std::string table = table_of(study_report());
  EXPECT_THAT(table, HasSubstr("1.12.0  –               left out\n"));
  EXPECT_THAT(table, HasSubstr("930 of 960 steps changed, tokens too  other bits\n"));
  EXPECT_THAT(table, HasSubstr("first, generic  20000  3         200\n"));
  EXPECT_THAT(table, HasSubstr("gap from, by step  1–50  51–100\n"
                               "0                     ·       3\n"
                               "0.01               4000       ·\n"
                               "1                  6000    9997\n"));
}

TEST(StudyTable, LeavesOutBinsWithoutAGap) {
  Report report = study_report();
  report.study->gaps.histogram.bands[0].counts[1] = 0;
  EXPECT_THAT(table_of(report), Not(HasSubstr("\n0.01  ")));
}

TEST(StudyTable, SaysHowFarFromAFlip) {
  const std::string table = table_of(study_report());
  EXPECT_THAT(table, HasSubstr("from ½ · ¼ of the steps · closing  tokens until one\n"));
  EXPECT_THAT(table, HasSubstr("4 in a million (2.5 to 6.25)  3.75 · 4.5 · 4.25  "));
  EXPECT_THAT(table, HasSubstr("  250,000 (160,000 to 400,000)\n"));
  EXPECT_THAT(table, HasSubstr("none"));
  EXPECT_THAT(table, HasSubstr("the same draw picks another token  8 in a million (7 to 9)\n"));
  EXPECT_THAT(table, HasSubstr("1 of 20000 equal draws\n"));
  Report report = study_report();
  report.study->sampled.reset();
  EXPECT_THAT(table_of(report), Not(HasSubstr("the same draw")));
}

TEST(StudyTable, OfAnOlderReportHasNoSensitivity) {
  Report report = study_report();
  report.study->flips[0].rate.basis.reset();
  const std::string table = table_of(report);
  EXPECT_THAT(table, HasSubstr("4 in a million (2.5 to 6.25)  250,000 (160,000 to 400,000)\n"));
  EXPECT_THAT(table, Not(HasSubstr("closing")));
}

TEST(StudyTable, GivesNoRateWhereItsTestsFail) {
  for (const char* reason : {"density", "symmetry"}) {
    Report report = study_report();
    FlipRate& rate = report.study->flips[0].rate;
    rate.basis->interval = reason;
    rate.flips.low = rate.flips.high = std::nullopt;
    EXPECT_THAT(table_of(report), HasSubstr("not told: " + std::string(reason)));
    EXPECT_THAT(table_of(report), Not(HasSubstr("250,000")));
    EXPECT_THAT(study_verdict(report).details,
                Contains(HasSubstr("no rate of flips can be told: near 0 ")));
  }
}

TEST(StudyVerdict, SaysWhyARateHasNoInterval) {
  Report report = study_report();
  FlipRate& rate = report.study->flips[0].rate;
  rate.basis->interval = "few prompts";
  rate.flips.low = rate.flips.high = std::nullopt;
  EXPECT_THAT(study_verdict(report).details,
              Contains(HasSubstr("would flip a greedy token 4 in a million, one in 250,000 tokens; "
                                 "no interval, since few prompts bear it")));
}

TEST(StepsUntilOne, HaveTwoDigits) {
  EXPECT_EQ(steps_until_one({12.34, {}, {}}), "81,000");
  EXPECT_EQ(steps_until_one({300000, {}, {}}), "3.3");
  EXPECT_EQ(steps_until_one({0.5, 0.25, 1}), "2,000,000 (1,000,000 to 4,000,000)");
  EXPECT_EQ(steps_until_one({0, {}, {}}), "–");
}

TEST(RateInWords, HasThreeDigitsAndNoExponent) {
  EXPECT_EQ(rate_in_words({0.37951, 0.3263, 0.4411}), "0.38 in a million (0.326 to 0.441)");
  EXPECT_EQ(rate_in_words({17557.3, {}, {}}), "17,600 in a million");
  EXPECT_EQ(rate_in_words({1234567, {}, {}}), "1,230,000 in a million");
  EXPECT_EQ(rate_in_words({0, {}, {}}), "none");
}

TEST(StudyVerdict, SaysWhatMovedAndHowFarFromAFlip) {
  const Verdict verdict = study_verdict(study_report());
  EXPECT_EQ(verdict.headline, "tokens changed; 3 distinct sets of gaps in 6 runs");
  EXPECT_THAT(verdict.details, Contains("the upgrade, greedy: 471 of 480 steps, no token"));
  EXPECT_THAT(verdict.details,
              Contains("the upgrade, sampled: 455 of 460 steps, tokens of 1 prompt"));
  EXPECT_THAT(verdict.details, Contains("the upgrade, generic kernels: no bit"));
  EXPECT_THAT(verdict.details, Contains("bits move between 1.10.1 and 1.13.1"));
  EXPECT_THAT(verdict.details,
              Contains("smallest gap 5.00e-04, 2.5 × the largest change of any gap, 2.00e-04"));
  EXPECT_THAT(verdict.details,
              Contains("the upgrade would flip a greedy token 4 in a million (2.5 to 6.25), one in "
                       "250,000 (160,000 to 400,000) tokens; of such text, of which 62 % of the "
                       "steps repeat what went before"));
  EXPECT_THAT(verdict.warnings, Contains("1.12.0 is left out: it isn't in the cache"));
}

TEST(StudyVerdict, OfEqualBuildsIsIdentical) {
  Report report = study_report();
  StudyRecord& study = *report.study;
  for (StudyPair& pair : study.pairs) {
    pair.steps_changed = pair.first_steps_changed = pair.prompts_diverged = 0;
  }
  study.range[2].same_bits = true;
  study.gaps.distinct_sets = 1;
  study.gaps.margin.reset();
  study.flips[0].rate.flips = {};
  EXPECT_EQ(study_verdict(report).headline, "identical; 1 distinct set of gaps in 6 runs");
  EXPECT_THAT(study_verdict(report).details, Contains("bits are equal throughout the range"));
  study.gaps.distinct_sets = 2;
  EXPECT_THAT(study_verdict(report).headline, HasSubstr("same tokens, other bits"));
  study.gaps.continuations_equal = false;
  EXPECT_THAT(study_verdict(report).headline, HasSubstr("tokens changed"));
}

TEST(StudyVerdict, WarnsOfABuildThatDoesNotRepeatItself) {
  Report report = study_report();
  report.builds[2].repeatable = false;
  EXPECT_EQ(table_of(report).rfind(
                "warning  1.13.1 (torch 1.13.1+cu102, 1 thread) doesn't repeat itself", 0),
            0U);
}

TEST(StudySuggestions, LeadToTheOperation) {
  const std::vector<Suggestion> next = suggestions(study_report());
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].command, "driftaudit localize 1.10.1 1.13.1 --threads 4");
}

TEST(StudySuggestions, LeadToTheOriginalsKernelsAndToSampledText) {
  Report report = study_report();
  report.builds[0].cpu_capability = "AVX512";
  EXPECT_EQ(suggestions(report).at(1).command, "driftaudit study --env ATEN_CPU_CAPABILITY=avx2");
  report = study_report();
  report.study->sampled.reset();
  report.study->quick = true;
  report.builds[1].label = "2.0.0";
  report.builds[0].knobs["X_Y"] = "1";
  EXPECT_EQ(suggestions(report).at(1).command,
            "driftaudit study 1.10.1 2.0.0 --env X_Y=1 --quick --tokens-until-flip");
}

TEST(StudySuggestions, KeepThePersonsOwnTexts) {
  Report report = study_report();
  report.study->sampled.reset();
  report.prompts = "my.txt";
  report.study->gaps.openings = "own.txt";
  EXPECT_EQ(suggestions(report).at(1).command,
            "driftaudit study --prompts my.txt --openings own.txt --tokens-until-flip");
}

TEST(StudyMarkdown, HoldsTheTables) {
  const std::string text = report_markdown(study_report());
  EXPECT_EQ(text.rfind("## driftaudit: tokens changed; 3 distinct sets", 0), 0U);
  EXPECT_THAT(text, HasSubstr("the upgrade, greedy, no KV cache"));
}

}  // namespace
}  // namespace drift
