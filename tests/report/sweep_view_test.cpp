#include "report/sweep_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/made_report.hpp"

namespace drift {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t kWidth = 120;

std::string table_of(const Report& report) { return report_table(report, false, kWidth); }

/// A sweep without rescoring.
Report unchecked_report() {
  Report report = sweep_report();
  for (SweepCell& cell : report.sweep->cells) {
    cell.rescore.reset();
  }
  for (SweepKnob& knob : report.sweep->knobs) {
    knob.failures.reset();
  }
  return report;
}

TEST(SweepTable, HasARowForEveryCell) {
  const std::string table = table_of(sweep_report());
  EXPECT_THAT(table, HasSubstr("· greedy, 5 cells, two runs each\n"
                               "base  threads=1 · MKL_CBWR unset · cache=on\n"));
  EXPECT_THAT(table,
              HasSubstr("\n   1  1.10.1  base           avx2, MKL zen   A                 none\n"));
  EXPECT_THAT(
      table,
      HasSubstr("\n   2  1.10.1  threads=2      avx2, MKL avx2  B                 2 requests\n"));
  EXPECT_THAT(table, HasSubstr("nondeterministic  –\n"));
  EXPECT_THAT(table, HasSubstr("–               failed            –\n"));
}

TEST(SweepTable, SaysHowManyPairsEachKnobMoved) {
  const std::string table = table_of(sweep_report());
  EXPECT_THAT(table, HasSubstr("threads       1  in 1        in 1\n"));
  EXPECT_THAT(table, HasSubstr("MKL_CBWR      1  in none     in none\n"));
  EXPECT_THAT(table, HasSubstr("cache         0  –           –\n"));
}

TEST(SweepTable, WarnsBeforeAllElse) {
  const std::string table = table_of(sweep_report());
  EXPECT_EQ(table.rfind("warning  cell 4 (1.10.1, MKL_CBWR=AVX) doesn't repeat itself: ", 0), 0U)
      << table;
  EXPECT_LT(table.find("warning  cell 5 (1.10.1, MKL_CBWR=SSE2) failed: killed"),
            table.find("model mini"));
}

TEST(SweepTable, ShowsTheFirstCellsOfMany) {
  Report report = sweep_report();
  report.sweep->cells.resize(100, report.sweep->cells[0]);
  EXPECT_THAT(table_of(report), HasSubstr("… and 36 cells: see the report\n"));
}

TEST(SweepVerdict, SaysWhatMovedAndByWhichPairs) {
  const Verdict verdict = sweep_verdict(unchecked_report());
  EXPECT_EQ(verdict.headline,
            "moved bits and tokens: threads; moved nothing: MKL_CBWR; nothing to act on: cache");
  EXPECT_EQ(
      verdict.details.at(0),
      "threads: bits and tokens differ in the one pair of cells that differs in it alone; "
      "the earliest token: \" the\" became \"\\n\" at prompt 2, step 3 (greedy), cells 1 and 2; "
      "other kernels: avx2, MKL zen in cell 1, avx2, MKL avx2 in cell 2");
  EXPECT_EQ(verdict.details.at(1), "threads is known to split sums");
  EXPECT_EQ(verdict.details.at(2), "threads, not measured here: a manual: it shares work out");
  EXPECT_EQ(verdict.details.at(3),
            "MKL_CBWR: bits are equal in the one pair of cells that differs in it alone");
  EXPECT_EQ(verdict.details.at(4), "MKL_CBWR is known to pin paths");
  EXPECT_EQ(verdict.details.at(5),
            "cache: it had nothing to act on in 1 pair: no step follows another");
  EXPECT_THAT(verdict.details, Contains("class A: cells 1, 3"));
  EXPECT_EQ(verdict.details.back(),
            "all on " + unchecked_report().host.cpu + "; another processor may take other kernels");
}

TEST(SweepVerdict, PutsACellApartWhoseSettingIsNotHonoured) {
  Report report = unchecked_report();
  SweepCell& cell = report.sweep->cells[3];
  cell.state = "not_honoured";
  cell.reason = "MKL_CBWR=AVX isn't honoured, MKL 2020.0.0 names auto as its branch";
  report.builds[3].doubtful_settings = {
      {"MKL_CBWR", "AVX", "not_honoured", "MKL 2020.0.0 names auto as its branch"},
      {"ONEDNN_MAX_CPU_ISA", "AVX2", "unknown", "oneDNN doesn't say"}};
  report.builds[1].log = "[W a.cpp:1] Warning: odd\n";
  const Verdict verdict = sweep_verdict(report);
  EXPECT_EQ(verdict.warnings.at(0),
            "cell 4 (1.10.1, MKL_CBWR=AVX) doesn't run as asked: MKL_CBWR=AVX isn't honoured, MKL "
            "2020.0.0 names auto as its branch; nothing is concluded from it");
  EXPECT_THAT(verdict.warnings,
              Contains("cell 4: whether ONEDNN_MAX_CPU_ISA=AVX2 is honoured can't be known: oneDNN "
                       "doesn't say"));
  EXPECT_THAT(verdict.warnings, Contains("cell 2 printed: Warning: odd"));
  EXPECT_THAT(verdict.warnings, ::testing::SizeIs(4)) << "and the cell that failed";
  EXPECT_THAT(table_of(report), HasSubstr("not honoured\n"));
}

TEST(SweepVerdict, TellsAKnobWithNothingToActOnFromOneThatMovedNothing) {
  Report report = unchecked_report();
  report.sweep->knobs[1].idle = SweepIdle{2, "no mode samples"};
  EXPECT_THAT(sweep_verdict(report).headline, HasSubstr("moved nothing: MKL_CBWR;"));
  EXPECT_THAT(sweep_verdict(report).details,
              Contains("MKL_CBWR: besides, it had nothing to act on in 2 pairs: no mode samples"));
}

TEST(SweepVerdict, SaysWhichKernelsTheLibrariesNamed) {
  Report report = unchecked_report();
  report.sweep->knobs[1].pairs_kernels = 0;
  const Verdict verdict = sweep_verdict(report);
  EXPECT_THAT(verdict.details.at(0),
              HasSubstr("; other kernels: avx2, MKL zen in cell 1, avx2, MKL avx2 in cell 2"));
  EXPECT_THAT(verdict.details.at(3), HasSubstr("; both cells name the same kernels"));
  report.sweep->knobs[0].pairs = 3;
  report.sweep->knobs[1].pairs = 3;
  EXPECT_THAT(sweep_verdict(report).details.at(0), HasSubstr("; other kernels in 1 of them: "));
  EXPECT_THAT(sweep_verdict(report).details.at(3),
              HasSubstr("; the cells of each pair name the same kernels"));
}

TEST(SweepVerdict, TellsBitsFromTokens) {
  Report report = unchecked_report();
  report.sweep->knobs[0].moves_tokens = false;
  report.sweep->knobs[0].pairs_tokens = 0;
  report.sweep->knobs[0].first_token_change.reset();
  EXPECT_THAT(sweep_verdict(report).headline, HasSubstr("moved bits, no token: threads;"));
  EXPECT_THAT(sweep_verdict(report).details.at(0), HasSubstr("bits differ in the one pair"));
  report.sweep->knobs[0].pairs = 3;
  EXPECT_THAT(sweep_verdict(report).details.at(0),
              HasSubstr("threads: bits differ in 1 of 3 pairs of cells that differ in it alone, "
                        "tokens in none; "));
}

TEST(SweepVerdict, SaysWhichRequestsFailAndWhatMovesThat) {
  const Verdict verdict = sweep_verdict(sweep_report());
  EXPECT_THAT(verdict.headline,
              StartsWith("requests fail in 1 of 3 cells, moved by threads; moved bits"));
  EXPECT_EQ(
      verdict.details.at(0),
      "cell 2 fails: greedy prompt 2 from step 5 on, greedy prompt 4 at step 7, every 3 steps "
      "(its tokens answer prompt 6); every 2 requests, the first is 2");
  EXPECT_EQ(verdict.details.at(1),
            "threads moves what fails, in 1 of 1 pair: cells 1 and 2 are the first");
  EXPECT_EQ(verdict.details.at(2), "MKL_CBWR doesn't move what fails, in 1 pair");
}

TEST(SweepVerdict, SaysThatNothingFails) {
  Report report = sweep_report();
  report.sweep->cells[1].rescore = report.sweep->cells[0].rescore;
  EXPECT_THAT(sweep_verdict(report).headline, StartsWith("no request fails; moved bits"));
  EXPECT_THAT(sweep_verdict(report).details.at(0), HasSubstr("that one prefill gives"));
}

TEST(SweepVerdict, IsSilentAboutFailuresUnlessTheyWereLookedFor) {
  const Report report = unchecked_report();
  EXPECT_THAT(table_of(report), Not(HasSubstr("failing")));
  EXPECT_THAT(sweep_verdict(report).headline, StartsWith("moved bits"));
}

TEST(SweepVerdict, PointsToTheAuditOfTwoCells) {
  Report report = sweep_report();
  report.builds[1].threads = 2;
  const Verdict verdict = sweep_verdict(report);
  ASSERT_EQ(verdict.next.size(), 1U);
  EXPECT_THAT(verdict.next[0].question, HasSubstr("by how much does threads move the logits"));
  EXPECT_THAT(verdict.next[0].command, HasSubstr("driftaudit audit 1.10.1 1.10.1"));
  EXPECT_THAT(verdict.next[0].command, HasSubstr("--threads B:2"));
}

TEST(SweepVerdict, PointsToNoAuditThatWouldDifferOtherwise) {
  Report report = sweep_report();
  report.sweep->cells[1].knobs["cache"] = "off";
  EXPECT_THAT(sweep_verdict(report).next, IsEmpty());
  report.sweep->cells[0].knobs["cache"] = "off";
  EXPECT_THAT(sweep_verdict(report).next.at(0).command, HasSubstr("--no-cache"));
}

TEST(SweepMarkdown, HoldsTheTable) {
  const std::string markdown = report_markdown(sweep_report());
  EXPECT_EQ(markdown.rfind("## driftaudit: requests fail in 1 of 3 cells", 0), 0U);
  EXPECT_THAT(markdown, HasSubstr("```\nwarning  cell 4"));
}

}  // namespace
}  // namespace drift
