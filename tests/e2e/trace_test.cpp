// What a real runner tells of its operations, and what it gives when asked for one: on January's
// libtorch.

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/replay.hpp"
#include "driftaudit/standalone_operation.hpp"
#include "driftaudit/tensor.hpp"

#include "e2e/real_runner.hpp"
#include "runner/digest.hpp"

namespace drift {
namespace {

using test::Answer;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

using Inputs = std::vector<std::optional<wire::TensorData>>;

wire::Task traced(std::uint32_t steps, wire::Trace trace) {
  wire::Task task = test::greedy_task(steps);
  task.trace = std::move(trace);
  return task;
}

std::uint64_t digest_of_floats(const std::vector<float>& values) {
  return runner::murmur64a(values.data(), values.size() * sizeof(float));
}

class Trace : public test::RealRunnerTest {
 protected:
  /// Runs a task with questions; `answer` gives the inputs to call each question's operation with.
  std::vector<wire::Result> ask(
      const wire::Task& task,
      const std::function<std::vector<Inputs>(const wire::Question&)>& answer,
      std::vector<wire::Step>* steps = nullptr) {
    wire::Job job = job_;
    job.tasks = {task};
    RunnerProcess process(launch_, job);
    std::vector<wire::Result> results;
    for (auto event = process.next(); !std::holds_alternative<wire::Done>(event);
         event = process.next()) {
      if (const auto* question = std::get_if<wire::Question>(&event)) {
        for (Inputs& inputs : answer(*question)) {
          process.call(std::move(inputs));
          results.push_back(expect_event<wire::Result>(process.next(), "1.10.1"));
        }
        process.end_calls();
      } else if (auto* step = std::get_if<wire::Step>(&event);
                 step != nullptr && steps != nullptr) {
        steps->push_back(std::move(*step));
      }
    }
    return results;
  }

