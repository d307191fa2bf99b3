// What a real runner makes of the conditions that it is put under: on January's libtorch.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/standalone_operation.hpp"
#include "driftaudit/tensor.hpp"

#include "e2e/real_runner.hpp"
#include "runner/weights_format.hpp"

namespace drift {
namespace {

using test::Answer;
using test::greedy_task;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;

wire::Task traced_task() {
  wire::Task task = greedy_task(1);
  task.trace = {{1}, {"*"}, {}, {}};
  return task;
}

class RunnerConditions : public test::RealRunnerTest {
 protected:
  wire::Hello hello() {
    RunnerProcess process(launch_, job_);
    return expect_event<wire::Hello>(process.next(), "");
  }

  /// Changes the weights: `change` gets the header and each tensor's elements.
  template <class Change>
  void change_weights(const Change& change) {
    std::string bytes = read_file(job_.weights);
    weights::Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    for (const weights::Tensor& tensor : weights::tensor_list(header)) {
      std::vector<float> values(tensor.elements());
      std::memcpy(values.data(), bytes.data() + tensor.offset, values.size() * sizeof(float));
      change(tensor, values);
      std::memcpy(bytes.data() + tensor.offset, values.data(), values.size() * sizeof(float));
    }
    fs::remove(job_.weights);
    write_file(job_.weights, bytes);
  }

  /// What a build takes before any work, in MB, by its own word.
  std::uint64_t own_megabytes() {
    job_.memory_limit = 1U << 20U;
    const std::string error = error_with("");
    EXPECT_THAT(error, HasSubstr("a memory limit of 1 MB is below the "));
    const std::size_t at = error.find("below the ");
    return at == std::string::npos ? 0 : std::strtoull(error.c_str() + at + 10, nullptr, 10);
  }
};

TEST_F(RunnerConditions, ComputeInBFloat16) {
  const Answer plain = run(greedy_task(4));
  job_.dtype = wire::DType::kBFloat16;
  const Answer coarse = run(greedy_task(4));
  const Answer again = run(greedy_task(4));
  ASSERT_EQ(coarse.steps.size(), 4U);
  EXPECT_NE(coarse.steps[0].logits, plain.steps.at(0).logits);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(coarse.steps[i].logits, again.steps.at(i).logits);
    for (const float logit : coarse.steps[i].logits) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(logit) & 0xffffU, 0U) << logit;
    }
    const std::vector<float>& logits = coarse.steps[i].logits;
    EXPECT_EQ(coarse.steps[i].token,
              std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  // The same model at a coarser grain: not another one.
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < plain.steps[0].logits.size(); ++i) {
    difference += std::pow(coarse.steps[0].logits[i] - plain.steps[0].logits[i], 2);
    size += std::pow(plain.steps[0].logits[i], 2);
  }
  EXPECT_LT(std::sqrt(difference / size), 0.1);
}

TEST_F(RunnerConditions, LeaveATieToTheLowestId) {
  constexpr std::size_t kFirst = 5;
  change_weights([&](const weights::Tensor& tensor, std::vector<float>& values) {
    if (tensor.name != "wte.weight") {
      return;
    }
    const auto width = static_cast<std::size_t>(tensor.shape[1]);
    std::fill(values.begin(), values.end(), 0.0F);  // all logits are 0
    std::fill_n(values.begin(), kFirst * width, std::numeric_limits<float>::quiet_NaN());
  });
  for (const wire::DType dtype : {wire::DType::kFloat32, wire::DType::kBFloat16}) {
    job_.dtype = dtype;
    const Answer answer = run(greedy_task(1));
    EXPECT_EQ(answer.steps.at(0).token, kFirst);
    EXPECT_EQ(answer.steps[0].logits.at(kFirst), 0);
    EXPECT_EQ(answer.steps[0].logits.back(), 0);
  }
}

TEST_F(RunnerConditions, NameTheOperationThatADtypeLacks) {
  job_.dtype = wire::DType::kFloat16;
  EXPECT_THAT(error_with(""), AllOf(HasSubstr("the runner gave up: operation \""),
                                    HasSubstr(" in float16: "), HasSubstr("not implemented for")));
}

TEST_F(RunnerConditions, RefuseATypeThatNoModelComputesIn) {
  job_.dtype = wire::DType::kInt64;
  EXPECT_THAT(error_with(""), HasSubstr("no model computes in Long"));
}

