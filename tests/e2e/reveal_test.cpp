// The order of additions of real kernels, from the command line to the report. What is asserted of
// AVX2 kernels holds on every CPU that has it; elsewhere only that what is called proved replays.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/build_store.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/operation_kernels.hpp"
#include "driftaudit/report.hpp"
#include "driftaudit/standalone_operation.hpp"
#include "driftaudit/tree_proof.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kAvx2 = "ATEN_CPU_CAPABILITY=avx2";
constexpr const char* kSerialFold =
    "(((((((0+8)+(1+9))+(2+10))+(3+11))+(4+12))+(5+13))+(6+14))+(7+15)";
constexpr const char* kTreeFold =
    "(((0+8)+(4+12))+((2+10)+(6+14)))+(((1+9)+(5+13))+((3+11)+(7+15)))";

class Reveal : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  ProgramRun reveal(std::vector<std::string> own,
                    const std::map<std::string, std::string>& variables = {}) {
    own.insert(own.begin(), "reveal");
    return run_program(own, folder(), variables);
  }

  json trees() const { return result()["trees"]; }
  json result() const { return json::parse(read_file(folder() / "r.json"))["reveal"]; }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(Reveal, ProvesBothFoldsOfSoftmaxUnderAvx2) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const ProgramRun run = reveal({"softmax", january(), december(), "--length", "16", "--env", kAvx2,
                                 "--out", "r.json", "--svg", "tree.svg", "--markdown", "r.md"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(trees()[0]["tree"], kSerialFold);
  EXPECT_EQ(trees()[1]["tree"], kTreeFold);
  for (const json& tree : trees()) {
    EXPECT_EQ(tree["status"], "proved");
    EXPECT_EQ(tree["proved_rows"], 1000);
    EXPECT_EQ(tree["exponential"], "sleef_expf8_u10");
    EXPECT_EQ(tree["finish"], "times the sum's reciprocal");
  }
  EXPECT_EQ(result()["comparisons"][0]["same"], false);
  EXPECT_EQ(result()["comparisons"][0]["proved"], true);
  EXPECT_THAT(run.out, HasSubstr("softmax adds in another order at 16 elements"));
  EXPECT_EQ(result()["comparisons"][0]["words"],
            january() + " folds its 8 lanes one after the other; " + december() +
                " 4 apart, 2 apart, then neighbours");
  EXPECT_THAT(read_file(folder() / "tree-A-16.svg"), HasSubstr("<svg"));
  EXPECT_NE(read_file(folder() / "tree-A-16.svg"), read_file(folder() / "tree-B-16.svg"));
  EXPECT_THAT(read_file(folder() / "r.md"), HasSubstr("softmax adds in another order"));
  const ProgramRun shown = run_program({"show", "r.json"}, folder());
  EXPECT_THAT(run.out, HasSubstr(shown.out)) << "a saved report shows the same";
}

TEST_F(Reveal, WouldNotProveTheOtherFold) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const auto progress = make_silent_progress();
  const Build build = open_build(january(), {}, *progress);
  RunnerLaunch launch;
  launch.label = build.label;
  launch.program = open_runner(build, *progress).program;
  launch.environment =
      runner_environment(current_environment(), {{"ATEN_CPU_CAPABILITY", "avx2"}}).variables;
  StandaloneOperation softmax(launch, "softmax");
  StandaloneOperation exponential(launch, "sleef_expf8_u10");
  const auto proof_of = [&](const char* tree) {
    const Exponential own{"sleef_expf8_u10", rows_of(std::ref(exponential))};
    return prove_softmax(rows_of(std::ref(softmax)), tree_from_text(tree), std::span(&own, 1),
                         softmax_finishes());
  };
  EXPECT_TRUE(proof_of(kSerialFold).proved());
  const Proof wrong = proof_of(kTreeFold);
  EXPECT_FALSE(wrong.proved()) << wrong.proved_rows << " rows";
  EXPECT_GT(wrong.proved_rows, 0U) << "of many rows the bits are the same by chance";
}

TEST_F(Reveal, ProvesNoOrderThatAFaultHasMoved) {
  const ProgramRun run = reveal({"softmax", january(), "--length", "16", "--out", "r.json"},
                                {{"DRIFTAUDIT_TEST_FAULT", "A:bits@op=softmax"}});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(trees()[0]["status"], "proved");
  EXPECT_THAT(run.out, HasSubstr("no order of softmax is proved"));
}

