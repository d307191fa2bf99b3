// Sweeps from their command line to their report, over one real build.
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
using ::testing::HasSubstr;
using ::testing::Not;

/// Sweeps the January build on mini, with two short answers.
class SweepProgram : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  std::vector<std::string> arguments(const std::vector<std::string>& own) {
    write_file(folder() / "prompts.txt", "The capital of France is\nOne\n");
    std::vector<std::string> all = {"sweep", january()};
    all.insert(all.end(), own.begin(), own.end());
    for (const char* common :
         {"--model", "mini", "--prompts", "prompts.txt", "--new-tokens", "4"}) {
      all.emplace_back(common);
    }
    return all;
  }

  ProgramRun sweep(const std::vector<std::string>& own, const std::string& faults = "") {
    return run_program(arguments(own), folder(), {{"DRIFTAUDIT_TEST_FAULT", faults}});
  }

  json result() const { return json::parse(read_file(folder() / "report.json"))["sweep"]; }

  json knob(const std::string& name) const {
    const json sweep = result();
    for (const json& each : sweep["knobs"]) {
      if (each["name"] == name) {
        return each;
      }
    }
    ADD_FAILURE() << "no knob " << name;
    return {};
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(SweepProgram, FindsThatVectorKernelsMoveBitsUnderAvx2) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const ProgramRun run = sweep({"--knob", "ATEN_CPU_CAPABILITY=avx2,default", "--knob",
                                "NOTHING_READS_THIS=,1", "--jobs", "2"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(knob("ATEN_CPU_CAPABILITY")["moves_bits"], true);
  EXPECT_EQ(knob("ATEN_CPU_CAPABILITY")["pairs_bits"], 2);
  EXPECT_EQ(knob("NOTHING_READS_THIS")["moves_bits"], false);
  EXPECT_EQ(knob("NOTHING_READS_THIS")["pairs"], 2);
  EXPECT_EQ(result()["classes"].size(), 2U);
  EXPECT_THAT(run.out, HasSubstr("moved nothing: NOTHING_READS_THIS"));
  EXPECT_THAT(run.out, HasSubstr("driftaudit audit "));
  EXPECT_EQ(read_report(folder() / "report.json").kind, "sweep");
}

TEST_F(SweepProgram, PutsCellsApartThatAreNotHonoured) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "on this CPU ATen has the default kernels whatever it is asked for";
  }
  const ProgramRun run =
      sweep({"--one-at-a-time", "--knob", "ATEN_CPU_CAPABILITY=avx2,default,DEFAULT", "--knob",
             "ATEN_CPU_CAPABILTY=,default", "--knob", "batch-position=0,1"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json cells = result()["cells"];
  for (const std::size_t apart : {2U, 3U}) {
    EXPECT_EQ(cells[apart]["state"], "not_honoured");
    EXPECT_EQ(cells[apart]["class"], nullptr);
  }
  EXPECT_THAT(cells[2]["reason"].get<std::string>(),
              HasSubstr("ATEN_CPU_CAPABILITY=DEFAULT isn't honoured, ATen names avx"));
  EXPECT_THAT(cells[3]["reason"].get<std::string>(),
              HasSubstr("did you mean ATEN_CPU_CAPABILITY?"));
  EXPECT_EQ(knob("ATEN_CPU_CAPABILITY")["pairs"], 1);
  EXPECT_EQ(knob("ATEN_CPU_CAPABILITY")["moves_bits"], true);
  EXPECT_EQ(knob("ATEN_CPU_CAPABILTY")["moves_bits"], nullptr);
  EXPECT_EQ(knob("batch-position")["moves_bits"], nullptr);
  EXPECT_EQ(knob("batch-position")["idle"]["pairs"], 1);
  EXPECT_EQ(run.out.rfind("warning  cell 3 ", 0), 0U) << run.out;
  const std::string out = unwrapped(run.out);
  EXPECT_THAT(out, HasSubstr("nothing to act on: batch-position"));
  EXPECT_THAT(out, HasSubstr("nothing to compare: ATEN_CPU_CAPABILTY"));
  EXPECT_THAT(out, Not(HasSubstr("moved nothing")));
}

TEST_F(SweepProgram, ComparesPromptsByTheirNumberInWhateverOrderTheyRan) {
  const ProgramRun run = sweep({"--knob", "prompt-order=given,reversed", "--mode", "greedy,sample",
                                "--keep-cells", "cells"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(knob("prompt-order")["moves_bits"], false) << run.out;
  const ProgramRun compared =
      run_program({"compare", "cells/cell-1.json.zst", "cells/cell-2.json.zst"}, folder());
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("identical"));
}

TEST_F(SweepProgram, NamesACellThatDiffersFromItselfAndOneThatCrashes) {
  const ProgramRun run = sweep({"--knob", "NOTHING_READS_THIS=,1,2,3"},
                               "2:noise@op=lm_head|3:kill@step=2|4:bits@op=lm_head");
  ASSERT_EQ(run.status, 0) << run.err;
  const json cells = result()["cells"];
  EXPECT_EQ(cells[0]["state"], "ran");
  EXPECT_EQ(cells[1]["state"], "nondeterministic");
  EXPECT_EQ(cells[2]["state"], "failed");
  EXPECT_THAT(cells[2]["reason"].get<std::string>(), HasSubstr("signal 9"));
  EXPECT_EQ(run.out.rfind("warning  cell 2 ", 0), 0U) << run.out;
  EXPECT_EQ(knob("NOTHING_READS_THIS")["pairs"], 1);
  EXPECT_EQ(knob("NOTHING_READS_THIS")["moves_bits"], true) << "the planted change of cell 4";
}

TEST_F(SweepProgram, IsAnErrorWhereEveryCellFails) {
  const ProgramRun run =
      sweep({"--quiet", "--knob", "NOTHING_READS_THIS=,1"}, "1:kill@step=1|2:kill@step=1");
  EXPECT_EQ(run.status, 3);
  EXPECT_TRUE(has_one_error_line(run.err)) << run.err;
  EXPECT_THAT(run.err, HasSubstr("every cell failed"));
  EXPECT_FALSE(fs::exists(folder() / "report.json"));
}

TEST_F(SweepProgram, GoesOnWhereItWasInterrupted) {
  const std::vector<std::string> own = {"--knob", "NOTHING_READS_THIS=,1,2"};
  ChildProcess child(
      program_command(arguments(own), folder(),
                      {{"DRIFTAUDIT_TEST_FAULT", "1:bits@op=lm_head|2:kill@step=1|3:hang"}}),
      {ChildProcess::Stream::kNull, ChildProcess::Stream::kNull, ChildProcess::Stream::kPipe});
  std::string seen;
  char byte = 0;
  while (seen.find("cell 2 failed") == std::string::npos && ::read(child.err(), &byte, 1) == 1) {
    seen += byte;
  }
  ::kill(child.pid(), SIGINT);
  EXPECT_EQ(child.wait().exit_code, 130) << seen;

  // Without the fault in cell 1 its kept runs are all that tells it from the others.
  const ProgramRun again = sweep(own);
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("going on where an earlier run stopped: 2 runs are at hand"));
  EXPECT_EQ(result()["classes"].size(), 2U);
  EXPECT_EQ(result()["cells"][1]["state"], "ran") << "a failed cell is tried again";

  EXPECT_THAT(sweep(own).err, Not(HasSubstr("going on")));
  EXPECT_EQ(result()["classes"].size(), 1U);
}

TEST_F(SweepProgram, RefusesBadUsage) {
  const auto refusal = [&](const std::vector<std::string>& own) {
    const ProgramRun run = sweep(own);
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_TRUE(has_one_error_line(run.err)) << run.err;
    return run.err;
  };
  EXPECT_THAT(refusal({}), HasSubstr("takes a knob or a preset"));
  EXPECT_THAT(refusal({"--knob", "thread=1,2"}), HasSubstr("no such knob"));
  EXPECT_THAT(refusal({"--knob", "threads=1"}), HasSubstr("two or more"));
  EXPECT_THAT(refusal({january(), "--knob", "threads=1,2"}), HasSubstr("is named twice"));
  EXPECT_THAT(refusal({"old.json", "--knob", "threads=1,2"}), HasSubstr("a saved report"));
  EXPECT_THAT(refusal({"--preset", "gpu"}), HasSubstr("--preset"));
  EXPECT_THAT(refusal({"--knob", "threads=1,2", "--threads", "2"}), HasSubstr("by an option too"));
  EXPECT_THAT(refusal({"--knob", "cache=on,off", "--no-cache"}), HasSubstr("by an option too"));
  EXPECT_THAT(refusal({"--knob", "X_Y=,1", "--env", "X_Y=2"}), HasSubstr("by an option too"));
  EXPECT_THAT(refusal({"--knob", "threads=1,2", "--env", "B:A=1"}), HasSubstr("no sides"));
  EXPECT_THAT(refusal({"--knob", "threads=1,2", "--on-divergence", "force"}),
              HasSubstr("--on-divergence"));
  EXPECT_THAT(refusal({"--knob", "threads=1,2", "--keep-top", "9"}), HasSubstr("--keep-cells"));
  EXPECT_THAT(refusal({"--knob", "threads=1,2", "--jobs", "0"}), HasSubstr("--jobs"));
  EXPECT_THAT(refusal({"--knob", "threads=1,2", "--check", "nothing"}), HasSubstr("--check"));
  EXPECT_THAT(refusal({"--knob", "threads=1,2", "--outlier", "1"}), HasSubstr("--check rescore"));
  EXPECT_THAT(refusal({"--knob", "threads=1,2", "--product", "--one-at-a-time"}),
              HasSubstr("--product"));
}

TEST_F(SweepProgram, SaysWhichRequestFailsAndThatTheCacheMovesIt) {
  const ProgramRun run =
      sweep({"--knob", "cache=on,off", "--knob", "threads=1,2", "--check", "rescore"},
            "1:mask@task=1,from=3|2:mask@task=1,from=3|3:mask@task=1,from=3|4:mask@task=1,from=3");
  ASSERT_EQ(run.status, 0) << run.err;
  const json cells = result()["cells"];
  for (const json& cell : cells) {
    const json& failing = cell["rescored"]["failing"];
    if (cell["knobs"]["cache"] == "off") {
      EXPECT_TRUE(failing.empty()) << failing;
      continue;
    }
    ASSERT_EQ(failing.size(), 1U);
    EXPECT_EQ(failing[0]["prompt"], 2);
    EXPECT_EQ(failing[0]["first_step"], 3);
  }
  EXPECT_EQ(knob("cache")["failures"]["pairs_moved"], 2);
  EXPECT_EQ(knob("threads")["failures"]["pairs_moved"], 0);
  EXPECT_THAT(run.out, HasSubstr("requests fail in 2 of 4 cells, moved by cache"));
}

TEST_F(SweepProgram, HoldsFailuresToAGivenLimit) {
  const std::vector<std::string> knob = {"--knob", "X_Y=,1", "--check", "rescore", "--outlier"};
  std::vector<std::string> strict = knob;
  strict.emplace_back("0");
  ASSERT_EQ(sweep(strict).status, 0);
  const json failing = result()["cells"][0]["rescored"]["failing"];
  EXPECT_FALSE(failing.empty()) << "decoding and prefill add in other orders";
  std::vector<std::string> lax = knob;
  lax.emplace_back("100");
  ASSERT_EQ(sweep(lax, "1:mask|2:mask").status, 0);
  EXPECT_TRUE(result()["cells"][0]["rescored"]["failing"].empty());
}

TEST_F(SweepProgram, FindsNoFailureInASoundBuild) {
  const ProgramRun run =
      sweep({"--knob", "threads=1,2", "--check", "rescore", "--mode", "greedy,sample", "--quiet"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("no request fails"));
}

}  // namespace
}  // namespace drift::e2e
