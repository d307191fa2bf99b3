#include "report/bisect_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/made_report.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kWidth = 120;

std::string table_of(const Report& report) { return report_table(report, false, kWidth); }

/// The line of the table that begins with a build.
std::string row_of(const std::string& table, const std::string& label) {
  const std::size_t at = table.find("\n" + label + " ");
  EXPECT_NE(at, std::string::npos) << label << " in\n" << table;
  return table.substr(at + 1, table.find('\n', at + 1) - at - 1);
}

/// The same with one boundary, found without --all.
Report plain_bisection() {
  Report report = bisect_report();
  BisectRecord& bisect = *report.bisect;
  bisect.all = false;
  bisect.boundaries.resize(1);
  return report;
}

TEST(BisectTable, HasARowForEveryBuildOfTheRange) {
  const std::string table = table_of(bisect_report());
  EXPECT_THAT(row_of(table, "1.10.1"), HasSubstr("2021-12-15"));
  EXPECT_THAT(row_of(table, "1.10.1"), HasSubstr("A      everything"));
  EXPECT_THAT(row_of(table, "1.10.2"), HasSubstr("(A)    nothing, assumed"));
  EXPECT_THAT(row_of(table, "1.12.0"), HasSubstr("B      everything"));
  EXPECT_THAT(row_of(table, "1.12.1"), HasSubstr("not A  a part"));
  EXPECT_THAT(row_of(table, "1.13.0"), HasSubstr("–      skipped: its runner doesn't compile"));
  EXPECT_THAT(row_of(table, "1.13.1"), HasSubstr("C      everything"));
}

TEST(BisectTable, TellsWhatWasAsked) {
  const std::string table = table_of(bisect_report());
  EXPECT_THAT(table, HasSubstr("model mini (the hub is out of reach) · 4 layers · 4.3 M parameters"
                               " · prompts eight × 60 tokens · greedy, by bits\n"));
}

TEST(BisectTable, ShowsKernelsAndBlasOfBuildsThatRan) {
  Report report = bisect_report();
  report.builds.resize(1);
  report.builds[0].label = "1.12.0";
  report.builds[0].cpu_capability = "AVX2";
  const std::string table = table_of(report);
  EXPECT_THAT(row_of(table, "1.12.0"), HasSubstr("avx2     MKL 2020.0"));
  EXPECT_THAT(row_of(table, "1.10.2"), Not(HasSubstr("avx2")));
}

TEST(BisectTable, MarksTheBuildsThatAChangeCameWith) {
  const std::string table = report_table(bisect_report(), true, kWidth);
  EXPECT_THAT(table, HasSubstr("\x1b[31m1.12.0\x1b[0m"));
  EXPECT_THAT(table, HasSubstr("\x1b[31m1.13.1\x1b[0m"));
  EXPECT_THAT(table, Not(HasSubstr("\x1b[31m1.11.0\x1b[0m")));
}

TEST(BisectTable, SaysNothingOfTheAttentionOfAnOperationByItself) {
  Report report = bisect_report();
  report.bisect->operation = "softmax";
  report.settings.modes = {"operation"};
  for (BuildRecord& build : report.builds) {
    build.torch = "2.8.0";
  }
  const std::string table = table_of(report);
  EXPECT_THAT(table, HasSubstr("does it reach the tokens of a model?\n"));
  EXPECT_THAT(table, Not(HasSubstr("attention")));
}

TEST(BisectVerdict, NamesEveryChangeAndWhatIsProved) {
  const Verdict verdict = bisect_verdict(bisect_report());
  EXPECT_EQ(verdict.headline, "the bits change 2 times: with 1.12.0; with one of 1.13.0, 1.13.1");
  EXPECT_EQ(verdict.details.at(0),
            "proved: 1.11.0 and 1.12.0 were asked everything and differ, "
            "and nothing lies between them");
  EXPECT_EQ(verdict.details.at(1),
            "1.12.0 and 1.13.1 were asked everything and differ; what lies "
            "between couldn't be run: 1.13.0");
  EXPECT_THAT(verdict.details, ::testing::Contains("class A: 1.10.1, 1.11.0"));
  EXPECT_THAT(verdict.details, ::testing::Contains(HasSubstr("assumed, not asked")));
}