  std::string refusal_of(const std::string& operation, const Inputs& inputs) {
    try {
      ask(traced(1, {{1}, {}, {}, {operation}}),
          [&](const wire::Question&) { return std::vector<Inputs>{inputs}; });
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(Trace, RecordsEveryOperationInOrder) {
  const Answer answer = run(traced(2, {{2}, {"*"}, {}, {}}));
  ASSERT_FALSE(answer.operations.empty());
  EXPECT_EQ(answer.operations.front().name, "embed.tokens");
  EXPECT_EQ(answer.operations.back().name, "lm_head");
  std::set<std::string> names;
  for (std::size_t i = 0; i < answer.operations.size(); ++i) {
    const wire::OperationRecord& record = answer.operations[i];
    EXPECT_EQ(record.index, i);
    EXPECT_EQ(record.step, 2U);
    EXPECT_FALSE(record.output.bytes);
    names.insert(record.name);
  }
  EXPECT_EQ(names.size(), answer.operations.size());
  EXPECT_EQ(names.count(fmt::format("block.{}.attn.softmax", config_.n_layer - 1)), 1U);
  EXPECT_EQ(names.count("block.0.attn.keys"), 1U);  // a cached step
}

TEST_F(Trace, TellsWeightsFromWhatWasComputed) {
  const auto records = run(traced(1, {{1}, {}, {"lm_head"}, {}})).operations;
  ASSERT_THAT(records, SizeIs(1));
  const wire::OperationRecord& head = records[0];
  ASSERT_THAT(head.inputs, SizeIs(2));
  EXPECT_FALSE(head.inputs[0].weight);
  EXPECT_TRUE(head.inputs[0].bytes);
  EXPECT_TRUE(head.inputs[1].weight);
  EXPECT_FALSE(head.inputs[1].bytes);
  EXPECT_EQ(head.inputs[1].digest, 0U);
  EXPECT_FALSE(head.output.weight);
}

TEST_F(Trace, SendsTheElementsOfWhatIsSelected) {
  const Answer answer = run(traced(1, {{1}, {"lm_head"}, {"lm_*", "block.0.*"}, {}}));
  for (const wire::OperationRecord& record : answer.operations) {
    EXPECT_TRUE(record.output.bytes) << record.name;
    EXPECT_THAT(record.name, testing::AnyOf(StartsWith("block.0."), "lm_head"));
  }
  const auto logits = float_elements(*recorded_tensor(answer.operations.back().output));
  const std::vector<float>& last_row = answer.steps.at(0).logits;
  EXPECT_TRUE(std::equal(last_row.begin(), last_row.end(), logits.end() - config_.vocab_size));
}

TEST_F(Trace, DigestsElementsWhateverTheirStrides) {
  bool strided = false;
  for (const wire::OperationRecord& record :
       run(traced(2, {{2}, {}, {"block.0.attn.*"}, {}})).operations) {
    for (const wire::Operand& operand : record.inputs) {
      if (operand.bytes && operand.layout.dtype == wire::DType::kFloat32) {
        EXPECT_EQ(operand.digest, digest_of_floats(float_elements(*recorded_tensor(operand))));
        strided = strided || operand.layout.extent() != operand.layout.elements();
      }
    }
  }
  EXPECT_TRUE(strided);
}

TEST_F(Trace, MovesNoBits) {
  const Answer plain = run(test::greedy_task(3));
  const Answer recorded = run(traced(3, {{1, 2}, {"*"}, {"*"}, {}}));
  std::vector<wire::Step> asked;
  ask(
      traced(3, {{1, 2}, {}, {}, {"*"}}),
      [](const wire::Question& question) {
        return std::vector<Inputs>{Inputs(question.inputs.size())};  // all of its own
      },
      &asked);
  ASSERT_THAT(asked, SizeIs(3));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(recorded.steps.at(i).logits, plain.steps.at(i).logits);
    EXPECT_EQ(asked[i].logits, plain.steps[i].logits);
  }
}

/// All operations of the embedded model at its prompt and at a step on cached keys.
TEST_F(Trace, ReplaysEveryOperationToTheSameBits) {
  use_mini();
  wire::Task task = test::greedy_task(1);
  task.given = {5, 6};
  for (const std::uint32_t threads : {1U, 2U}) {
    job_.threads = threads;
    for (const std::uint32_t step : {1U, 3U}) {
      SCOPED_TRACE(fmt::format("{} threads, step {}", threads, step));
      std::size_t visited = 0;
      replay_pass({launch_, job_}, {launch_, job_}, task, step, {"*"},
                  [&](const ReplayedOperation& operation) {
                    const wire::Operand& output = operation.a.output;
                    for (const wire::TensorData& replayed : {operation.a_again, operation.b_on_a}) {
                      EXPECT_EQ(replayed.layout.sizes, output.layout.sizes) << operation.a.name;
                      EXPECT_EQ(replayed.layout.strides, output.layout.strides) << operation.a.name;
                      EXPECT_EQ(replayed.bytes, output.bytes) << operation.a.name;
                    }
                    EXPECT_EQ(operation.a.index, visited++);
                  });
      EXPECT_GT(visited, 20U * config_.n_layer);
    }
  }
}

TEST_F(Trace, FindsTheOperationThatChangedByItself) {
  ReplaySide faulty{launch_, job_};
  faulty.job.fault = "bits@op=block.0.attn.softmax,row=9";
  std::vector<std::string> changed;
  std::vector<std::string> own;
  replay_pass({launch_, job_}, faulty, test::greedy_task(1), 1, {"*"},
              [&](const ReplayedOperation& operation) {
                const wire::Operand& output = operation.a.output;
                EXPECT_EQ(operation.a_again.bytes, output.bytes);
                if (operation.b.output.digest != output.digest) {
                  changed.push_back(operation.a.name);
                }
                if (operation.b_on_a.bytes != output.bytes) {
                  own.push_back(operation.a.name);
                }
              });
  EXPECT_THAT(own, testing::ElementsAre("block.0.attn.softmax"));
  ASSERT_GT(changed.size(), 10U);
  EXPECT_EQ(changed.front(), "block.0.attn.softmax");
  EXPECT_EQ(changed.back(), "lm_head");
}

TEST_F(Trace, GivesTheOperationItsInputsWhereTheyLay) {
  // A merge of heads that are in order already gives back its input itself.
  wire::TensorData given = contiguous_tensor({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}, 20);
  given.layout.storage_offset = 1003;
  const auto results = ask(traced(1, {{1}, {}, {}, {"block.0.attn.merge"}}),
                           [&](const wire::Question&) { return std::vector<Inputs>{{given}}; });
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].output.layout, given.layout);
  EXPECT_EQ(results[0].output.bytes, given.bytes);
}

TEST_F(Trace, AppliesTheModelsOperationToInputsOfAnyShape) {
  std::mt19937 generator(3);
  std::normal_distribution<float> normal(0, 4);
  StandaloneOperation softmax(launch_, "softmax");
  std::vector<wire::TensorData> inputs;
  for (const std::int64_t length : {1, 7, 8, 33, 1000}) {
    std::vector<float> values(static_cast<std::size_t>(3 * length));
    std::generate(values.begin(), values.end(), [&] { return normal(generator); });
    inputs.push_back(contiguous_tensor({3, length}, values));
  }
  const auto results =
      ask(traced(2, {{2}, {}, {}, {"block.1.attn.softmax"}}), [&](const wire::Question&) {
        std::vector<Inputs> sets;
        for (const wire::TensorData& input : inputs) {
          sets.push_back({input});
        }
        return sets;
      });
  ASSERT_EQ(results.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(results[i].call, i + 1);
    EXPECT_EQ(results[i].output.bytes, softmax({inputs[i]}).bytes);
  }
}

TEST_F(Trace, KeepsAPlantedFaultToLongRows) {
  job_.fault = "bits@op=block.1.attn.softmax,row=9";
  const auto results =
      ask(traced(1, {{1}, {}, {}, {"block.1.attn.softmax"}}), [](const wire::Question&) {
        return std::vector<Inputs>{{contiguous_tensor({1, 2}, {0, 0})},
                                   {contiguous_tensor({1, 16}, std::vector<float>(16, 0))}};
      });
  EXPECT_EQ(float_elements(results.at(0).output).at(0), 0.5F);
  EXPECT_EQ(float_elements(results.at(1).output).at(0), std::nextafter(0.0625F, INFINITY));
}

TEST_F(Trace, FollowsTheTokensThatItIsGiven) {
  wire::Task given = test::greedy_task(4);
  given.given = {5, 6};
  const Answer answer = run(given);
  ASSERT_THAT(answer.steps, SizeIs(4));
  EXPECT_EQ(answer.steps[0].given, 5);
  EXPECT_EQ(answer.steps[1].given, 6);
  EXPECT_FALSE(answer.steps[2].given);

  wire::Task fed = test::greedy_task(4);
  fed.fed = true;
  const Answer same = run(fed, {5, 6, answer.steps[2].token, -1});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(answer.steps[i].logits, same.steps.at(i).logits);
  }
}

TEST_F(Trace, RefusesTokensThatCannotBeGiven) {
  wire::Task task = test::greedy_task(2);
  task.given = {-1};
  EXPECT_THAT(error_with("", task), HasSubstr("token -1 is not in the vocabulary"));
  task.given = {1};
  task.fed = true;
  EXPECT_THAT(error_with("", task), HasSubstr("either fed or given"));
}

TEST_F(Trace, NamesTheOperationThatRefusesItsInputs) {
  const auto input = contiguous_tensor({2}, {1, 2});
  EXPECT_THAT(refusal_of("block.0.mlp.fc", {input}),
              HasSubstr("operation \"block.0.mlp.fc\" takes 3 inputs, not 1"));
  EXPECT_THAT(refusal_of("block.0.mlp.fc", {std::nullopt, input, std::nullopt}),
              HasSubstr("operation \"block.0.mlp.fc\" refuses ["));
}

}  // namespace
}  // namespace drift
