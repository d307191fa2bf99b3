// Batches, on January's libtorch: who is padded, who ends, whose answer is whose.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/real_runner.hpp"

namespace drift {
namespace {

using test::Answer;
using testing::HasSubstr;
using testing::SizeIs;

using Answers = std::map<std::uint32_t, Answer>;

wire::Task alone(wire::Task task) {
  task.batch = 0;
  return task;
}

/// Requests of the embedded model, of so many tokens each; their ids don't begin at 0.
std::vector<wire::Task> requests(const std::vector<std::size_t>& lengths,
                                 wire::Mode mode = wire::Mode::kGreedy) {
  std::vector<wire::Task> tasks;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    wire::Task task = test::greedy_task(8);
    task.id = static_cast<std::uint32_t>(10 + i);
    task.mode = mode;
    task.top_k = 50;
    task.batch = 1;
    task.ids.clear();
    for (std::size_t k = 0; k < lengths[i]; ++k) {
      task.ids.push_back(static_cast<std::int32_t>(100 + (i + 1) * 37 + k * 11));
    }
    tasks.push_back(task);
  }
  return tasks;
}

void expect_the_same_bits(const Answer& a, const Answer& b) {
  ASSERT_EQ(a.steps.size(), b.steps.size());
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    EXPECT_EQ(a.steps[i].token, b.steps[i].token) << "step " << i + 1;
    EXPECT_EQ(a.steps[i].draw_digest, b.steps[i].draw_digest) << "step " << i + 1;
    EXPECT_EQ(a.steps[i].logits, b.steps[i].logits) << "step " << i + 1;
  }
  EXPECT_EQ(a.end.stopped, b.end.stopped);
}

/// How far the first steps' logits are apart.
float first_distance(const Answer& a, const Answer& b) {
  float largest = 0;
  for (std::size_t i = 0; i < a.steps.at(0).logits.size(); ++i) {
    largest = std::max(largest, std::abs(a.steps[0].logits[i] - b.steps.at(0).logits.at(i)));
  }
  return largest;
}

/// Sums in another order move logits by far less than this, and other prompts by far more.
constexpr float kFarApart = 0.05F;

class RunnerBatch : public test::RealRunnerTest {
 protected:
  void SetUp() override {
    test::RealRunnerTest::SetUp();
    if (!python_.empty()) {
      use_mini();
    }
  }

  void expect_whose(const Answers& together, const std::vector<wire::Task>& tasks) {
    ASSERT_THAT(together, SizeIs(tasks.size()));
    for (const wire::Task& task : tasks) {
      const Answer single = run(alone(task));
      for (const wire::Task& other : tasks) {
        const float distance = first_distance(together.at(other.id), single);
        EXPECT_EQ(distance < kFarApart, other.id == task.id)
            << "request " << task.id << " and the answer under " << other.id << ": " << distance;
      }
    }
  }
};

TEST_F(RunnerBatch, OfOneLengthAnswersAsEachRequestAlone) {
  const std::vector<wire::Task> tasks = requests({6, 6, 6});
  const Answers together = run_all(tasks);
  expect_whose(together, tasks);
  for (const wire::Task& task : tasks) {
    EXPECT_EQ(together.at(task.id).tokens(), run(alone(task)).tokens());
  }
}

TEST_F(RunnerBatch, OfOneRequestHasTheBitsOfThatRequestAlone) {
  for (const wire::Mode mode : {wire::Mode::kGreedy, wire::Mode::kSample}) {
    const wire::Task task = requests({7}, mode).at(0);
    expect_the_same_bits(run_all({task}).at(task.id), run(alone(task)));
  }
}

TEST_F(RunnerBatch, OfOtherLengthsAnswersAsEachRequestAlone) {
  for (const bool cache : {true, false}) {
    std::vector<wire::Task> tasks = requests({9, 2, 5, 1});
    for (wire::Task& task : tasks) {
      task.cache = cache;
    }
    const Answers together = run_all(tasks);
    expect_whose(together, tasks);
    for (const wire::Task& task : tasks) {
      EXPECT_EQ(together.at(task.id).tokens(), run(alone(task)).tokens()) << task.id;
      EXPECT_GT(together.at(task.id).end.seconds, 0);
    }
  }
}

