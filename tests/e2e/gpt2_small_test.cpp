// What a user of GPT-2 small runs, on a made model of its size: the whole way, in a few tokens.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/file.hpp"
#include "driftaudit/report.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using ::testing::HasSubstr;

/// A made checkpoint of GPT-2 small's sizes, and one prompt.
class Gpt2Small : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::make_unique<TemporaryFolder>(fs::temp_directory_path(), "driftaudit-gpt2");
    write_file(folder_->path() / "prompts.txt", "The capital of France is\n");
    const ProgramRun made = run_program(
        {"model", "make", "--preset", "gpt2-small", "--seed", "7", "--out", "made", "--quiet"},
        folder_->path());
    ASSERT_EQ(made.status, 0) << made.err;
  }
  static void TearDownTestSuite() { folder_.reset(); }

  ProgramRun run(std::vector<std::string> arguments) {
    for (const char* common :
         {"--model", "made", "--prompts", "prompts.txt", "--new-tokens", "4", "--quiet"}) {
      arguments.emplace_back(common);
    }
    return run_program(arguments, folder_->path());
  }

  Report report() const { return read_report(folder_->path() / "report.json"); }

  static std::unique_ptr<TemporaryFolder> folder_;
};

std::unique_ptr<TemporaryFolder> Gpt2Small::folder_;

TEST_F(Gpt2Small, DecodesWhatOnePrefillConfirms) {
  const ProgramRun done = run({"rescore", january(), "--mode", "greedy,sample"});
  EXPECT_EQ(done.status, 0) << done.err << done.out;
  const RescoreRecord record = report().rescore.value();
  EXPECT_EQ(record.scored.size(), 8U);
  EXPECT_TRUE(record.outliers.empty());
}

TEST_F(Gpt2Small, IsSweptAndRescored) {
  const ProgramRun swept = run({"sweep", january(), "--knob", "NOTHING_READS_THIS=,1", "--knob",
                                "cache=on,off", "--one-at-a-time", "--check", "rescore"});
  ASSERT_EQ(swept.status, 0) << swept.err;
  EXPECT_THAT(swept.out, HasSubstr("no request fails"));
  const SweepRecord sweep = report().sweep.value();
  ASSERT_EQ(sweep.cells.size(), 3U);
  for (const SweepCell& cell : sweep.cells) {
    EXPECT_EQ(cell.state, "ran") << cell.reason;
  }
  EXPECT_EQ(sweep.cells[0].digest, sweep.cells[1].digest);
}

}  // namespace
}  // namespace drift::e2e
