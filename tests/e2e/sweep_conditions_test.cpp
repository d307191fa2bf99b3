// The knobs of sweep that are no variables, each on January's build.
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
using ::testing::HasSubstr;

class SweepConditions : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  /// Sweeps mini, with two short answers.
  ProgramRun sweep(const std::vector<std::string>& own, const std::string& faults = "") {
    write_file(folder() / "prompts.txt", "The capital of France is\nOne\n");
    std::vector<std::string> all = {"sweep",     january(),     "--model",      "mini",
                                    "--prompts", "prompts.txt", "--new-tokens", "3"};
    all.insert(all.end(), own.begin(), own.end());
    return run_program(all, folder(), {{"DRIFTAUDIT_TEST_FAULT", faults}});
  }

  json report() const { return json::parse(read_file(folder() / "report.json")); }
  json cell(std::size_t index) const { return report()["sweep"]["cells"][index]; }
  json build_of(std::size_t index) const {
    return report()["builds"][cell(index)["ran_as"].get<std::size_t>()];
  }
  json knob(std::size_t index) const { return report()["sweep"]["knobs"][index]; }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(SweepConditions, AnotherDtypeMovesBits) {
  const ProgramRun run =
      sweep({"--knob", "dtype=float32,bfloat16", "--keep-cells", "cells", "--quiet"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(knob(0)["moves_bits"], true);
  EXPECT_EQ(read_report(folder() / "cells/cell-1.json.zst").settings.dtype, "float32");
  EXPECT_EQ(read_report(folder() / "cells/cell-2.json.zst").settings.dtype, "bfloat16");
}

TEST_F(SweepConditions, CellsRunUnderTheirConditions) {
  const ProgramRun run =
      sweep({"--one-at-a-time", "--knob", "alignment=64,16", "--knob", "interop-threads=1,2",
             "--knob", "denormals=keep,flush", "--knob", "memory-limit=none,512G,1M"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_FALSE(build_of(0).contains("alignment"));
  EXPECT_EQ(build_of(1)["alignment"], 16);
  EXPECT_EQ(build_of(2)["interop_threads"], 2);
  EXPECT_EQ(build_of(3)["flush_denormals"], true);
  EXPECT_EQ(build_of(4)["memory_limit_bytes"], std::uint64_t{512} << 30U);
  EXPECT_EQ(cell(5)["state"], "failed");
  EXPECT_THAT(cell(5)["reason"].get<std::string>(), HasSubstr("a memory limit of 1 MB is below"));
  EXPECT_EQ(knob(1)["moves_bits"], false) << "operations run one after the other";
  EXPECT_EQ(knob(3)["moves_bits"], nullptr) << "with 512 GB nothing fails";
  EXPECT_EQ(knob(3)["idle"]["pairs"], 1);
}

TEST_F(SweepConditions, BusyThreadsBesideACellMoveNothing) {
  const ProgramRun run = sweep({"--knob", "load=0,2", "--quiet"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(knob(0)["moves_bits"], false);
}

TEST_F(SweepConditions, RepeatsMoveNothing) {
  const ProgramRun run = sweep(
      {"--knob", "repeats=1,3", "--mode", "greedy,sample", "--keep-cells", "cells", "--quiet"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(knob(0)["moves_bits"], false);
  const ProgramRun compared =
      run_program({"compare", "cells/cell-1.json.zst", "cells/cell-2.json.zst"}, folder());
  EXPECT_THAT(compared.out, HasSubstr("identical"));
}

TEST_F(SweepConditions, ACellWhoseTimesDifferIsNondeterministic) {
  const ProgramRun run =
      sweep({"--knob", "repeats=1,2", "--keep-cells", "cells"}, "2:bits@op=lm_head,task=1,step=2");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(cell(1)["state"], "nondeterministic");
  EXPECT_EQ(cell(1)["reason"],
            "within one process time 1 and 2 differ from step 2 of prompt 2 (greedy) on");
  EXPECT_EQ(knob(0)["pairs"], 0);
  const Report kept = read_report(folder() / "cells/cell-2.json.zst");
  EXPECT_EQ(kept.builds.at(0).repeatable, false);
  EXPECT_TRUE(kept.warnings.empty());
}

TEST_F(SweepConditions, PromptsOfABatchKeepTheirNumbersWhereverTheyStand) {
  const ProgramRun run = sweep({"--one-at-a-time", "--knob", "batch=2,1", "--knob",
                                "batch-position=0,1", "--keep-cells", "cells"});
  ASSERT_EQ(run.status, 0) << run.err;
  const Report base = read_report(folder() / "cells/cell-1.json.zst");
  const Report alone = read_report(folder() / "cells/cell-2.json.zst");
  const Report turned = read_report(folder() / "cells/cell-3.json.zst");
  EXPECT_EQ(base.settings.batch, 2U);
  EXPECT_EQ(alone.settings.batch, 1U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(turned.runs.at(i).prompt, i + 1);
    EXPECT_EQ(turned.runs[i].prompt_text, base.runs.at(i).prompt_text);
    EXPECT_EQ(turned.runs[i].steps.size(), base.runs[i].steps.size());
  }
}

TEST_F(SweepConditions, AKnobsOptionIsRefused) {
  for (const auto& [knob, option, value] :
       {std::tuple("dtype=float32,bfloat16", "--dtype", "bfloat16"),
        std::tuple("alignment=64,16", "--condition", "alignment=16")}) {
    const ProgramRun run = sweep({"--knob", knob, option, value});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.err, HasSubstr("is set by an option too"));
  }
}

}  // namespace
}  // namespace drift::e2e