TEST_F(RunnerBatch, RepeatsItselfBitForBit) {
  for (const wire::Mode mode : {wire::Mode::kGreedy, wire::Mode::kSample}) {
    const std::vector<wire::Task> tasks = requests({3, 8, 5}, mode);
    const Answers first = run_all(tasks);
    const Answers second = run_all(tasks);
    for (const wire::Task& task : tasks) {
      expect_the_same_bits(first.at(task.id), second.at(task.id));
    }
  }
}

TEST_F(RunnerBatch, KeepsEachAnswerUnderItsIdInEveryOrder) {
  std::vector<wire::Task> tasks = requests({4, 9, 6});
  do {
    expect_whose(run_all(tasks), tasks);
  } while (std::next_permutation(tasks.begin(), tasks.end(),
                                 [](const auto& a, const auto& b) { return a.id < b.id; }));
}

TEST_F(RunnerBatch, GoesOnWithTheOthersWhereOneReachesTheEndOfText) {
  std::vector<wire::Task> tasks = requests({4, 9, 6});
  const Answers whole = run_all(tasks);
  tasks[1].end_of_text = {whole.at(11).tokens().at(2)};
  const Answers ended = run_all(tasks);
  EXPECT_EQ(ended.at(11).end.stopped, wire::Stopped::kEndOfText);
  EXPECT_LE(ended.at(11).steps.size(), 3U);
  EXPECT_EQ(ended.at(11).tokens().back(), tasks[1].end_of_text.front());
  for (const std::uint32_t id : {10U, 12U}) {
    expect_the_same_bits(ended.at(id), whole.at(id));
  }
}

TEST_F(RunnerBatch, LetsRequestsEndAtTheirOwnLengths) {
  std::vector<wire::Task> tasks = requests({4, 9, 6});
  tasks[0].new_tokens = 0;
  tasks[1].new_tokens = 2;
  const Answers answers = run_all(tasks);
  EXPECT_THAT(answers.at(10).steps, SizeIs(0));
  EXPECT_THAT(answers.at(11).steps, SizeIs(2));
  EXPECT_THAT(answers.at(12).steps, SizeIs(8));
}

TEST_F(RunnerBatch, EndsWhereThePaddedContextIsFull) {
  for (const bool cache : {true, false}) {
    std::vector<wire::Task> tasks = requests({5, config_.n_positions - 2});
    for (wire::Task& task : tasks) {
      task.cache = cache;
      for (std::int32_t& id : task.ids) {
        id %= static_cast<std::int32_t>(config_.vocab_size);
      }
    }
    for (const auto& [id, answer] : run_all(tasks)) {
      EXPECT_THAT(answer.steps, SizeIs(3)) << id;
      EXPECT_EQ(answer.end.stopped, wire::Stopped::kContext) << id;
    }
  }
}

TEST_F(RunnerBatch, DrawsForARequestWhatItWouldDrawAlone) {
  for (const wire::Sampler sampler : {wire::Sampler::kTorch, wire::Sampler::kFixed}) {
    std::vector<wire::Task> tasks = requests({3, 8, 5}, wire::Mode::kSample);
    for (wire::Task& task : tasks) {
      task.sampler = sampler;
      task.seed = 100 + task.id;
    }
    const Answers together = run_all(tasks);
    for (const wire::Task& task : tasks) {
      const Answer single = run(alone(task));
      for (std::size_t i = 0; i < single.steps.size(); ++i) {
        EXPECT_EQ(together.at(task.id).steps.at(i).draw_digest, single.steps[i].draw_digest);
      }
    }
  }
}

TEST_F(RunnerBatch, PadsWithAnyIdAndAnswersTheSame) {
  std::vector<wire::Task> tasks = requests({3, 8, 5});
  const Answers plain = run_all(tasks);
  tasks[0].end_of_text = {4000};
  ASSERT_THAT(plain.at(10).tokens(), testing::Not(testing::Contains(4000)));
  const Answers padded = run_all(tasks);
  for (const wire::Task& task : tasks) {
    expect_the_same_bits(padded.at(task.id), plain.at(task.id));
  }
}

