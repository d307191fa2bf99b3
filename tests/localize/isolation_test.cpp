#include "driftaudit/isolation.hpp"

#include <deque>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/tensor.hpp"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// The sum of a row in one order or another.
using RowSum = std::function<float(const float* row, std::size_t length)>;

float serial_sum(const float* row, std::size_t length) {
  float sum = 0;
  for (std::size_t i = 0; i < length; ++i) {
    sum += row[i];
  }
  return sum;
}

/// From `from` elements on in two halves.
RowSum halved_from(std::size_t from) {
  return [from](const float* row, std::size_t length) {
    return length < from
               ? serial_sum(row, length)
               : serial_sum(row, length / 2) + serial_sum(row + length / 2, length - length / 2);
  };
}

/// A kernel of rows [rows, length] that is told what it is called with.
class SyntheticKernel final : public AskedKernel {
 public:
  using Choose = std::function<RowSum(const wire::TensorLayout& layout)>;

  explicit SyntheticKernel(RowSum sum)
      : SyntheticKernel([sum = std::move(sum)](const wire::TensorLayout&) { return sum; }) {}
  explicit SyntheticKernel(Choose choose) : choose_(std::move(choose)) {}

  void call(std::vector<wire::TensorData> inputs) override {
    const wire::TensorLayout& layout = inputs.at(0).layout;
    const RowSum sum = choose_(layout);
    const std::vector<float> x = float_elements(inputs[0]);
    const auto length = static_cast<std::size_t>(layout.sizes[1]);
    std::vector<float> sums;
    for (std::size_t at = 0; at < x.size(); at += length) {
      sums.push_back(sum(x.data() + at, length));
    }
    results_.push_back(contiguous_tensor({layout.sizes[0]}, sums));
  }
  wire::TensorData result() override {
    wire::TensorData result = std::move(results_.front());
    results_.pop_front();
    return result;
  }

 private:
  Choose choose_;
  std::deque<wire::TensorData> results_;
};

SweepPlan short_sweep() {
  SweepPlan plan;
  for (std::uint64_t length = 1; length <= 20; ++length) {
    plan.lengths.push_back(length);
  }
  plan.lengths.insert(plan.lengths.end(), {31, 32, 33});
  return plan;
}

IsolatedOperation swept(SyntheticKernel a, SyntheticKernel b) {
  return sweep("block.0.attn.softmax", {"softmax", RowFamily::kUnary}, {&a, &b}, std::nullopt, {},
               short_sweep());
}

const IsolationCondition& condition(const IsolatedOperation& isolated, const std::string& name) {
  for (const IsolationCondition& condition : isolated.conditions) {
    if (condition.condition == name) {
      return condition;
    }
  }
  throw std::logic_error(name);
}

TEST(Sweep, FindsTheLengthsFromWhichAnotherOrderGivesOtherBits) {
  const IsolatedOperation isolated =
      swept(SyntheticKernel(RowSum(serial_sum)), SyntheticKernel(halved_from(8)));
  EXPECT_EQ(isolated.operation, "block.0.attn.softmax");
  EXPECT_EQ(isolated.function, "softmax");
  EXPECT_THAT(isolated.lengths_tried, ElementsAre(LengthRange{1, 20}, LengthRange{31, 33}));
  EXPECT_THAT(isolated.lengths_same, ElementsAre(LengthRange{1, 7}));
  EXPECT_THAT(isolated.lengths_differ, ElementsAre(LengthRange{8, 33}));
  EXPECT_EQ(isolated.rows_tried, 23U * 256U);
  ASSERT_TRUE(isolated.share_differ);
  EXPECT_GT(*isolated.share_differ, 0.05);
  EXPECT_LT(*isolated.share_differ, 1);
  EXPECT_DOUBLE_EQ(*isolated.share_differ,
                   static_cast<double>(isolated.rows_differ) / (16. * 256.));
  for (const IsolationCondition& condition : isolated.conditions) {
    EXPECT_THAT(condition.moves_a, IsEmpty()) << condition.condition;
    EXPECT_THAT(condition.moves_b, IsEmpty()) << condition.condition;
  }
}

