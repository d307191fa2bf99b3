// Studies from their command line to their report, over two real builds.
#include <csignal>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/file.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/report.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Studies of mini with two prompts and three openings of a few tokens.
class StudyProgram : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  std::vector<std::string> arguments(const std::vector<std::string>& own) {
    write_file(folder() / "prompts.txt",
               "The capital of France is\nQ: What is 17 times 23?\\nA:\n");
    write_file(folder() / "openings.txt",
               "Alice was beginning to get very tired of\nI shall be late\nDo cats eat bats\n");
    std::vector<std::string> all = {"study"};
    all.insert(all.end(), own.begin(), own.end());
    for (const char* common :
         {"--model", "mini", "--prompts", "prompts.txt", "--new-tokens", "3", "--openings",
          "openings.txt", "--opening-tokens", "4", "--ignore-eos"}) {
      all.emplace_back(common);
    }
    return all;
  }

  /// Between January and December.
  ProgramRun study(std::vector<std::string> own, const std::string& faults = "") {
    own.insert(own.begin(), {january(), december()});
    return run_program(arguments(own), folder(),
                       {{"DRIFTAUDIT_TEST_FAULT", faults}, {"OMP_WAIT_POLICY", "passive"}});
  }

  json result() const { return json::parse(read_file(folder() / "report.json"))["study"]; }

  /// Steps that changed of the pair, with the KV cache.
  static std::uint64_t changed(const json& study, const std::string& what,
                               const std::string& mode = "greedy") {
    for (const json& pair : study["pairs"]) {
      if (pair["what"] == what && pair["mode"] == mode && pair["cache"] == true) {
        return pair["steps_changed"].get<std::uint64_t>();
      }
    }
    ADD_FAILURE() << "no pair " << what;
    return 0;
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(StudyProgram, FindsUnderAvx2WhatTheOriginalFound) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const ProgramRun run = study({"--env", "ATEN_CPU_CAPABILITY=avx2", "--quick",
                                "--tokens-until-flip", "--markdown", "study.md"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json found = result();
  EXPECT_GT(changed(found, "upgrade"), 0U);
  EXPECT_GT(changed(found, "upgrade", "sample"), 0U);
  EXPECT_GT(changed(found, "kernels"), 0U);
  EXPECT_EQ(changed(found, "generic upgrade"), 0U);
  const json& gaps = found["gaps"];
  EXPECT_EQ(gaps["prompts"], 3);
  EXPECT_EQ(gaps["tokens"], 4) << "an option that is given goes before --quick's own";
  EXPECT_EQ(gaps["runs"].size(), 6U);
  EXPECT_EQ(gaps["runs"][1]["set"], gaps["runs"][2]["set"]) << "December twice";
  EXPECT_EQ(gaps["runs"][4]["set"], gaps["runs"][5]["set"]) << "both on generic kernels";
  EXPECT_NE(gaps["runs"][0]["set"], gaps["runs"][1]["set"]);
  EXPECT_GE(gaps["distinct_sets"], 3);
  EXPECT_EQ(gaps["runs"][0]["steps"], 12);
  EXPECT_EQ(found["range"].size(), 2U);
  EXPECT_EQ(found["range"][1]["same_bits"], false);
  EXPECT_EQ(found["sampled"]["steps"], 12);
  EXPECT_EQ(found["sampled"]["same_draws"], 12);
  EXPECT_GT(found["sampled"]["mean_total_variation"], 0);
  const ProgramRun shown = run_program({"show", "report.json"}, folder());
  EXPECT_EQ(shown.out, run.out.substr(0, run.out.find("report   ")));
  EXPECT_THAT(read_file(folder() / "study.md"), HasSubstr("distinct sets of gaps"));
}

TEST_F(StudyProgram, OfTheSameBuildTwiceHasOneSetOnOneKindOfKernels) {
  const ProgramRun run =
      run_program(arguments({january(), january()}), folder(), {{"OMP_WAIT_POLICY", "passive"}});
  ASSERT_EQ(run.status, 0) << run.err;
  const json found = result();
  EXPECT_EQ(changed(found, "upgrade"), 0U);
  EXPECT_EQ(found["range"][1]["same_bits"], true);
  const json& runs = found["gaps"]["runs"];
  EXPECT_EQ(runs[0]["set"], runs[1]["set"]);
  EXPECT_EQ(runs[0]["set"], runs[2]["set"]);
  EXPECT_EQ(runs[4]["set"], runs[5]["set"]);
  EXPECT_EQ(found["flips"][0]["rate"]["changed"], 0);
  EXPECT_EQ(found["flips"][0]["rate"]["flips"]["high"], nullptr);
}

TEST_F(StudyProgram, ShowsPlantedFaultsWhereTheyWerePlanted) {
  const std::string build = january();
  const auto with = [&](const std::string& faults) {
    const ProgramRun run =
        run_program(arguments({build, build, "--between", december()}), folder(),
                    {{"DRIFTAUDIT_TEST_FAULT", faults}, {"OMP_WAIT_POLICY", "passive"}});
    EXPECT_EQ(run.status, 0) << run.err;
    return result();
  };
  const json bits = with("last:bits@op=block.0.attn.softmax");
  EXPECT_EQ(changed(bits, "upgrade"), 6U);
  EXPECT_EQ(bits["pairs"][0]["prompts_diverged"], 0);
  EXPECT_EQ(bits["pairs"][0]["first_steps_changed"], 2);
  EXPECT_NE(bits["gaps"]["runs"][1]["set"], bits["gaps"]["runs"][2]["set"]);
  EXPECT_EQ(bits["gaps"]["continuations_equal"], true);
  EXPECT_GT(bits["gaps"]["largest_change"]["value"], 0);

  const json second = with("last, 1 thread:second@step=2|last again:noise@op=block.0.attn.softmax");
  EXPECT_EQ(json::parse(read_file(folder() / "report.json"))["builds"][1]["repeatable"], false);
  EXPECT_EQ(second["gaps"]["continuations_equal"], false);
  for (const json& pair : second["pairs"]) {
    EXPECT_EQ(pair["prompts_diverged"], pair["what"] == "threads" ? 2 : 0) << pair;
  }
  EXPECT_EQ(second["flips"][2]["rate"]["steps"], 6) << "up to the changed token";
}

TEST_F(StudyProgram, LeavesOutBuildsBetweenThatCannotBeHad) {
  const ProgramRun run = study({"--between", "no-such-build", "--offline"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(result()["range"][1]["ran_as"], nullptr);
  EXPECT_THAT(result()["range"][1]["reason"].get<std::string>(), HasSubstr("no-such-build"));
  EXPECT_EQ(run.out.rfind("warning  no-such-build is left out: ", 0), 0U) << run.out;
}

TEST_F(StudyProgram, GoesOnWhereItWasInterrupted) {
  // A seed of its own: what a killed test has left is another study's.
  const std::vector<std::string> own = {january(), january(), "--seed", std::to_string(::getpid())};
  ChildProcess child(
      program_command(
          arguments(own), folder(),
          {{"DRIFTAUDIT_TEST_FAULT", "first:bits@op=block.0.attn.softmax|first, generic:hang"},
           {"OMP_WAIT_POLICY", "passive"}}),
      {ChildProcess::Stream::kNull, ChildProcess::Stream::kNull, ChildProcess::Stream::kPipe});
  std::string seen;
  char byte = 0;
  while (seen.find("part 3 of 5: generic kernels") == std::string::npos &&
         ::read(child.err(), &byte, 1) == 1) {
    seen += byte;
  }
  ::kill(child.pid(), SIGINT);
  EXPECT_EQ(child.wait().exit_code, 130) << seen;
  EXPECT_FALSE(fs::exists(folder() / "report.json"));

  // Without the fault only what was kept tells the first from the last.
  const ProgramRun again = run_program(arguments(own), folder(), {{"OMP_WAIT_POLICY", "passive"}});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("going on where an earlier run stopped: "));
  EXPECT_GT(changed(result(), "upgrade"), 0U);
  EXPECT_EQ(result()["gaps"]["runs"][0]["set"], result()["gaps"]["runs"][1]["set"]);

  EXPECT_THAT(run_program(arguments(own), folder(), {{"OMP_WAIT_POLICY", "passive"}}).err,
              Not(HasSubstr("going on")));
  EXPECT_EQ(changed(result(), "upgrade"), 0U);
}

TEST_F(StudyProgram, RefusesBadUsage) {
  const auto refusal = [&](const std::vector<std::string>& own) {
    const ProgramRun run = study(own);
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_TRUE(has_one_error_line(run.err)) << run.err;
    EXPECT_FALSE(fs::exists(folder() / "report.json"));
    return run.err;
  };
  EXPECT_THAT(refusal({"third"}), HasSubstr("two builds or none, not 3"));
  EXPECT_THAT(refusal({"--between", january()}), HasSubstr("is named twice"));
  EXPECT_THAT(refusal({"--between", "1.12.0,1.12.0"}), HasSubstr("is named twice"));
  EXPECT_THAT(refusal({"--between", "old.json"}), HasSubstr("a saved report"));
  for (const std::vector<std::string>& own :
       std::vector<std::vector<std::string>>{{"--mode", "greedy"},
                                             {"--no-cache"},
                                             {"--on-divergence", "force"},
                                             {"--keep-top", "9"},
                                             {"--batch", "2"}}) {
    EXPECT_THAT(refusal(own), HasSubstr(own[0] + ": a study"));
  }
  EXPECT_THAT(refusal({"--threads", "1"}), HasSubstr("compares one thread with several"));
  EXPECT_THAT(refusal({"--threads", "A:2"}), HasSubstr("run alike"));
  EXPECT_THAT(refusal({"--env", "B:X_Y=1"}), HasSubstr("run alike"));
  EXPECT_THAT(refusal({"--env", "ATEN_CPU_CAPABILITY=default"}),
              HasSubstr("compares generic kernels with others"));
  EXPECT_THAT(refusal({"--tokens-until-flip", "--top-k", "0"}), HasSubstr("--tokens-until-flip"));
}

TEST_F(StudyProgram, RefusesOpeningsThatAreNotThere) {
  const auto refusal = [&](const std::string& option, const std::string& value) {
    const ProgramRun run =
        run_program({"study", january(), january(), "--model", "mini", option, value}, folder());
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_TRUE(has_one_error_line(run.err)) << run.err;
    return run.err;
  };
  EXPECT_THAT(refusal("--openings", "missing.txt"), HasSubstr("missing.txt"));
  EXPECT_THAT(refusal("--opening-tokens", "0"), HasSubstr("--opening-tokens: "));
}

}  // namespace
}  // namespace drift::e2e