TEST_F(Reveal, SaysWhatIsThereOnGenericKernels) {
  const ProgramRun run = reveal({"softmax", january(), december(), "--length", "5,16", "--env",
                                 "ATEN_CPU_CAPABILITY=default", "--out", "r.json"});
  ASSERT_EQ(run.status, 0) << run.err;
  ASSERT_EQ(trees().size(), 4U);
  for (const json& tree : trees()) {
    const bool proved = tree["status"] == "proved";
    EXPECT_EQ(proved, tree["proved_rows"] == tree["rows"] && tree["rows"] == 1000) << tree;
    EXPECT_TRUE(proved || tree["note"] != "" || tree["why_not"] != "") << tree;
  }
  EXPECT_EQ(read_report(folder() / "r.json").kind, "reveal");
}

TEST_F(Reveal, ProvesSumMeanAndDotProducts) {
  for (const char* operation : {"sum", "mean", "dot", "matmul"}) {
    const ProgramRun run =
        reveal({operation, january(), "--length", "1,9", "--rows", "50", "--out", "r.json"});
    ASSERT_EQ(run.status, 0) << run.err;
    for (const json& tree : trees()) {
      EXPECT_EQ(tree["status"] == "proved", tree["proved_rows"] == 50) << tree;
      EXPECT_NE(tree["status"], "not a sum") << tree;
    }
  }
}

TEST_F(Reveal, HasNoTreeForLayerNorm) {
  const ProgramRun run =
      reveal({"layer_norm", january(), "--length", "2,16,100", "--out", "r.json"});
  ASSERT_EQ(run.status, 0) << run.err;
  for (const json& tree : trees()) {
    EXPECT_EQ(tree["tree"], "");
    EXPECT_EQ(tree["status"], tree["length"] == 2 ? "not explained" : "not a sum");
  }
  EXPECT_THAT(run.out, HasSubstr("running moments"));
  EXPECT_THAT(run.out, HasSubstr("layer_norm isn't one sum"));
}

TEST_F(Reveal, PrintsTheReportAlone) {
  const ProgramRun run =
      reveal({"sum", january(), "--length", "3", "--json", "--dot", "tree.dot", "--quiet"});
  ASSERT_EQ(run.status, 0) << run.err;
  const json report = json::parse(run.out);
  EXPECT_EQ(report["kind"], "reveal");
  EXPECT_EQ(report["reveal"]["trees"].size(), 1U);
  EXPECT_FALSE(report.contains("model"));
  EXPECT_THAT(read_file(folder() / "tree.dot"), HasSubstr("digraph"));
  EXPECT_EQ(run.err, "");
}

TEST_F(Reveal, RefusesBadUsage) {
  const auto refusal = [&](const std::vector<std::string>& own) {
    const ProgramRun run = reveal(own);
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_TRUE(has_one_error_line(run.err)) << run.err;
    return run.err;
  };
  EXPECT_THAT(refusal({"softmix", "1.10.1"}), HasSubstr("one of softmax, sum, mean"));
  EXPECT_THAT(refusal({"softmax"}), HasSubstr("builds is required"));
  EXPECT_THAT(refusal({"softmax", "9.9.9"}), HasSubstr("9.9.9: unknown release"));
  EXPECT_THAT(refusal({"softmax", "1.10.1", "--length", "0"}), HasSubstr("from 1 to 8192"));
  EXPECT_THAT(refusal({"softmax", "1.10.1", "--length", "8193"}), HasSubstr("from 1 to 8192"));
  EXPECT_THAT(refusal({"softmax", "1.10.1", "--length", "8,8"}), HasSubstr("named twice"));
  EXPECT_THAT(refusal({"softmax", "base.json"}), HasSubstr("a saved report has no kernels"));
  EXPECT_THAT(refusal({"softmax", "1.10.1", "--shape", "2x2"}), HasSubstr("only matmul"));
  EXPECT_THAT(refusal({"matmul", "1.10.1", "--shape", "2x0"}), HasSubstr("--shape 2x0"));
  EXPECT_THAT(refusal({"dot", "1.10.1", "--rows-per-call", "4"}), HasSubstr("row by row"));
  EXPECT_THAT(refusal({"sum", "a", "b", "c", "--env", "B:X=1"}), HasSubstr("leave out A: and B:"));
  EXPECT_THAT(refusal({"sum", "1.10.1", "--svg", "x", "--dot", "x"}),
              HasSubstr("would be written over another file"));
}

}  // namespace
}  // namespace drift::e2e