TEST(Sweep, FindsNothingBetweenEqualKernels) {
  const IsolatedOperation isolated =
      swept(SyntheticKernel(halved_from(4)), SyntheticKernel(halved_from(4)));
  EXPECT_THAT(isolated.lengths_same, ElementsAre(LengthRange{1, 33}));
  EXPECT_THAT(isolated.lengths_differ, IsEmpty());
  EXPECT_EQ(isolated.rows_differ, 0U);
  EXPECT_FALSE(isolated.share_differ);
}

TEST(Sweep, TellsThatASidesBitsHangOnTheAddress) {
  const SyntheticKernel::Choose by_address = [](const wire::TensorLayout& layout) {
    return layout.alignment % 32 == 0 ? RowSum(serial_sum) : halved_from(10);
  };
  const IsolatedOperation isolated =
      swept(SyntheticKernel(RowSum(serial_sum)), SyntheticKernel(by_address));
  EXPECT_THAT(isolated.lengths_differ, ElementsAre(LengthRange{10, 33}));
  EXPECT_EQ(isolated.rows_differ, 0U) << "at the first address nothing differs";
  EXPECT_THAT(condition(isolated, "alignment").tried, ElementsAre(0U, 4U, 16U, 32U));
  EXPECT_THAT(condition(isolated, "alignment").moves_a, IsEmpty());
  EXPECT_THAT(condition(isolated, "alignment").moves_b, ElementsAre(LengthRange{10, 33}));
  EXPECT_THAT(condition(isolated, "rows").moves_b, IsEmpty());
}

TEST(Sweep, TellsThatASidesBitsHangOnTheNumberOfRows) {
  const SyntheticKernel::Choose by_rows = [](const wire::TensorLayout& layout) {
    return layout.sizes[0] == 1 ? halved_from(12) : RowSum(serial_sum);
  };
  const IsolatedOperation isolated =
      swept(SyntheticKernel(by_rows), SyntheticKernel(RowSum(serial_sum)));
  // One row a length is too little to move at each.
  EXPECT_FALSE(condition(isolated, "rows").moves_a.empty());
  EXPECT_GE(condition(isolated, "rows").moves_a.front().first, 12U);
  EXPECT_THAT(condition(isolated, "rows").moves_b, IsEmpty());
  EXPECT_THAT(condition(isolated, "alignment").moves_a, IsEmpty());
}

TEST(Sweep, TellsThatASidesBitsHangOnThreads) {
  SyntheticKernel a{RowSum(serial_sum)};
  SyntheticKernel b{RowSum(serial_sum)};
  SyntheticKernel a_on_two{RowSum(serial_sum)};
  SyntheticKernel b_on_two(halved_from(16));
  const IsolatedOperation isolated = sweep("lm_head", {"softmax", RowFamily::kUnary}, {&a, &b},
                                           KernelPair{&a_on_two, &b_on_two}, {1, 2}, short_sweep());
  EXPECT_THAT(condition(isolated, "threads").tried, ElementsAre(1U, 2U));
  EXPECT_THAT(condition(isolated, "threads").moves_a, IsEmpty());
  EXPECT_THAT(condition(isolated, "threads").moves_b, ElementsAre(LengthRange{16, 33}));
  EXPECT_THAT(isolated.lengths_same, ElementsAre(LengthRange{1, 15}));
}

TEST(Sweep, StopsWhereASideDoesNotRepeatItself) {
  int calls = 0;
  const SyntheticKernel::Choose fickle = [&calls](const wire::TensorLayout& layout) {
    return layout.sizes[1] == 5 && ++calls % 2 == 0 ? halved_from(1) : RowSum(serial_sum);
  };
  const IsolatedOperation isolated =
      swept(SyntheticKernel(RowSum(serial_sum)), SyntheticKernel(fickle));
  EXPECT_THAT(isolated.why_not, HasSubstr("at length 5"));
  EXPECT_THAT(isolated.lengths_differ, IsEmpty());
}

/// Remembers the layouts of one call's inputs.
class LayoutKernel final : public AskedKernel {
 public:
  void call(std::vector<wire::TensorData> inputs) override {
    if (layouts.empty()) {
      for (const wire::TensorData& input : inputs) {
        EXPECT_NO_THROW(wire::check_bytes(input.layout, input.bytes));
        layouts.push_back(input.layout);
        elements.push_back(float_elements(input));
      }
    }
  }
  wire::TensorData result() override { return contiguous_tensor({0}, {}); }

  std::vector<wire::TensorLayout> layouts;
  std::vector<std::vector<float>> elements;
};

