// Which attention real builds compute, from the command line to the report.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/file.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Two short prompts, greedily.
class AttentionProgram : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  ProgramRun run(const std::vector<std::string>& own) {
    write_file(folder() / "prompts.txt", "The capital of France is\nWater boils at\n");
    std::vector<std::string> all = own;
    all.insert(all.end(), {"--model", "mini", "--prompts", "prompts.txt", "--mode", "greedy",
                           "--new-tokens", "4", "--quiet"});
    return run_program(all, folder());
  }
  json read(const std::string& name = "report.json") const {
    return json::parse(read_file(folder() / name));
  }
  /// "sdpa eager" of the report's builds.
  std::string kinds() const {
    std::string kinds;
    const json report = read();
    for (const json& build : report["builds"]) {
      kinds += (kinds.empty() ? "" : " ") + build.value("attention", "eager");
    }
    return kinds;
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(AttentionProgram, IsSdpaBetweenNewBuilds) {
  const ProgramRun audit = run({"audit", newest(), newest(), "--fail-on", "bits"});
  EXPECT_EQ(audit.status, 0) << audit.err << audit.out;
  EXPECT_EQ(kinds(), "sdpa sdpa");
  EXPECT_THAT(audit.out, HasSubstr("  1 thread  sdpa attention  "));
  EXPECT_EQ(read()["builds"][0]["attention_choice"],
            "auto: the default of transformers with these builds");
}

TEST_F(AttentionProgram, IsEagerWhereOneBuildIsOld) {
  const ProgramRun audit = run({"audit", january(), newest()});
  EXPECT_LE(audit.status, 1) << audit.err;
  EXPECT_EQ(kinds(), "eager eager");
  EXPECT_THAT(audit.out, HasSubstr("  eager attention  "));
  EXPECT_THAT(read()["builds"][1]["attention_choice"].get<std::string>(),
              HasSubstr("auto: torch 1.10.1"));
}

TEST_F(AttentionProgram, IsWhatWasAskedForASide) {
  const ProgramRun audit = run({"audit", newest(), newest(), "--attention", "B:eager"});
  EXPECT_LE(audit.status, 1) << audit.err;
  EXPECT_EQ(kinds(), "sdpa eager");
  EXPECT_THAT(audit.out, Not(HasSubstr("driftaudit localize")));
}

TEST_F(AttentionProgram, OfARecordingIsRepeated) {
  const ProgramRun record = run({"record", newest(), "--attention", "eager", "--out", "base.json"});
  ASSERT_EQ(record.status, 0) << record.err;
  ProgramRun audit =
      run_program({"audit", "base.json", newest(), "--fail-on", "bits", "--quiet"}, folder());
  EXPECT_EQ(audit.status, 0) << audit.err << audit.out;
  EXPECT_EQ(kinds(), "eager eager");
  EXPECT_EQ(read()["builds"][1]["attention_choice"], "as in base.json");
  audit = run_program({"audit", "base.json", newest(), "--attention", "sdpa", "--quiet"}, folder());
  EXPECT_LE(audit.status, 1) << audit.err;
  EXPECT_EQ(kinds(), "eager sdpa");
  EXPECT_EQ(read()["warnings"][0], "attention: eager and sdpa");
  EXPECT_THAT(audit.out, StartsWith("warning  the sides ran under different conditions"));
}

TEST_F(AttentionProgram, OfARecordingThatABuildCannotRepeatIsRefused) {
  ASSERT_EQ(run({"record", newest(), "--out", "base.json"}).status, 0);
  const ProgramRun audit = run_program({"audit", "base.json", january(), "--quiet"}, folder());
  EXPECT_EQ(audit.status, 2) << audit.out;
  EXPECT_TRUE(has_one_error_line(audit.err)) << audit.err;
  EXPECT_THAT(audit.err, HasSubstr("the sdpa attention of base.json takes torch 2.1.1 or newer"));
  EXPECT_EQ(
      run_program({"audit", "base.json", january(), "--bisect-run", "--quiet"}, folder()).status,
      125)
      << "B can't run";
}

TEST_F(AttentionProgram, IsAKnobOfSweeps) {
  const ProgramRun sweep =
      run({"sweep", newest(), january(), "--knob", "attention=eager,sdpa", "--out", "report.json"});
  ASSERT_EQ(sweep.status, 0) << sweep.err;
  const json cells = read()["sweep"]["cells"];
  ASSERT_EQ(cells.size(), 4U);
  EXPECT_EQ(cells[0]["state"], "ran");
  EXPECT_EQ(cells[1]["state"], "ran");
  EXPECT_EQ(cells[2]["state"], "ran");
  EXPECT_EQ(cells[3]["state"], "failed");
  EXPECT_THAT(cells[3]["reason"].get<std::string>(),
              HasSubstr("has no sdpa attention, which takes 2.1.1 or newer"));
  EXPECT_EQ(kinds(), "eager sdpa eager");
}

}  // namespace
}  // namespace drift::e2e
