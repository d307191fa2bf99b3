#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/audit.hpp"
#include "driftaudit/error.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

AuditRequest request_of(std::vector<std::string> modes) {
  AuditRequest request;
  request.settings.modes = std::move(modes);
  request.prompts.prompts = {{"a", {1, 2}}, {"b", {3}}};
  request.text = {{"c", {4, 5, 6}}};
  return request;
}

const std::vector<std::int32_t> kEndOfText = {9, 3};

TEST(PlanTasks, GoesThroughThePromptsModeByMode) {
  const std::vector<wire::Task> tasks =
      plan_tasks(request_of({"sample", "greedy"}), kEndOfText, false);
  ASSERT_EQ(tasks.size(), 4U);
  EXPECT_EQ(tasks[0].mode, wire::Mode::kSample);
  EXPECT_THAT(tasks[1].ids, ElementsAre(3));
  EXPECT_EQ(tasks[2].mode, wire::Mode::kGreedy);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(tasks[i].id, i);
  }
}

TEST(PlanTasks, ScoresTheTextAndNotThePrompts) {
  const std::vector<wire::Task> tasks = plan_tasks(request_of({"score"}), kEndOfText, true);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_THAT(tasks[0].ids, ElementsAre(4, 5, 6));
  EXPECT_FALSE(tasks[0].fed) << "a text is given whole";
}

TEST(PlanTasks, StopsAtTheEndOfTextUnlessToldNotTo) {
  AuditRequest request = request_of({"greedy"});
  EXPECT_THAT(plan_tasks(request, kEndOfText, false)[0].end_of_text, ElementsAre(9, 3));
  request.settings.ignore_eos = true;
  EXPECT_THAT(plan_tasks(request, kEndOfText, false)[0].end_of_text, IsEmpty());
}

TEST(PlanTasks, HandsOnEverySetting) {
  AuditRequest request = request_of({"sample"});
  request.settings.new_tokens = 7;
  request.settings.top_k = 3;
  request.settings.seed = 99;
  request.settings.temperature = 0.5;
  request.settings.sampler = "fixed";
  request.settings.cache = false;
  const wire::Task task = plan_tasks(request, kEndOfText, true)[0];
  EXPECT_EQ(task.new_tokens, 7U);
  EXPECT_EQ(task.top_k, 3U);
  EXPECT_EQ(task.seed, 99U);
  EXPECT_EQ(task.temperature, 0.5);
  EXPECT_EQ(task.sampler, wire::Sampler::kFixed);
  EXPECT_FALSE(task.cache);
  EXPECT_TRUE(task.fed);
}

/// The tasks' batches where seven prompts run so many at a time.
std::vector<std::uint32_t> batches_of(std::uint32_t size, std::vector<std::string> modes) {
  AuditRequest request = request_of(std::move(modes));
  request.settings.batch = size;
  request.prompts.prompts.resize(7, {"a", {1, 2}});
  std::vector<std::uint32_t> batches;
  for (const wire::Task& task : plan_tasks(request, kEndOfText, false)) {
    batches.push_back(task.batch);
  }
  return batches;
}

TEST(PlanTasks, LeavesEachPromptAloneUnlessToldNotTo) {
  EXPECT_THAT(batches_of(1, {"greedy"}), ElementsAre(0, 0, 0, 0, 0, 0, 0));
}

TEST(PlanTasks, PutsThePromptsOfAModeIntoBatchesInTheirOrder) {
  EXPECT_THAT(batches_of(3, {"greedy"}), ElementsAre(1, 1, 1, 2, 2, 2, 3));
  EXPECT_THAT(batches_of(4, {"sample", "greedy"}),
              ElementsAre(1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4));
  EXPECT_THAT(batches_of(100, {"greedy"}), ElementsAre(1, 1, 1, 1, 1, 1, 1));
}

TEST(PlanTasks, ScoresEachWindowOfATextAlone) {
  EXPECT_THAT(batches_of(4, {"score", "greedy"}), ElementsAre(0, 1, 1, 1, 1, 2, 2, 2));
}

TEST(PlanTasks, RefusesToFeedABatch) {
  AuditRequest request = request_of({"greedy"});
  request.settings.batch = 2;
  EXPECT_THROW(plan_tasks(request, kEndOfText, true), Error);
}

TEST(PlanTasks, RefusesAnUnknownMode) {
  EXPECT_THROW(plan_tasks(request_of({"beam"}), kEndOfText, false), Error);
}

class ScoreWindows : public ::testing::Test {
 protected:
  const Tokenizer tokenizer_ =
      Tokenizer::from_folder(std::string(DRIFTAUDIT_SOURCE_FOLDER) + "/models/mini");
  std::vector<std::vector<std::int32_t>> cut(std::size_t length, std::uint32_t context) const {
    std::vector<std::int32_t> ids(length);
    for (std::size_t i = 0; i < length; ++i) {
      ids[i] = static_cast<std::int32_t>(i);
    }
    std::vector<std::vector<std::int32_t>> windows;
    for (const Prompt& prompt : score_windows(ids, tokenizer_, context)) {
      windows.push_back(prompt.ids);
    }
    return windows;
  }
};

TEST_F(ScoreWindows, PredictEveryTokenButTheFirstOnce) {
  EXPECT_THAT(cut(7, 4), ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(3, 4, 5, 6)));
  EXPECT_THAT(cut(6, 4), ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(3, 4, 5)));
  EXPECT_THAT(cut(4, 4), ElementsAre(ElementsAre(0, 1, 2, 3)));
  EXPECT_THAT(cut(5, 4), ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(3, 4)));
}

TEST_F(ScoreWindows, AreNoneForLessThanTwoTokens) {
  EXPECT_TRUE(cut(1, 4).empty());
  EXPECT_TRUE(cut(0, 4).empty());
}

}  // namespace
}  // namespace drift
