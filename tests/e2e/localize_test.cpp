// Localization from its command line to its report: real builds, and one build with faults planted.
#include <string>
#include <vector>

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
using ::testing::Not;

constexpr const char* kArithmetic = "Q: What is 17 times 23?\\nA:";

/// Localizes on mini.
class Localize : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  ProgramRun localize(std::vector<std::string> own, const std::string& faults = "") {
    own.insert(own.begin(), "localize");
    own.insert(own.end(), {"--model", "mini", "--quiet"});
    return run_program(own, folder(), {{"DRIFTAUDIT_TEST_FAULT", faults}});
  }

  /// The report, which must be there.
  LocalizeRecord record() const {
    const Report report = read_report(folder() / "report.json");
    EXPECT_EQ(report.kind, "localize");
    return report.localize.value_or(LocalizeRecord{});
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

const LocalizedOperation& operation_of(const LocalizeRecord& record, const std::string& name) {
  for (const LocalizedOperation& operation : record.operations) {
    if (operation.name == name) {
      return operation;
    }
  }
  throw std::logic_error("no operation " + name);
}

TEST_F(Localize, NamesSoftmaxFromEightElementsOnUnderAvx2) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const ProgramRun run = localize(
      {january(), december(), "--env", "ATEN_CPU_CAPABILITY=avx2", "--prompt", kArithmetic});
  ASSERT_EQ(run.status, 0) << run.err;
  const LocalizeRecord found = record();
  EXPECT_EQ(found.step, 1U);
  EXPECT_EQ(found.first_difference, "block.0.attn.softmax");
  EXPECT_THAT(found.own, ::testing::ElementsAre("block.0.attn.softmax", "block.1.attn.softmax",
                                                "block.2.attn.softmax", "block.3.attn.softmax"));
  for (const LocalizedOperation& operation : found.operations) {
    EXPECT_TRUE(operation.own.has_value()) << operation.name << " isn't replayable";
    EXPECT_EQ(operation.own == true, operation.name.ends_with("attn.softmax")) << operation.name;
    EXPECT_EQ(operation.own_change.has_value(), operation.own == true) << operation.name;
    EXPECT_GT(operation.own_change.value_or(OwnChange{1, 1}).max_ulp, 0U) << operation.name;
  }
  ASSERT_EQ(found.growth.size(), 7U);
  EXPECT_EQ(found.growth[0].max_abs_diff, 0) << "the embeddings";
  EXPECT_GT(found.growth[1].max_abs_diff, 0) << "block 0";
  ASSERT_EQ(found.isolation.size(), 1U);
  EXPECT_EQ(found.isolation[0].lengths_same, (std::vector<LengthRange>{{1, 7}}));
  EXPECT_EQ(found.isolation[0].lengths_differ, (std::vector<LengthRange>{{8, 4097}}));
  EXPECT_GT(found.isolation[0].share_differ.value_or(0), 0.1);
  for (const IsolationCondition& condition : found.isolation[0].conditions) {
    EXPECT_TRUE(condition.moves_a.empty() && condition.moves_b.empty()) << condition.condition;
  }
  EXPECT_THAT(found.compare, HasSubstr("https://github.com/pytorch/pytorch/compare/302ee7bfb604"));
  EXPECT_THAT(run.out, HasSubstr("attn.softmax changed by itself, in each of 4 blocks\n"));
  EXPECT_THAT(run.out, HasSubstr("others only carry a change on"));
  EXPECT_THAT(run.out, HasSubstr("SoftMaxKernel.cpp"));
}

