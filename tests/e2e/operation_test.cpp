// Standalone operations of January's libtorch.

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/standalone_operation.hpp"
#include "driftaudit/tensor.hpp"
#include "driftaudit/ulp.hpp"

#include "e2e/program.hpp"
#include "e2e/real_runner.hpp"

namespace drift {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> random_values(std::size_t count, float low, float high) {
  std::mt19937 generator(7);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(count);
  for (float& value : values) {
    value = distribution(generator);
  }
  return values;
}

class Operations : public test::RealRunnerTest {
 protected:
  std::vector<float> result_of(const std::string& name, std::vector<wire::TensorData> inputs,
                               const std::string& fault = "") {
    return float_elements(StandaloneOperation(launch_, name, 1, fault)(std::move(inputs)));
  }

  std::string refusal_of(const std::string& name, std::vector<wire::TensorData> inputs) {
    try {
      result_of(name, std::move(inputs));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(Operations, GiveWhatTheirNamesSay) {
  const auto row = contiguous_tensor({2, 2}, {1, 2, 3, 5});
  const auto vector = contiguous_tensor({2}, {10, 20});
  const auto exponential = [](float x) { return static_cast<float>(std::exp(x)); };
  EXPECT_THAT(result_of("sum", {row}), ElementsAre(3, 8));
  EXPECT_THAT(result_of("mean", {row}), ElementsAre(1.5F, 4));
  EXPECT_THAT(result_of("matmul", {row, row}), ElementsAre(7, 12, 18, 31));
  EXPECT_THAT(result_of("addmm", {vector, row, row}), ElementsAre(17, 32, 28, 51));
  EXPECT_THAT(result_of("dot", {vector, vector}), ElementsAre(500));
  EXPECT_THAT(result_of("add", {row, vector}), ElementsAre(11, 22, 13, 25));
  EXPECT_THAT(result_of("mul", {row, vector}), ElementsAre(10, 40, 30, 100));
  EXPECT_THAT(result_of("pow3", {row}), ElementsAre(1, 8, 27, 125));
  EXPECT_THAT(result_of("exp", {vector}),
              ElementsAre(testing::FloatEq(exponential(10)), testing::FloatEq(exponential(20))));
  EXPECT_THAT(result_of("tanh", {contiguous_tensor({1}, {0.5F})}),
              ElementsAre(testing::FloatEq(std::tanh(0.5F))));
  EXPECT_THAT(result_of("softmax", {contiguous_tensor({1, 2}, {0, std::log(3.0F)})}),
              ElementsAre(testing::FloatEq(0.25F), testing::FloatEq(0.75F)));
  EXPECT_THAT(result_of("layer_norm", {contiguous_tensor({1, 2}, {-3, 3}), vector, vector}),
              ElementsAre(testing::FloatNear(0, 1e-4F), testing::FloatNear(40, 1e-4F)));
}

TEST_F(Operations, AnswerManyCallsAndEnd) {
  wire::Task task;
  task.id = 5;
  task.mode = wire::Mode::kOperation;
  task.operation = "sum";
  wire::Job job;
  job.tasks = {task, task};
  RunnerProcess process(launch_, job);
  expect_event<wire::Hello>(process.next(), "");
  for (std::uint32_t n = 1; n <= 3; ++n) {  // ahead of their results
    process.call({contiguous_tensor({2}, {1, static_cast<float>(n)})});
  }
  process.end_calls();
  process.end_calls();
  for (std::uint32_t n = 1; n <= 3; ++n) {
    const auto result = expect_event<wire::Result>(process.next(), "");
    EXPECT_EQ(result.task, 5U);
    EXPECT_EQ(result.call, n);
    EXPECT_THAT(float_elements(result.output), ElementsAre(1 + static_cast<float>(n)));
  }
  expect_event<wire::TaskEnd>(process.next(), "");
  expect_event<wire::TaskEnd>(process.next(), "");
  expect_event<wire::Done>(process.next(), "");
}

TEST_F(Operations, TakeInputsLargerThanAPipe) {
  StandaloneOperation softmax(launch_, "softmax");
  for (int n = 0; n < 3; ++n) {
    const auto input = contiguous_tensor({4000, 1000}, std::vector<float>(4000000, 2.5F));
    const auto values = float_elements(softmax({input}));
    ASSERT_EQ(values.size(), 4000000U);
    EXPECT_FLOAT_EQ(values.back(), 1e-3F);
  }
}

TEST_F(Operations, ReadInputsThroughTheirStrides) {
  wire::TensorData columns = contiguous_tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  columns.layout = {wire::DType::kFloat32, {3, 2}, {1, 3}, 5, 52};
  EXPECT_THAT(result_of("sum", {columns}), ElementsAre(5, 7, 9));
}

TEST_F(Operations, NameWhatTheyRefuse) {
  const auto row = contiguous_tensor({2, 3}, std::vector<float>(6, 1));
  EXPECT_THAT(refusal_of("sortof", {row}), HasSubstr("there is no operation \"sortof\""));
  EXPECT_THAT(
      refusal_of("matmul", {row, row}),
      AllOf(HasSubstr("1.10.1"), HasSubstr("operation \"matmul\" refuses [2, 3], [2, 3]: ")));
  EXPECT_THAT(refusal_of("matmul", {row}), HasSubstr("it takes 2 inputs"));
  EXPECT_THAT(refusal_of("softmax", {}), HasSubstr("refuses no inputs: it takes 1 input"));
}

TEST_F(Operations, HaveNoInputsOfTheirOwn) {
  wire::Task task;
  task.mode = wire::Mode::kOperation;
  task.operation = "sum";
  wire::Job job;
  job.tasks = {task};
  RunnerProcess process(launch_, job);
  process.next();
  process.call({std::nullopt});
  try {
    process.next();
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("operation \"sum\" has no inputs of its own"));
  }
}

TEST_F(Operations, AreTheOnlyTasksThatNeedNoModel) {
  job_.weights.clear();
  EXPECT_THAT(error_with("", test::greedy_task(1)), HasSubstr("task 0 needs a model's weights"));
}

TEST_F(Operations, CarryThePlantedFaults) {
  const auto input = contiguous_tensor({2, 8}, random_values(16, -3, 3));
  const std::vector<float> plain = result_of("softmax", {input});
  const std::vector<float> moved = result_of("softmax", {input}, "bits@op=softmax,row=8");
  EXPECT_EQ(moved.at(3), std::nextafter(plain.at(3), INFINITY));
  EXPECT_EQ(result_of("softmax", {input}, "bits@op=softmax,row=9"), plain);
  EXPECT_EQ(result_of("softmax", {input}, "bits@op=softmax,step=2"), plain);
}

TEST_F(Operations, ExportTheKernelsOwnExponential) {
  if (!e2e::cpu_has_avx2()) {
    GTEST_SKIP() << "no AVX2";
  }
  const std::vector<float> x = random_values(1003, -80, 80);
  const std::vector<float> y = result_of("sleef_expf8_u10", {contiguous_tensor({17, 59}, x)});
  ASSERT_EQ(y.size(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_LE(ulp_distance(y[i], static_cast<float>(std::exp(static_cast<double>(x[i])))), 1U)
        << x[i];
  }
}

TEST_F(Operations, SayWhenTheBuildLacksAnExponential) {
  EXPECT_THAT(refusal_of("sleef_expf16_u10", {contiguous_tensor({1}, {1})}),
              testing::AnyOf(HasSubstr("this libtorch_cpu exports no Sleef_expf16_u10"),
                             HasSubstr("this CPU hasn't its instructions")));
}

}  // namespace
}  // namespace drift