TEST(BisectVerdict, OfOneChangeSaysWhatStillEqualsTheFirst) {
  const Verdict verdict = bisect_verdict(plain_bisection());
  EXPECT_EQ(verdict.headline, "the bits change with 1.12.0");
  EXPECT_THAT(verdict.details.at(0), HasSubstr("; 1.11.0 still equals 1.10.1"));
  EXPECT_EQ(verdict_sentence(plain_bisection()).rfind("the bits change with 1.12.0: proved", 0),
            0U);
}

TEST(BisectVerdict, PointsToTheAuditOfTheBoundary) {
  Report report = plain_bisection();
  report.builds[0].label = "1.11.0";
  report.builds[1].label = "1.12.0";
  const Verdict verdict = bisect_verdict(report);
  EXPECT_THAT(verdict.next.at(0).command,
              HasSubstr("driftaudit audit 1.11.0 1.12.0 --mode greedy"));
  EXPECT_THAT(verdict.next.at(2).command, HasSubstr("--all"));
}

TEST(BisectVerdict, OfEqualEndsPointsToAll) {
  Report report = plain_bisection();
  report.bisect->boundaries.clear();
  report.bisect->ends_equal = true;
  Verdict verdict = bisect_verdict(report);
  EXPECT_EQ(verdict.headline, "1.10.1 and 1.13.1 are equal");
  EXPECT_THAT(verdict.next.at(0).command, HasSubstr("--all"));
  report.bisect->all = true;
  verdict = bisect_verdict(report);
  EXPECT_EQ(verdict.headline, "1.10.1 and 1.13.1 are equal, and no change was found between them");
  EXPECT_THAT(verdict.next.at(0).command, HasSubstr("--exhaustive"));
}

TEST(BisectVerdict, SpeaksOfItsMeasure) {
  Report report = plain_bisection();
  report.bisect->measure = "tokens";
  EXPECT_EQ(bisect_verdict(report).headline, "the tokens change with 1.12.0");
  report.bisect->measure = "max-logit-diff";
  report.bisect->max_logit_diff = 0.001;
  EXPECT_EQ(bisect_verdict(report).headline, "logits change by more than 0.001 with 1.12.0");
}

TEST(BisectTable, OfAnOperationNamesNoModel) {
  Report report = plain_bisection();
  report.bisect->operation = "softmax";
  report.builds[0].label = "1.11.0";
  report.builds[1].label = "1.12.0";
  const std::string table = table_of(report);
  EXPECT_THAT(table, ::testing::StartsWith("operation softmax, by bits\n"));
  EXPECT_THAT(table, HasSubstr("the bits of softmax change with 1.12.0"));
  EXPECT_THAT(table, HasSubstr("does it reach the tokens"));
  EXPECT_THAT(table, HasSubstr("driftaudit audit 1.11.0 1.12.0 --mode greedy\n"));
  EXPECT_THAT(table, Not(HasSubstr("--model")));
}

TEST(BisectMarkdown, HoldsTheTable) {
  const std::string text = report_markdown(bisect_report());
  EXPECT_THAT(text, HasSubstr("## driftaudit: the bits change 2 times"));
  EXPECT_THAT(text, HasSubstr("\n```\nmodel mini"));
  EXPECT_THAT(text, HasSubstr("skipped: its runner doesn't compile"));
}

TEST(ClassName, GoesOnPastTheAlphabet) {
  EXPECT_EQ(class_name(0), "A");
  EXPECT_EQ(class_name(25), "Z");
  EXPECT_EQ(class_name(26), "AA");
  EXPECT_EQ(class_name(53), "BB");
}

}  // namespace
}  // namespace drift