TEST_F(RunnerBatch, StandsBesideBatchesAndRequestsOfTheSameJob) {
  std::vector<wire::Task> tasks = requests({3, 8, 5, 4, 6});
  tasks[2].batch = 0;
  tasks[3].batch = tasks[4].batch = 2;
  const Answers answers = run_all(tasks);
  expect_whose(answers, tasks);
  expect_the_same_bits(answers.at(12), run(tasks[2]));
}

TEST_F(RunnerBatch, RefusesWhatCannotShareOne) {
  const auto refusal = [&](const auto& change) {
    std::vector<wire::Task> tasks = requests({3, 8});
    change(tasks[1]);
    try {
      run_all(tasks);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refusal([](wire::Task& t) { t.fed = true; }),
              HasSubstr("task 11: in a batch no tokens are fed or given"));
  EXPECT_THAT(refusal([](wire::Task& t) { t.given = {1}; }),
              HasSubstr("task 11: in a batch no tokens are fed or given"));
  EXPECT_THAT(refusal([](wire::Task& t) { t.trace.steps = {1}; }),
              HasSubstr("task 11: a batch isn't traced"));
  EXPECT_THAT(refusal([](wire::Task& t) { t.mode = wire::Mode::kScore; }),
              HasSubstr("task 11: only generation runs in a batch"));
  EXPECT_THAT(refusal([](wire::Task& t) { t.mode = wire::Mode::kSample; }),
              HasSubstr("task 11: of another mode"));
  EXPECT_THAT(refusal([](wire::Task& t) { t.cache = false; }),
              HasSubstr("task 11: of another mode, or with another KV cache"));
  EXPECT_THAT(refusal([](wire::Task& t) { t.ids.clear(); }), HasSubstr("task 11: 0 tokens"));
}

TEST_F(RunnerBatch, GoesAstrayFromTheStepWhereItsCacheRowsAreSwapped) {
  const std::vector<wire::Task> tasks = requests({6, 9, 7});
  const Answers sound = run_all(tasks);
  const Answers swapped = run_all(tasks, "swap@step=3");
  for (const std::uint32_t id : {10U, 11U}) {
    for (const std::size_t step : {0U, 1U}) {
      EXPECT_EQ(swapped.at(id).steps.at(step).logits, sound.at(id).steps.at(step).logits);
    }
    for (const std::size_t step : {2U, 3U}) {
      EXPECT_NE(swapped.at(id).steps.at(step).logits, sound.at(id).steps.at(step).logits);
    }
  }
  expect_the_same_bits(swapped.at(12), sound.at(12));
}

TEST_F(RunnerBatch, GivesTwoRequestsEachOthersAnswersWhereFramesAreSwapped) {
  const std::vector<wire::Task> tasks = requests({6, 9, 7});
  const Answers sound = run_all(tasks);
  const Answers swapped = run_all(tasks, "swap-frames");
  expect_the_same_bits(swapped.at(10), sound.at(11));
  expect_the_same_bits(swapped.at(11), sound.at(10));
  expect_the_same_bits(swapped.at(12), sound.at(12));
}

TEST_F(RunnerBatch, PlantsFaultsInItsOperationsAndInOneRequest) {
  const std::vector<wire::Task> tasks = requests({6, 9});
  const Answers sound = run_all(tasks);
  const Answers second = run_all(tasks, "second@task=11,step=1");
  EXPECT_EQ(second.at(10).tokens(), sound.at(10).tokens());
  EXPECT_NE(second.at(11).tokens().at(0), sound.at(11).tokens().at(0));
  for (const char* operation : {"padding.scores", "block.1.attn.padding"}) {
    const Answers nan = run_all(tasks, std::string("nan@step=1,op=") + operation);
    EXPECT_NE(nan.at(11).steps.at(0).logits, sound.at(11).steps.at(0).logits) << operation;
  }
}

}  // namespace
}  // namespace drift
