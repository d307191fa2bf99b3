#include "driftaudit/replay.hpp"

#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/tensor.hpp"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ReplaySide side(const std::string& label, const std::string& fake = "") {
  ReplaySide result;
  result.launch.label = label;
  result.launch.program = FAKE_RUNNER;
  result.launch.environment["FAKE"] = fake;
  result.launch.timeout_seconds = 20;
  result.job.weights = "the weights";
  return result;
}

wire::Task greedy_task() {
  wire::Task task;
  task.ids = {5};
  task.given = {6, 7};
  return task;
}

/// The message of the error that a replay against such a runner ends in.
std::string replay_error(const std::string& fake) {
  try {
    replay_pass(side("A"), side("B", fake), greedy_task(), 3, {"first"},
                [](const ReplayedOperation&) {});
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReplayPass, VisitsTheSelectedOperationsInOrder) {
  std::vector<std::string> names;
  const ReplayFacts facts =
      replay_pass(side("A"), side("B"), greedy_task(), 3, {"second", "first"},
                  [&](const ReplayedOperation& operation) {
                    names.push_back(operation.a.name);
                    EXPECT_EQ(operation.a.step, 3U);
                    EXPECT_EQ(operation.b.name, operation.a.name);
                    EXPECT_EQ(float_elements(operation.a_again), std::vector<float>{3});
                    EXPECT_EQ(float_elements(operation.b_on_a), std::vector<float>{3});
                    EXPECT_EQ(operation.b.output.bytes, operation.a.output.bytes);
                  });
  EXPECT_THAT(names, ElementsAre("first", "second"));
  EXPECT_EQ(facts.a.torch, "9.9.9");
  EXPECT_EQ(facts.b.torch, "9.9.9");
}

TEST(ReplayPass, WantsTheTokensOfTheStepsBefore) {
  EXPECT_THROW(replay_pass(side("A"), side("B"), greedy_task(), 4, {"first"},
                           [](const ReplayedOperation&) {}),
               std::invalid_argument);
}

TEST(ReplayPass, RefusesSidesWithOtherOperations) {
  EXPECT_THAT(replay_error("astray"),
              HasSubstr("B: its pass comes to first' where the other side's comes to first"));
}

TEST(ReplayPass, NamesTheSideThatGivesUp) {
  EXPECT_THAT(replay_error("failure"), HasSubstr("B: the runner gave up: weights.bin"));
}

TEST(RecordedTensor, IsNoneForAWeight) {
  const wire::TensorData tensor = contiguous_tensor({2}, {1, 2}, 8);
  const auto recorded = recorded_tensor({tensor.layout, false, 0, tensor.bytes});
  ASSERT_TRUE(recorded);
  EXPECT_EQ(recorded->layout, tensor.layout);
  EXPECT_EQ(recorded->bytes, tensor.bytes);
  EXPECT_FALSE(recorded_tensor({tensor.layout, true, 0, std::nullopt}));
}

}  // namespace
}  // namespace drift
