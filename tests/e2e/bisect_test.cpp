// Bisection from its command line to its report: over real releases, and over a list of folders
// that are one real build with faults planted in some of them.
#include <chrono>
#include <csignal>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/build_store.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/report.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

/// Runs bisections on mini, with a few short answers.
class Bisect : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  std::vector<std::string> arguments(std::vector<std::string> own) {
    write_file(folder() / "prompts.txt", "The capital of France is\nOne\n");
    own.insert(own.begin(), "bisect");
    for (const char* common :
         {"--model", "mini", "--prompts", "prompts.txt", "--new-tokens", "6"}) {
      own.emplace_back(common);
    }
    return own;
  }

  ProgramRun bisect(const std::vector<std::string>& own, const std::string& faults = "") {
    return run_program(arguments(own), folder(), {{"DRIFTAUDIT_TEST_FAULT", faults}});
  }

  json result() const { return json::parse(read_file(folder() / "report.json"))["bisect"]; }

  /// A list of builds v1, v2, …, all of them the January build.
  void list_builds(std::size_t count) {
    const Build build = open_build(january(), {}, *make_silent_progress());
    std::string lines;
    for (std::size_t i = 1; i <= count; ++i) {
      const std::string name = "v" + std::to_string(i);
      fs::create_directory_symlink(build.library_folder.parent_path(), folder() / name);
      lines += name + "\n";
    }
    write_file(folder() / "builds.txt", lines);
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(Bisect, FindsTheReleaseThatChangedTheBitsUnderAvx2) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const ProgramRun run =
      bisect({"1.10.1", "1.13.1", "--keep", "--env", "ATEN_CPU_CAPABILITY=avx2"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("the bits change with 1.12.0\n"));
  EXPECT_THAT(run.out, HasSubstr("driftaudit audit 1.11.0 1.12.0"));
  EXPECT_THAT(run.err, HasSubstr("at most "));
  EXPECT_EQ(result()["boundaries"],
            json::parse(R"([{"before": "1.11.0", "after": "1.12.0", "proved": true,
                             "between": []}])"));
  EXPECT_EQ(result()["classes"], json::parse(R"([["1.10.1", "1.11.0"], ["1.12.0", "1.13.1"]])"));
  EXPECT_EQ(result()["assumed"], json::parse(R"(["1.10.2"])"));
  EXPECT_EQ(result()["part"]["mode"], "greedy");
  EXPECT_EQ(read_report(folder() / "report.json").kind, "bisect");
}

TEST_F(Bisect, SaysThatTheEndsAreEqualOnGenericKernels) {
  const ProgramRun run =
      bisect({"1.10.1", "1.13.1", "--keep", "--env", "ATEN_CPU_CAPABILITY=default"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("1.10.1 and 1.13.1 are equal\n"));
  EXPECT_THAT(run.out, HasSubstr("--all"));
  EXPECT_EQ(result()["ends_equal"], true);
  EXPECT_EQ(result()["boundaries"], json::array());
  EXPECT_EQ(result()["probes"], 2);
}

TEST_F(Bisect, FindsTheChangedBuildOfAList) {
  list_builds(6);
  const ProgramRun run = bisect({"--builds", "builds.txt"},
                                "v4:bits@op=lm_head,step=3|v5:bits@op=lm_head,step=3|"
                                "v6:bits@op=lm_head,step=3");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("the bits change with v4"));
  EXPECT_EQ(result()["part"], json::parse(R"({"mode": "greedy", "prompt": 2, "steps": 3})"))
      << "the shorter prompt, up to the change";
  EXPECT_TRUE(fs::exists(folder() / "v1")) << "a folder is never removed";
}

TEST_F(Bisect, GoesOnWhenTheCheapestPartIsBlindToTheChange) {
  list_builds(6);
  const ProgramRun run =
      bisect({"--builds", "builds.txt"},
             "v2:bits@op=lm_head,step=5|v3:bits@op=lm_head,step=5|v4:bits@op=lm_head,step=5|"
             "v5:bits@op=lm_head|v6:bits@op=lm_head");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("the bits change with v2"));
}

