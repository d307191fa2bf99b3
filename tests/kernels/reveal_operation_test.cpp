#include "driftaudit/reveal_operation.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/tensor.hpp"

#include "kernels/fake_operations.hpp"
#include "reveal/known_kernels.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;

OrderQuestion question(const std::string& operation, std::size_t length) {
  OrderQuestion question;
  question.operation = operation;
  question.length = length;
  question.proof_rows = 200;
  return question;
}

RowKernel each_element(float (*function)(float)) {
  return [function](std::size_t, std::size_t, std::span<const float> values) {
    std::vector<float> out(values.size());
    std::transform(values.begin(), values.end(), out.begin(), function);
    return out;
  };
}

/// As good as exp_of, but other bits now and then.
float other_exp(float x) { return std::exp2(x * 1.44269504F); }

class RevealOperation : public ::testing::Test {
 protected:
  RevealOperation() {
    operations_.add_rows("softmax", softmax_over(known_sum("8 lanes, serial fold").sum));
  }

  RevealedOrder reveal(const OrderQuestion& asked) {
    return reveal_operation(operations_.find(), asked);
  }

  FakeOperations operations_;
};

TEST_F(RevealOperation, ProvesSoftmaxWithTheExponentialThatReplaysIt) {
  operations_.add_rows("sleef_expf8_u10", each_element(other_exp));
  operations_.add_rows("exp", each_element(exp_of));
  const RevealedOrder order = reveal(question("softmax", 16));
  EXPECT_EQ(order.status, "proved");
  EXPECT_EQ(order.proof.exponential, "exp");
  EXPECT_EQ(order.proof.finish, "times the sum's reciprocal");
  EXPECT_EQ(order.proof.rows, 200U);
  EXPECT_EQ(order.note, "");
  EXPECT_EQ(order.fold, "8 lanes, vertical; then fold 0+1, +2 … (one after the other)");
}

TEST_F(RevealOperation, ProvesNothingWhereNoExponentialReplays) {
  operations_.add_rows("libm_expf", each_element(other_exp));
  const RevealedOrder order = reveal(question("softmax", 16));
  EXPECT_EQ(order.status, "consistent");
  EXPECT_LT(order.proof.proved_rows, order.proof.rows);
  EXPECT_EQ(order.note, "no exponential at hand replays every row; tried libm_expf");
}

TEST_F(RevealOperation, ProvesNothingWithoutAnExponential) {
  const RevealedOrder order = reveal(question("softmax", 16));
  EXPECT_EQ(order.status, "consistent");
  EXPECT_EQ(order.note, "no exponential is at hand");
}

TEST_F(RevealOperation, TriesTheWiderExponentialFirstWhereVectorsAreWider) {
  operations_.add_rows("sleef_expf8_u10", each_element(exp_of));
  operations_.add_rows("sleef_expf16_u10", each_element(exp_of));
  OrderQuestion asked = question("softmax", 16);
  asked.lanes = 16;
  EXPECT_EQ(reveal(asked).proof.exponential, "sleef_expf16_u10");
  EXPECT_EQ(operations_.calls_of("sleef_expf8_u10"), 0U) << "once it is proved no other is tried";
  asked.lanes = 8;
  EXPECT_EQ(reveal(asked).proof.exponential, "sleef_expf8_u10");
}

TEST_F(RevealOperation, LetsAnInterruptionThrough) {
  operations_.add("sleef_expf8_u10", [](std::vector<wire::TensorData>) -> wire::TensorData {
    throw Error(Status::kInterrupted, "interrupted");
  });
  EXPECT_THROW(reveal(question("softmax", 4)), Error);
}

TEST_F(RevealOperation, ProvesSums) {
  operations_.add_rows("sum", each_row(known_sum("8 lanes, tree fold").sum));
  const RevealedOrder order = reveal(question("sum", 24));
  EXPECT_EQ(order.status, "proved");
  EXPECT_EQ(order.fold, "8 lanes, vertical; then fold 4 apart, 2 apart, neighbours");
}

TEST_F(RevealOperation, TellsAMeanThatScalesASumFromOneThatRuns) {
  const RowSum sum = known_sum("serial").sum;
  operations_.add_rows("mean", each_row([sum](std::span<const float> x) {
                         return sum(x) / static_cast<float>(x.size());
                       }));
  EXPECT_EQ(reveal(question("mean", 2)).fold, "serial");
  const RevealedOrder scaled = reveal(question("mean", 20));
  EXPECT_EQ(scaled.status, "proved");
  EXPECT_EQ(scaled.proof.finish, "divided by the length");
  operations_.add_rows("mean", each_row(running_mean));
  const RevealedOrder running = reveal(question("mean", 20));
  EXPECT_EQ(running.status, "not a sum");
  EXPECT_EQ(running.tree, "");
  EXPECT_THAT(running.why_not, HasSubstr("running moments"));
}

/// A matmul in lanes with fused multiply-adds; a product of several columns adds its last one
/// serially.
wire::TensorData uneven_matmul(std::vector<wire::TensorData> inputs) {
  const std::vector<float> a = float_elements(inputs.at(0));
  const std::vector<float> b = float_elements(inputs.at(1));
  const std::int64_t rows = inputs[0].layout.sizes[0];
  const std::int64_t columns = inputs[1].layout.sizes[1];
  const auto inner = static_cast<std::size_t>(inputs[0].layout.sizes[1]);
  const auto width = static_cast<std::size_t>(columns);
  std::vector<float> out;
  for (std::size_t at = 0; at < static_cast<std::size_t>(rows * columns); ++at) {
    std::vector<float> column;
    for (std::size_t k = 0; k < inner; ++k) {
      column.push_back(b[k * width + at % width]);
    }
    const std::span<const float> row = std::span(a).subspan(at / width * inner, inner);
    float serial = 0;
    for (std::size_t k = 0; k < inner; ++k) {
      serial += row[k] * column[k];
    }
    out.push_back(width > 1 && at % width == width - 1 ? serial : lanes_dot(row, column, true));
  }
  return contiguous_tensor({rows, columns}, out);
}

TEST_F(RevealOperation, FindsTheFusedProductsOfAMatmul) {
  operations_.add("matmul", uneven_matmul);
  OrderQuestion asked = question("matmul", 16);
  asked.shape = {2, 1};
  const RevealedOrder order = reveal(asked);
  EXPECT_EQ(order.status, "proved");
  EXPECT_THAT(order.fold, HasSubstr("fused multiply-add"));
  EXPECT_EQ(order.note, "elements of the 2 × 1 product add alike, all of them");
}

TEST_F(RevealOperation, SaysThatElementsOfAProductAddDifferently) {
  operations_.add("matmul", uneven_matmul);
  OrderQuestion asked = question("matmul", 16);
  asked.shape = {2, 3};
  const RevealedOrder order = reveal(asked);
  EXPECT_EQ(order.status, "proved") << "of the element that is told";
  EXPECT_EQ(order.note,
            "elements of the 2 × 3 product add differently: this is the order at row 0, column 0");
}

TEST_F(RevealOperation, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(reveal(question("conv", 4)), Error);
  EXPECT_THROW(reveal(question("softmax", 0)), Error);
  EXPECT_THROW(reveal(question("sum", 4)), Error) << "the build has none";
}

}  // namespace
}  // namespace drift
