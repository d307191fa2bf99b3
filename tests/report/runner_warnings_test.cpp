#include "report/runner_warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/made_report.hpp"
#include "report/verdict.hpp"

namespace drift {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const DoubtfulSetting kIgnored{"ATEN_CPU_CAPABILITY", "AVX512", "not_honoured",
                               "ATen names avx2 as its kernels"};
const DoubtfulSetting kSilent{"ONEDNN_MAX_CPU_ISA", "AVX2", "unknown", "oneDNN doesn't say"};

std::vector<std::string> warnings_of(const std::vector<BuildRecord>& builds) {
  return runner_warnings(builds,
                         [](std::size_t i) { return std::string(1, static_cast<char>('A' + i)); });
}

TEST(RunnerWarnings, SayEachThingOnceWithThoseThatItIsOf) {
  std::vector<BuildRecord> builds(2);
  EXPECT_THAT(warnings_of(builds), IsEmpty());
  builds[0].doubtful_settings = {kIgnored, kSilent};
  builds[1].doubtful_settings = {kIgnored};
  EXPECT_THAT(
      warnings_of(builds),
      ElementsAre("A and B: ATEN_CPU_CAPABILITY=AVX512 isn't honoured: ATen names avx2 as its "
                  "kernels",
                  "A: whether ONEDNN_MAX_CPU_ISA=AVX2 is honoured can't be known: oneDNN doesn't "
                  "say"));
  builds.resize(9, builds[1]);
  EXPECT_THAT(warnings_of(builds)[0], StartsWith("A, B, C, D and 5 more: "));
}

TEST(RunnerWarnings, ShowWhatALibraryPrintedWithoutItsTimes) {
  std::vector<BuildRecord> builds(2);
  builds[0].log = "[W Context.cpp:42] Warning: ignoring AVX512 (function go)\n\n";
  builds[1].log =
      "[W1130 07:32:10.123456789 Context.cpp:43] Warning: ignoring AVX512 (function go)\n"
      "[W1130 07:32:11.000000000 Context.cpp:43] Warning: ignoring AVX512 (function go)";
  EXPECT_THAT(warnings_of(builds),
              ElementsAre("A and B printed: Warning: ignoring AVX512 (function go)"));
}

TEST(RunnerWarnings, ShowALittleOfMuchAndNoControlCharacters) {
  std::vector<BuildRecord> builds(1);
  builds[0].log = "\x1b[31mone\ntwo\nthree\nfour\nfive\n" + std::string(1000, 'x');
  EXPECT_THAT(warnings_of(builds), ElementsAre("A printed: \\x1b[31mone; two; three; and 3 other "
                                               "lines (the report has them)"));
  builds[0].log = std::string(1000, 'x');
  EXPECT_LT(warnings_of(builds)[0].size(), 300U);
}

TEST(RunnerWarnings, StandInEveryViewBeforeAllElse) {
  for (Report report : {made_report(), kept_report(), bisect_report(), localize_report(),
                        reveal_report(), sweep_report(), rescore_report(), study_report()}) {
    ASSERT_FALSE(report.builds.empty()) << report.kind;
    report.builds[0].doubtful_settings = {kSilent};
    report.builds[0].log = "something odd\n";
    const Verdict verdict = verdict_of(report);
    EXPECT_THAT(verdict.warnings, Contains(HasSubstr("ONEDNN_MAX_CPU_ISA=AVX2"))) << report.kind;
    EXPECT_THAT(verdict.warnings, Contains(HasSubstr(" printed: something odd"))) << report.kind;
    EXPECT_THAT(report_table(report, false, 200), HasSubstr("printed: something odd"))
        << report.kind;
    EXPECT_THAT(report_table(report, false, 200), StartsWith("warning  ")) << report.kind;
    EXPECT_THAT(report_markdown(report), HasSubstr("printed: something odd")) << report.kind;
  }
}

}  // namespace
}  // namespace drift