TEST_F(Bisect, FindsEveryChangeWithAll) {
  list_builds(6);
  const std::string faults = "v2:bits@op=lm_head|v3:bits@op=lm_head|v6:bits@op=lm_head,step=2";
  const ProgramRun run = bisect({"--builds", "builds.txt", "--all", "--exhaustive"}, faults);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("the bits change 3 times: with v2; with v4; with v6"));
  EXPECT_EQ(result()["classes"], json::parse(R"([["v1", "v4", "v5"], ["v2", "v3"], ["v6"]])"));
  EXPECT_EQ(result()["candidates"][0]["digest"], result()["candidates"][3]["digest"]);
  EXPECT_NE(result()["candidates"][0]["digest"], result()["candidates"][1]["digest"]);
}

TEST_F(Bisect, ByTokensSeesNoChangeOfBits) {
  list_builds(3);
  const std::string faults = "v2:second@step=2|v3:second@step=2;bits@op=lm_head,step=1";
  ASSERT_EQ(bisect({"--builds", "builds.txt", "--measure", "tokens"}, faults).status, 0);
  EXPECT_EQ(result()["boundaries"][0]["after"], "v2");
  EXPECT_EQ(result()["measure"], "tokens");
  EXPECT_EQ(result()["classes"], json::parse(R"([["v1"], ["v2", "v3"]])"));
}

TEST_F(Bisect, ByLogitsSeesNoSmallChange) {
  list_builds(3);
  const std::string faults = "v2:bits@op=lm_head|v3:second@step=2";
  ASSERT_EQ(bisect({"--builds", "builds.txt", "--max-logit-diff", "0.01", "--all"}, faults).status,
            0);
  EXPECT_EQ(result()["ends_equal"], true) << "another token of the same logits";
  EXPECT_EQ(result()["boundaries"], json::array());
  EXPECT_EQ(result()["max_logit_diff"], 0.01);
  ASSERT_EQ(bisect({"--builds", "builds.txt", "--max-logit-diff", "0", "--all"}, faults).status, 0);
  EXPECT_EQ(result()["boundaries"].size(), 2U);
}

TEST_F(Bisect, OfOneOperationFindsWhereItChanged) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const auto probe = [&](const std::string& operation) {
    return run_program({"bisect", "1.10.1", "1.13.1", "--keep", "--probe", operation, "--env",
                        "ATEN_CPU_CAPABILITY=avx2"},
                       folder());
  };
  const ProgramRun softmax = probe("softmax");
  ASSERT_EQ(softmax.status, 0) << softmax.err;
  EXPECT_THAT(softmax.out, HasSubstr("the bits of softmax change with 1.12.0\n"));
  EXPECT_THAT(softmax.out, HasSubstr("driftaudit audit 1.11.0 1.12.0 --mode greedy --env"));
  EXPECT_EQ(result()["operation"], "softmax");
  EXPECT_EQ(read_report(folder() / "report.json").bisect->operation, "softmax");
  const ProgramRun add = probe("add");
  ASSERT_EQ(add.status, 0) << add.err;
  EXPECT_EQ(result()["ends_equal"], true) << "one rounded addition has one result";
}

TEST_F(Bisect, OfOneOperationSkipsABuildThatDoesNotRepeatItself) {
  list_builds(3);
  const ProgramRun run =
      run_program({"bisect", "--builds", "builds.txt", "--probe", "softmax"}, folder(),
                  {{"DRIFTAUDIT_TEST_FAULT", "v2:noise@op=softmax|v3:bits@op=softmax"}});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("the bits of softmax change with one of v2, v3"));
  EXPECT_THAT(result()["skipped"][0]["reason"].get<std::string>(), HasSubstr("repeat"));
}

TEST_F(Bisect, SkipsWhatCannotRun) {
  list_builds(5);
  fs::remove(folder() / "v2");
  const ProgramRun run =
      bisect({"--builds", "builds.txt"}, "v3:kill|v4:noise@op=lm_head|v5:bits@op=lm_head");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("with one of v2, v3, v4, v5"));
  const json skipped = result()["skipped"];
  ASSERT_EQ(skipped.size(), 3U);
  EXPECT_THAT(skipped[0]["reason"].get<std::string>(), HasSubstr("no such"));
  EXPECT_THAT(skipped[1]["reason"].get<std::string>(), ::testing::StartsWith("v3: "));
  EXPECT_THAT(skipped[1]["reason"].get<std::string>(), HasSubstr("signal 9"));
  EXPECT_THAT(skipped[2]["reason"].get<std::string>(), HasSubstr("doesn't repeat itself"));
  EXPECT_EQ(result()["boundaries"][0]["proved"], false);
}