TEST_F(Localize, RevealsBothFoldsOfSoftmaxInTheSameRun) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const ProgramRun run = localize(
      {january(), december(), "--env", "ATEN_CPU_CAPABILITY=avx2", "--prompt", kArithmetic});
  ASSERT_EQ(run.status, 0) << run.err;
  const Report report = read_report(folder() / "report.json");
  ASSERT_TRUE(report.reveal);
  EXPECT_EQ(report.reveal->operation, "softmax");
  EXPECT_EQ(report.reveal->lengths, (std::vector<std::uint64_t>{8, 16}));
  ASSERT_EQ(report.reveal->trees.size(), 4U);
  for (const RevealedOrder& order : report.reveal->trees) {
    EXPECT_EQ(order.status, "proved") << order.length;
  }
  EXPECT_EQ(report.reveal->trees[2].tree,
            "(((((((0+8)+(1+9))+(2+10))+(3+11))+(4+12))+(5+13))+(6+14))+(7+15)");
  EXPECT_EQ(report.reveal->trees[3].tree,
            "(((0+8)+(4+12))+((2+10)+(6+14)))+(((1+9)+(5+13))+((3+11)+(7+15)))");
  EXPECT_THAT(run.out, HasSubstr("softmax adds in another order at 8 and 16 elements"));
}

TEST_F(Localize, FindsNothingOnGenericKernels) {
  const ProgramRun run = localize({january(), december(), "--env", "ATEN_CPU_CAPABILITY=default",
                                   "--prompt", kArithmetic, "--new-tokens", "3"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("nothing differs"));
  EXPECT_TRUE(record().own.empty());
  EXPECT_TRUE(record().isolation.empty());
}

TEST_F(Localize, TellsTheKernelsOfOneBuildApart) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const ProgramRun run =
      localize({january(), january(), "--env", "A:ATEN_CPU_CAPABILITY=default", "--env",
                "B:ATEN_CPU_CAPABILITY=avx2", "--prompt", "2", "--no-isolation"});
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("other bits on avx2 than on default kernels"));
  EXPECT_THAT(record().own, ::testing::Contains("block.0.attn.softmax"));
  EXPECT_EQ(record().compare, "") << "one commit";
  EXPECT_THAT(run.out, Not(HasSubstr("by itself, on")));
}

TEST_F(Localize, FindsAPlantedChangeByNameAndLength) {
  const ProgramRun run =
      localize({january(), january(), "--prompt", "2"}, "B:bits@op=block.2.attn.softmax,row=8");
  ASSERT_EQ(run.status, 0) << run.err;
  const LocalizeRecord found = record();
  EXPECT_EQ(found.own, (std::vector<std::string>{"block.2.attn.softmax"}));
  EXPECT_EQ(found.first_difference, "block.2.attn.softmax");
  EXPECT_EQ(operation_of(found, "block.2.attn.softmax").max_ulp, 1U);
  EXPECT_FALSE(operation_of(found, "block.2.attn.context").same);
  EXPECT_EQ(operation_of(found, "block.2.attn.context").own, false);
  ASSERT_EQ(found.isolation.size(), 1U);
  EXPECT_EQ(found.isolation[0].lengths_same, (std::vector<LengthRange>{{1, 7}}));
  EXPECT_EQ(found.isolation[0].lengths_differ, (std::vector<LengthRange>{{8, 4097}}));
  EXPECT_EQ(found.isolation[0].share_differ, 1);
  EXPECT_THAT(run.out, HasSubstr("attn.softmax gives other bits in the same build, in 1 of 4 "
                                 "blocks\n"));
}

TEST_F(Localize, FollowsAChangeIntoTheCacheAndBack) {
  const ProgramRun run =
      localize({january(), january(), "--prompt", "1", "--step", "3", "--no-isolation"},
               "B:bits@op=block.1.ln_1,step=2");
  ASSERT_EQ(run.status, 0) << run.err;
  const LocalizeRecord found = record();
  EXPECT_TRUE(found.cached);
  EXPECT_TRUE(found.own.empty()) << "in this step nothing changes by itself";
  EXPECT_EQ(found.first_difference, "block.1.attn.keys");
  ASSERT_FALSE(found.reentries.empty());
  EXPECT_EQ(found.reentries[0].operation, "block.1.attn.keys");
  EXPECT_GT(found.reentries[0].max_abs_diff, 0);
  EXPECT_THAT(run.out, HasSubstr("re-enter from the KV cache at 6 operations"));
  EXPECT_THAT(run.out, HasSubstr("step 3"));
}

