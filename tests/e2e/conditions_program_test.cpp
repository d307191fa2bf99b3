// Other dtypes and conditions, from the command line to the report, on January's build.
#include <bit>
#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/file.hpp"
#include "driftaudit/report.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

class ProgramConditions : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  /// A command on mini with two short prompts.
  ProgramRun run(std::vector<std::string> arguments, const std::string& fault = "") {
    write_file(folder() / "prompts.txt", "The capital of France is\nWater boils at\n");
    const std::vector<std::string> common = {"--model",      "mini", "--prompts", "prompts.txt",
                                             "--new-tokens", "4",    "--quiet"};
    arguments.insert(arguments.end(), common.begin(), common.end());
    return run_program(arguments, folder(), {{"DRIFTAUDIT_TEST_FAULT", fault}});
  }
  ProgramRun record(const std::string& out, std::vector<std::string> own) {
    own.insert(own.begin(), {"record", january(), "--out", out});
    return run(own);
  }
  json read(const std::string& name = "report.json") const {
    return json::parse(read_file(folder() / name));
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(ProgramConditions, ABuildInBFloat16IsIdenticalToItself) {
  const ProgramRun audit = run({"audit", january(), january(), "--dtype", "bfloat16", "--mode",
                                "greedy,sample", "--fail-on", "bits"});
  EXPECT_EQ(audit.status, 0) << audit.err << audit.out;
  const Report report = read_report(folder() / "report.json");
  EXPECT_EQ(report.settings.dtype, "bfloat16");
  EXPECT_EQ(report.summary.verdict, "identical");
  EXPECT_EQ(report.builds.at(0).repeatable, true);
  std::uint64_t ties = 0;
  for (const drift::Run& one : report.runs) {
    for (const Step& step : one.steps) {
      for (const TokenLogit& top : step.top) {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(top.logit) & 0xffffU, 0U) << top.logit;
      }
      if (one.mode == "greedy") {
        EXPECT_EQ(step.token, step.top.at(0).id) << "of equal logits the lowest id";
        ties += one.build == 0 && step.gap == 0 ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(report.summary.ties, ties);
}

TEST_F(ProgramConditions, UlpsCountInStepsOfTheDtype) {
  ASSERT_EQ(run({"audit", january(), january(), "--dtype", "bfloat16", "--mode", "greedy",
                 "--fail-on", "never"},
                "B:bits@op=lm_head,step=1")
                .status,
            0);
  for (const json& prompt : read()["comparison"]["prompts"]) {
    EXPECT_GE(prompt["max_ulp"], 1);
    if (prompt["steps"] == 1 || prompt["steps_changed"] == 1) {
      EXPECT_EQ(prompt["max_ulp"], 1);
    }
  }
}

TEST_F(ProgramConditions, SavedSidesOfOtherDtypesAreWarnedOf) {
  ASSERT_EQ(record("full.json", {}).status, 0);
  ASSERT_EQ(record("coarse.json", {"--dtype", "bfloat16"}).status, 0);
  const ProgramRun compared =
      run_program({"compare", "full.json", "coarse.json", "--out", "report.json", "--fail-on",
                   "never"},  // whether tokens change is the processor's affair
                  folder());
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_THAT(read_report(folder() / "report.json").warnings,
              Contains("dtype: float32 and bfloat16, ULPs are float32's"));
  // What was recorded comes along, and can't be contradicted.
  const ProgramRun audit =
      run_program({"audit", "coarse.json", january(), "--fail-on", "bits", "--quiet"}, folder());
  EXPECT_EQ(audit.status, 0) << audit.err << audit.out;
  EXPECT_EQ(read()["settings"]["dtype"], "bfloat16");
  const ProgramRun refused =
      run_program({"audit", "coarse.json", january(), "--dtype", "float32"}, folder());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--dtype float32 contradicts coarse.json"));
}

TEST_F(ProgramConditions, ADtypeThatABuildLacksIsNamedWithTheOperation) {
  const ProgramRun failed = record("half.json", {"--dtype", "float16"});
  EXPECT_EQ(failed.status, 3);
  EXPECT_TRUE(has_one_error_line(failed.err)) << failed.err;
  EXPECT_THAT(failed.err, AllOf(HasSubstr("operation \""), HasSubstr(" in float16: ")));
  EXPECT_FALSE(fs::exists(folder() / "half.json"));
}

TEST_F(ProgramConditions, OnlyFloat32IsLocalized) {
  const ProgramRun refused = run({"localize", january(), january(), "--dtype", "bfloat16"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--dtype bfloat16: only a float32 pass can be localized"));
}

TEST_F(ProgramConditions, AreRecordedForTheSideThatHasThem) {
  const ProgramRun audit =
      run({"audit", january(), january(), "--condition", "B:alignment=16", "--condition",
           "B:interop-threads=2", "--condition", "denormals=flush", "--fail-on", "never"});
  ASSERT_EQ(audit.status, 0) << audit.err;
  const json builds = read()["builds"];
  EXPECT_FALSE(builds[0].contains("alignment"));
  EXPECT_FALSE(builds[0].contains("interop_threads"));
  EXPECT_EQ(builds[0]["flush_denormals"], true);
  EXPECT_EQ(builds[1]["alignment"], 16);
  EXPECT_EQ(builds[1]["interop_threads"], 2);
  EXPECT_THAT(audit.out, HasSubstr("alignment=16"));
}

TEST_F(ProgramConditions, OfASavedSideComeAlong) {
  ASSERT_EQ(record("aligned.json", {"--condition", "alignment=16"}).status, 0);
  const ProgramRun audit =
      run_program({"audit", "aligned.json", january(), "--fail-on", "bits", "--quiet"}, folder());
  EXPECT_EQ(audit.status, 0) << audit.err << audit.out;
  EXPECT_EQ(read()["builds"][1]["alignment"], 16);
  const ProgramRun other = run_program({"audit", "aligned.json", january(), "--fail-on", "never",
                                        "--quiet", "--condition", "B:alignment=64"},
                                       folder());
  EXPECT_EQ(other.status, 0) << other.err;
  EXPECT_THAT(read_report(folder() / "report.json").warnings,
              Contains("conditions: alignment=16 and none"));
  const ProgramRun refused =
      run_program({"audit", "aligned.json", january(), "--condition", "A:alignment=64"}, folder());
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("side A is saved in aligned.json"));
}

TEST_F(ProgramConditions, AMemoryLimitThatIsTooLowIsNamed) {
  const ProgramRun failed = record("small.json", {"--condition", "memory-limit=1M"});
  EXPECT_EQ(failed.status, 3);
  EXPECT_TRUE(has_one_error_line(failed.err)) << failed.err;
  EXPECT_THAT(failed.err, HasSubstr("a memory limit of 1 MB is below the "));
}

TEST_F(ProgramConditions, ThatAreNoneAreBadUsage) {
  for (const auto& [option, value] :
       {std::pair("--dtype", "float64"), std::pair("--condition", "alignment=3"),
        std::pair("--condition", "load=2"), std::pair("--condition", "alignment")}) {
    const ProgramRun refused = record("none.json", {option, value});
    EXPECT_EQ(refused.status, 2) << value;
    EXPECT_TRUE(has_one_error_line(refused.err)) << refused.err;
  }
}

}  // namespace
}  // namespace drift::e2e