TEST_F(Bisect, IsRefusedWhenAnEndCannotRun) {
  list_builds(3);
  const ProgramRun run = bisect({"--builds", "builds.txt"}, "v3:kill");
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.err, HasSubstr("error: "));
  EXPECT_THAT(run.err, HasSubstr("v3"));
  EXPECT_THAT(run.err, HasSubstr("hint: both ends of the range have to run"));
  EXPECT_FALSE(fs::exists(folder() / "report.json"));
}

/// Reads the child's stderr until `text` has come.
std::string read_until(const ChildProcess& child, const std::string& text) {
  std::string seen;
  char piece[256];
  while (seen.find(text) == std::string::npos) {
    const ssize_t got = ::read(child.err(), piece, sizeof piece);
    if (got <= 0) {
      ADD_FAILURE() << "no \"" << text << "\" in: " << seen;
      break;
    }
    seen.append(piece, static_cast<std::size_t>(got));
  }
  return seen;
}

TEST_F(Bisect, GoesOnWhereItWasInterrupted) {
  list_builds(5);
  const std::vector<std::string> command = arguments({"--builds", "builds.txt"});
  const std::string changed = "|v4:bits@op=lm_head|v5:bits@op=lm_head";
  ChildProcess child(
      program_command(command, folder(), {{"DRIFTAUDIT_TEST_FAULT", "v3:hang" + changed}}),
      {ChildProcess::Stream::kNull, ChildProcess::Stream::kNull, ChildProcess::Stream::kPipe});
  read_until(child, "v3: asking");
  ::kill(child.pid(), SIGINT);
  EXPECT_THAT(read_until(child, "hint: "), HasSubstr("error: "));
  EXPECT_EQ(child.wait().exit_code, 130);

  // Without the fault in v5 its kept answer is all that tells it from v1.
  const ProgramRun again = bisect({"--builds", "builds.txt"}, "|v4:bits@op=lm_head");
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("going on where an earlier run stopped: 2 answers"));
  EXPECT_THAT(again.out, HasSubstr("the bits change with v4"));

  const ProgramRun anew = bisect({"--builds", "builds.txt"}, "|v4:bits@op=lm_head");
  EXPECT_THAT(anew.err, Not(HasSubstr("going on")));
  EXPECT_THAT(anew.out, HasSubstr("v1 and v5 are equal"));
}

TEST_F(Bisect, RefusesBadUsage) {
  const auto refusal = [&](const std::vector<std::string>& own) {
    const ProgramRun run = bisect(own);
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_TRUE(has_one_error_line(run.err)) << run.err;
    return run.err;
  };
  EXPECT_THAT(refusal({"1.10.1"}), HasSubstr("first and the last release"));
  EXPECT_THAT(refusal({}), HasSubstr("--builds FILE"));
  EXPECT_THAT(refusal({"1.13.1", "1.10.1"}), HasSubstr("driftaudit bisect 1.10.1 1.13.1"));
  EXPECT_THAT(refusal({"1.10.1", "9.9.9"}), HasSubstr("9.9.9: unknown release"));
  EXPECT_THAT(refusal({"1.10.1", "1.13.1", "--exhaustive"}), HasSubstr("add --all"));
  EXPECT_THAT(refusal({"1.10.1", "1.13.1", "--env", "B:A=1"}), HasSubstr("leave out A: and B:"));
  EXPECT_THAT(refusal({"1.10.1", "1.13.1", "--threads", "A:2"}), HasSubstr("leave out A: and B:"));
  EXPECT_THAT(refusal({"1.10.1", "1.13.1", "--max-logit-diff", "-1"}), HasSubstr("-1"));
  EXPECT_THAT(refusal({"1.10.1", "1.13.1", "--max-logit-diff", "1", "--measure", "bits"}),
              HasSubstr("--measure"));
  EXPECT_THAT(refusal({"1.10.1", "1.13.1", "--probe", "soft"}), HasSubstr("softmax"));
  EXPECT_THAT(refusal({"1.10.1", "1.13.1", "--probe", "softmax"}),
              HasSubstr("--model: --probe asks no model"));
  EXPECT_THAT(refusal({"--builds", "missing.txt"}), HasSubstr("missing.txt"));
  write_file(folder() / "builds.txt", "one\none\n");
  EXPECT_THAT(refusal({"--builds", "builds.txt"}), HasSubstr("builds.txt:2: one stands in line 1"));
  EXPECT_THAT(refusal({"--builds", "builds.txt", "--out", "builds.txt"}),
              HasSubstr("would be written over another file"));
}

}  // namespace
}  // namespace drift::e2e