/// The sizes of the inputs that a family's operations get at length 3.
std::vector<std::vector<std::int64_t>> sizes_of(RowFamily family) {
  LayoutKernel a;
  LayoutKernel b;
  SweepPlan plan;
  plan.lengths = {3};
  plan.rows = {5};
  plan.columns = 7;
  sweep("x", {"x", family}, {&a, &b}, std::nullopt, {}, plan);
  EXPECT_EQ(a.elements, b.elements) << "both sides are given the same";
  std::vector<std::vector<std::int64_t>> sizes;
  for (const wire::TensorLayout& layout : a.layouts) {
    sizes.push_back(layout.sizes);
  }
  return sizes;
}

TEST(Sweep, GivesEachFamilyItsInputs) {
  using Sizes = std::vector<std::vector<std::int64_t>>;
  EXPECT_EQ(sizes_of(RowFamily::kUnary), (Sizes{{5, 3}}));
  EXPECT_EQ(sizes_of(RowFamily::kBinary), (Sizes{{5, 3}, {5, 3}}));
  EXPECT_EQ(sizes_of(RowFamily::kNorm), (Sizes{{5, 3}, {3}, {3}}));
  EXPECT_EQ(sizes_of(RowFamily::kAddmm), (Sizes{{7}, {5, 3}, {3, 7}}));
  EXPECT_EQ(sizes_of(RowFamily::kLinear), (Sizes{{5, 3}, {7, 3}}));
  EXPECT_EQ(sizes_of(RowFamily::kMatmul), (Sizes{{1, 1, 5, 3}, {1, 1, 3, 7}}));
  EXPECT_EQ(sizes_of(RowFamily::kMatmulTransposed), (Sizes{{1, 1, 5, 3}, {1, 1, 3, 7}}));
  EXPECT_EQ(sizes_of(RowFamily::kAttention), (Sizes{{5, 1, 1, 7}, {5, 1, 3, 7}, {5, 1, 3, 7}}));
}

TEST(FullSweep, HasShortLengthsAndTheNeighboursOfPowersOfTwo) {
  const std::vector<std::uint64_t> lengths = full_sweep().lengths;
  EXPECT_EQ(lengths.size(), 83U);
  EXPECT_EQ(lengths.front(), 1U);
  EXPECT_EQ(lengths[63], 64U);
  EXPECT_EQ(lengths[65], 127U);
  EXPECT_EQ(lengths.back(), 4097U);
  EXPECT_TRUE(std::is_sorted(lengths.begin(), lengths.end()));
}

TEST(RangesOf, TakesInNeighboursOfTheListOnly) {
  const std::vector<std::uint64_t> tried{1, 2, 3, 31, 32, 33};
  EXPECT_THAT(ranges_of(tried, {true, true, false, true, false, true}),
              ElementsAre(LengthRange{1, 2}, LengthRange{31, 31}, LengthRange{33, 33}));
  EXPECT_THAT(ranges_of(tried, {false, false, true, true, true, true}),
              ElementsAre(LengthRange{3, 33}));
  EXPECT_THAT(ranges_of(tried, std::vector<bool>(6)), IsEmpty());
}

TEST(OperationFunction, IsTheSameForAllThatCallIt) {
  EXPECT_EQ(operation_function("ln_1").name, "layer_norm");
  EXPECT_EQ(operation_function("ln_f").name, "layer_norm");
  EXPECT_EQ(operation_function("mlp.fc").family, RowFamily::kAddmm);
  EXPECT_EQ(operation_function("attn.mask").family, RowFamily::kMoves);
  EXPECT_EQ(operation_function("attn.sdpa").name, "scaled_dot_product_attention");
  EXPECT_EQ(operation_function("attn.sdpa").family, RowFamily::kAttention);
  EXPECT_EQ(operation_function("attn.scale").name, "div");
  EXPECT_EQ(operation_function("attn.scale", wire::ScoreScale::kMultiply).name, "mul");
  EXPECT_EQ(operation_function("attn.mask", wire::ScoreScale::kMultiply).name, "add");
  EXPECT_EQ(operation_function("ln_1", wire::ScoreScale::kMultiply).name, "layer_norm");
  EXPECT_EQ(operation_function("mlp.swiglu").name, "mlp.swiglu");
  EXPECT_EQ(operation_function("mlp.swiglu").family, RowFamily::kUnknown);
}

}  // namespace
}  // namespace drift
