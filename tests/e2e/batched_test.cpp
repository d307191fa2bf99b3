// --batch through the built program: what runs, what is said of it, what is refused.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/build_store.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/report.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// The eight prompts on mini.
class Batched : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  ProgramRun run(std::vector<std::string> arguments, const std::string& fault = "") {
    return run_program(arguments, folder(), {{"DRIFTAUDIT_TEST_FAULT", fault}});
  }
  ProgramRun record(const std::string& out, const std::vector<std::string>& own) {
    std::vector<std::string> arguments = {"record", january(), "--model", "mini",   "--new-tokens",
                                          "6",      "--out",   out,       "--quiet"};
    arguments.insert(arguments.end(), own.begin(), own.end());
    return run(arguments);
  }
  json read(const std::string& name) const { return json::parse(read_file(folder() / name)); }

  void expect_refused(const std::vector<std::string>& arguments, const std::string& part) {
    const ProgramRun refused = run(arguments);
    EXPECT_EQ(refused.status, 2) << refused.err;
    EXPECT_TRUE(has_one_error_line(refused.err)) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(part));
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

/// What each prompt was answered with, in the report's order.
std::vector<std::string> texts(const json& report) {
  std::vector<std::string> result;
  for (const json& run : report["runs"]) {
    result.push_back(run["mode"].get<std::string>() + ": " + run["text"].get<std::string>());
  }
  return result;
}

TEST_F(Batched, PromptsGetTheAnswersThatTheyGetAlone) {
  ASSERT_EQ(record("alone.json", {"--mode", "greedy"}).status, 0);
  const json alone = read("alone.json");
  EXPECT_FALSE(alone["settings"].contains("batch"));
  for (const std::string size : {"2", "3"}) {
    const ProgramRun recorded = record(size + ".json", {"--mode", "greedy", "--batch", size});
    ASSERT_EQ(recorded.status, 0) << recorded.err;
    const json batched = read(size + ".json");
    EXPECT_EQ(batched["settings"]["batch"], std::stoi(size));
    EXPECT_EQ(batched["builds"][0]["repeatable"], true);
    EXPECT_EQ(batched["runs"].size(), 8U);
    EXPECT_EQ(texts(batched), texts(alone));
    const ProgramRun compared =
        run({"compare", "alone.json", size + ".json", "--out", "compared.json"});
    EXPECT_EQ(compared.status, 0) << compared.err;
    EXPECT_THAT(read("compared.json")["warnings"], ElementsAre("batch: 1 and " + size));
  }
}

TEST_F(Batched, BuildAgreesWithItselfAndWithItsBaseline) {
  const ProgramRun audit = run({"audit", january(), january(), "--model", "mini", "--new-tokens",
                                "4", "--batch", "3", "--fail-on", "bits"});
  EXPECT_EQ(audit.status, 0) << audit.err << audit.out;
  EXPECT_THAT(audit.out, HasSubstr("8 prompts × 4 tokens in batches of 3"));
  const json report = read("report.json");
  EXPECT_EQ(report["summary"]["verdict"], "identical");
  EXPECT_EQ(report["summary"]["steps"], 2 * 8 * 4);

  ASSERT_EQ(record("base.json", {"--batch", "3"}).status, 0);
  const ProgramRun later = run({"audit", "base.json", january(), "--fail-on", "bits", "--quiet"});
  EXPECT_EQ(later.status, 0) << later.err << later.out;
  EXPECT_EQ(read("report.json")["settings"]["batch"], 3) << "brought by the saved side";
  expect_refused({"audit", "base.json", january(), "--batch", "2"},
                 "--batch 2 contradicts base.json, which was recorded with 3");
  expect_refused({"audit", "base.json", january(), "--on-divergence", "force"},
                 "can't be fed another side's tokens");
}

TEST_F(Batched, SwappedCacheRowsAreADivergenceOfTheirTwoPrompts) {
  const ProgramRun audit = run({"audit", january(), january(), "--model", "mini", "--new-tokens",
                                "4", "--mode", "greedy", "--batch", "3"},
                               "B:swap@task=3,step=2");
  EXPECT_LE(audit.status, 1) << audit.err;
  const json report = read("report.json");
  for (const json& prompt : report["comparison"]["prompts"]) {
    const int number = prompt["prompt"];
    if (number == 4 || number == 5) {
      EXPECT_EQ(prompt["first_changed_step"], 2) << number;
    } else {
      EXPECT_EQ(prompt["first_changed_step"], nullptr) << number;
    }
  }
  EXPECT_THAT(audit.out, Not(HasSubstr("driftaudit localize")));
  EXPECT_THAT(audit.out, HasSubstr("--batch 3"));
}

TEST_F(Batched, SwappedAnswersAreNamedAsSuch) {
  ASSERT_EQ(record("alone.json", {"--mode", "greedy"}).status, 0);
  const ProgramRun recorded =
      run({"record", january(), "--model", "mini", "--new-tokens", "6", "--mode", "greedy",
           "--batch", "3", "--out", "batched.json", "--quiet"},
          "A:swap-frames@task=3");
  ASSERT_EQ(recorded.status, 0) << recorded.err;
  const ProgramRun compared = run({"compare", "alone.json", "batched.json"});
  EXPECT_THAT(compared.out,
              HasSubstr("swapped answers (greedy): on side B prompts 4 and 5 have each other's"));
}

TEST_F(Batched, BisectionAsksForAPromptWithItsBatch) {
  const Build build = open_build(january(), {}, *make_silent_progress());
  for (const char* name : {"v1", "v2", "v3"}) {
    fs::create_directory_symlink(build.library_folder.parent_path(), folder() / name);
  }
  write_file(folder() / "builds.txt", "v1\nv2\nv3\n");
  write_file(folder() / "prompts.txt", "Water boils at\nThe capital of France is\nOne\n");
  const ProgramRun found = run({"bisect", "--builds", "builds.txt", "--model", "mini", "--prompts",
                                "prompts.txt", "--new-tokens", "4", "--batch", "2"},
                               "v2:bits@op=lm_head,step=3|v3:bits@op=lm_head,step=3");
  ASSERT_EQ(found.status, 0) << found.err;
  EXPECT_THAT(found.out, HasSubstr("the bits change with v2"));
  EXPECT_EQ(read("report.json")["bisect"]["part"],
            json::parse(R"({"mode": "greedy", "prompt": 3, "steps": 3})"));
}

TEST_F(Batched, RefusesWhatABatchCannotDo) {
  const std::string build = january();
  expect_refused({"audit", build, build, "--batch", "2", "--on-divergence", "force"},
                 "--batch 2 and --on-divergence force");
  expect_refused({"localize", build, build, "--batch", "2"},
                 "--batch 2: one prompt is traced, which runs alone");
  expect_refused({"record", build, "--out", "a.json", "--batch", "0"}, "--batch");
  write_file(folder() / "text.txt", "One two three.\n");
  expect_refused(
      {"record", build, "--out", "a.json", "--batch", "2", "--mode", "score", "--text", "text.txt"},
      "--batch: windows of a text are scored alone");
  expect_refused({"bisect", "1.10.1", "1.13.1", "--probe", "softmax", "--batch", "2"},
                 "--batch: --probe asks no model");
  EXPECT_FALSE(fs::exists(folder() / "a.json"));
}

}  // namespace
}  // namespace drift::e2e