TEST_F(Localize, FindsTheFirstPromptAndStepThatChange) {
  write_file(folder() / "prompts.txt", "The capital of France is\nOne\n");
  const ProgramRun run = localize(
      {january(), january(), "--prompts", "prompts.txt", "--new-tokens", "6", "--no-isolation"},
      "B:bits@op=lm_head,task=1,step=4");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(record().prompt, 2U);
  EXPECT_EQ(record().step, 4U);
}

TEST_F(Localize, BlamesNoOperationThatDoesNotRepeatItself) {
  const ProgramRun run = localize({january(), january(), "--prompt", "1", "--no-isolation"},
                                  "A:noise@op=block.0.ln_2");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(operation_of(record(), "block.0.ln_2").own, std::nullopt);
  EXPECT_TRUE(record().own.empty());
  EXPECT_THAT(run.out, HasSubstr("not replayable"));
  EXPECT_THAT(run.out, ::testing::StartsWith("warning  A"));
}

TEST_F(Localize, KeepsToItsBudget) {
  const std::vector<std::string> common{january(), january(), "--prompt", "1", "--no-isolation"};
  std::vector<std::string> tight = common;
  tight.insert(tight.end(), {"--memory", "64K"});
  const ProgramRun refused = localize(tight);
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(has_one_error_line(refused.err)) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("--memory: lm_head needs "));
  std::vector<std::string> roomy = common;
  roomy.insert(roomy.end(), {"--memory", "512M"});
  EXPECT_EQ(localize(roomy).status, 0);
  EXPECT_EQ(record().memory_budget, 512U << 20U);
}

TEST_F(Localize, RefusesBadUsage) {
  const auto refusal = [&](std::vector<std::string> own) {
    own.insert(own.begin(), {january(), january()});
    const ProgramRun run = localize(own);
    EXPECT_EQ(run.status, 2) << run.err;
    EXPECT_TRUE(has_one_error_line(run.err)) << run.err;
    return run.err;
  };
  EXPECT_THAT(refusal({"--prompt", "9"}), HasSubstr("--prompt 9: there are 8 prompts in eight"));
  EXPECT_THAT(refusal({"--prompt", "0"}), HasSubstr("--prompt 0"));
  EXPECT_THAT(refusal({"--prompt", "99999999999999999999"}), HasSubstr("no such prompt"));
  EXPECT_THAT(refusal({"--step", "0"}), HasSubstr("--step"));
  EXPECT_THAT(refusal({"--step", "7", "--new-tokens", "6"}), HasSubstr("a run has 6 steps"));
  EXPECT_THAT(refusal({"--prompt", "1", "--step", "600"}), HasSubstr("A's run of prompt 1 ends"));
  EXPECT_THAT(refusal({"--memory", "2X"}), HasSubstr("2X"));
  EXPECT_THAT(refusal({"--mode", "score"}), HasSubstr("greedy or sample"));
  EXPECT_THAT(refusal({"--mode", "greedy,sample"}), HasSubstr("one pass"));
  EXPECT_THAT(refusal({"--frobnicate"}), HasSubstr("--frobnicate"));
  EXPECT_THAT(refusal({"--prompt", "\\q"}), HasSubstr("\\q"));
}

TEST_F(Localize, RefusesSavedReports) {
  write_file(folder() / "a.json", "{}");
  const ProgramRun run = localize({"a.json", "a.json"});
  EXPECT_EQ(run.status, 2);
  EXPECT_TRUE(has_one_error_line(run.err)) << run.err;
  EXPECT_THAT(run.err, HasSubstr("a saved report can't be localized"));
}

TEST_F(Localize, TakesTwoSides) {
  EXPECT_EQ(localize({january()}).status, 2);
  EXPECT_EQ(localize({}).status, 2);
}

}  // namespace
}  // namespace drift::e2e
