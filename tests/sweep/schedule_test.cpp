#include "sweep/schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A run whose steps' digests are a word's letters.
Run run_of(const std::string& word) {
  Run run;
  run.mode = "greedy";
  for (const char letter : word) {
    Step step;
    step.digest = letter;
    run.steps.push_back(step);
  }
  return run;
}

std::vector<Run> runs_of(const std::vector<std::string>& words) {
  std::vector<Run> runs;
  runs.reserve(words.size());
  for (const std::string& word : words) {
    runs.push_back(run_of(word));
  }
  return runs;
}

TEST(PromptSchedule, IsTheGivenOrderWithoutKnobs) {
  EXPECT_THAT(prompt_schedule({}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(prompt_schedule({{"prompt-order", "given"}, {"repeats", "1"}}, 2), ElementsAre(0, 1));
  EXPECT_THAT(prompt_schedule({}, 0), IsEmpty());
}

TEST(PromptSchedule, TurnsAroundAndRepeats) {
  EXPECT_THAT(prompt_schedule({{"prompt-order", "reversed"}}, 3), ElementsAre(2, 1, 0));
  EXPECT_THAT(prompt_schedule({{"prompt-order", "reversed"}, {"repeats", "3"}}, 2),
              ElementsAre(1, 0, 1, 0, 1, 0));
}

TEST(PromptSchedule, TurnsEachBatchInACircle) {
  EXPECT_THAT(prompt_schedule({{"batch-position", "1"}}, 5, 2), ElementsAre(1, 0, 3, 2, 4));
  EXPECT_THAT(prompt_schedule({{"batch-position", "1"}}, 5, 3), ElementsAre(2, 0, 1, 4, 3));
  EXPECT_THAT(prompt_schedule({{"batch-position", "3"}}, 3, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(prompt_schedule({{"batch-position", "7"}}, 3, 1), ElementsAre(0, 1, 2));
  EXPECT_THAT(prompt_schedule({{"batch-position", "1"}, {"prompt-order", "reversed"}}, 4, 2),
              ElementsAre(2, 3, 0, 1));
}

TEST(PromptSchedule, RepeatsWholeBatchesAlone) {
  EXPECT_THAT(prompt_schedule({{"repeats", "2"}}, 2, 2), ElementsAre(0, 1, 0, 1));
  EXPECT_THROW(prompt_schedule({{"repeats", "2"}}, 3, 2), Error);
}

TEST(Unscheduled, PutsRunsBackUnderTheirNumbers) {
  std::optional<std::string> parting;
  const std::vector<drift::Run> runs = unscheduled(runs_of({"c", "b", "a"}), {2, 1, 0}, parting);
  ASSERT_THAT(runs, SizeIs(3));
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(runs[i].prompt, i + 1);
    EXPECT_EQ(runs[i].steps.at(0).digest, std::string(1, static_cast<char>('a' + i)));
  }
  EXPECT_FALSE(parting);
}

TEST(Unscheduled, KeepsTheLastTimeAndSaysWhereTimesDiffer) {
  std::optional<std::string> parting;
  const std::vector<drift::Run> runs =
      unscheduled(runs_of({"aa", "bb", "aa", "bB", "aa", "bB"}), {0, 1, 0, 1, 0, 1}, parting);
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[1].steps.at(1).digest, "B");
  EXPECT_THAT(parting.value_or(""),
              HasSubstr("time 1 and 2 differ from step 2 of prompt 2 (greedy) on"));
}

}  // namespace
}  // namespace drift