TEST_F(RunnerConditions, TraceFloat32Alone) {
  job_.dtype = wire::DType::kBFloat16;
  EXPECT_THAT(error_with("", traced_task()), HasSubstr("only a float32 pass can be traced"));
}

TEST_F(RunnerConditions, PlantFaultsInBFloat16Too) {
  job_.dtype = wire::DType::kBFloat16;
  const Answer plain = run(greedy_task(2));
  const Answer moved = run_with("bits@op=lm_head,step=2", greedy_task(2));
  EXPECT_EQ(moved.steps.at(0).logits, plain.steps.at(0).logits);
  for (std::size_t i = 0; i < plain.steps.at(1).logits.size(); ++i) {
    const float before = plain.steps[1].logits[i];
    const float after = moved.steps.at(1).logits.at(i);
    ASSERT_GT(after, before);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(after) & 0xffffU, 0U);
    ASSERT_LE(after - before, std::max(std::abs(before) / 128, 1e-30F));
  }
  const Answer spoilt = run_with("nan@op=block.0.attn.softmax", greedy_task(1));
  EXPECT_TRUE(std::isnan(spoilt.steps.at(0).logits.at(0)));
}

TEST_F(RunnerConditions, HaveAsManyInteropThreadsAsTold) {
  job_.interop_threads = 3;
  EXPECT_THAT(hello().parallel_info, HasSubstr("at::get_num_interop_threads() : 3"));
  job_.interop_threads = 0;
  EXPECT_THAT(error_with(""), HasSubstr("interop threads must be from 1 to 4096"));
}

TEST_F(RunnerConditions, SayWhenMemoryRunsOutWithinTheLimit) {
  const std::uint64_t own = own_megabytes();
  ASSERT_GT(own, 1U);
  wire::Task large = greedy_task(2);
  large.ids.assign(config_.n_positions - 2, 7);
  const Answer plain = [&] {
    job_.memory_limit = 0;
    return run(large);
  }();
  job_.memory_limit = (own + 1) << 20U;
  EXPECT_THAT(error_with("", large), AllOf(HasSubstr("the runner gave up: out of memory within "),
                                           HasSubstr("the limit of ")));
  job_.memory_limit = std::uint64_t{8} << 30U;
  EXPECT_EQ(run(large).steps.at(1).logits, plain.steps.at(1).logits);
}

TEST_F(RunnerConditions, StartTensorsAtNoRounderAddressThanTold) {
  for (const std::uint32_t alignment : {4U, 8U, 16U, 32U}) {
    job_.alignment = alignment;
    const Answer answer = run(traced_task());
    ASSERT_FALSE(answer.operations.empty());
    for (const wire::OperationRecord& operation : answer.operations) {
      EXPECT_EQ(operation.output.layout.alignment, alignment) << operation.name;
      for (const wire::Operand& input : operation.inputs) {
        EXPECT_EQ(input.layout.alignment, input.weight ? 0 : alignment) << operation.name;
      }
    }
  }
  job_.alignment = 64;
  for (const wire::OperationRecord& operation : run(traced_task()).operations) {
    EXPECT_EQ(operation.output.layout.alignment, 0U) << operation.name;
  }
}

TEST_F(RunnerConditions, RefuseAnAlignmentThatIsNone) {
  for (const std::uint32_t alignment : {0U, 2U, 24U, 128U}) {
    job_.alignment = alignment;
    EXPECT_THAT(error_with(""), HasSubstr("isn't a power of two from 4 to 64"));
  }
}

TEST_F(RunnerConditions, FlushDenormalsOnAllThreads) {
  constexpr std::size_t kCount = 100000;  // large enough to be split
  const auto products = [&](bool flush) {
    wire::Task task;
    task.mode = wire::Mode::kOperation;
    task.operation = "mul";
    wire::Job job;
    job.threads = 2;
    job.flush_denormals = flush;
    job.tasks = {task};
    RunnerProcess process(launch_, job);
    expect_event<wire::Hello>(process.next(), "");
    process.call({contiguous_tensor({kCount}, std::vector<float>(kCount, 1e-30F)),
                  contiguous_tensor({kCount}, std::vector<float>(kCount, 1e-10F))});
    return float_elements(expect_event<wire::Result>(process.next(), "").output);
  };
  EXPECT_THAT(products(true), Each(0.0F));
  EXPECT_THAT(products(false), Each(1e-40F));
}

}  // namespace
}  // namespace drift
