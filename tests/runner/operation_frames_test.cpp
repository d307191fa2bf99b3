#include "runner/operation_frames.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "runner/payload.hpp"
#include "runner/wire.hpp"

namespace drift::wire {
namespace {

/// [2, 3] in columns of a storage with rows of 4: 2 + 1 * 4 + 1 elements from the offset on.
TensorData columns() {
  TensorData tensor;
  tensor.layout = {DType::kFloat32, {2, 3}, {1, 4}, 5, 48};
  tensor.bytes.assign(10 * 4, 'x');
  return tensor;
}

Operand operand() { return {columns().layout, false, 77, columns().bytes}; }

template <class T>
void expect_every_cut_is_refused(const T& value) {
  const std::string whole = payload_of(value);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse<T>(whole.substr(0, size)), std::runtime_error) << size;
  }
  EXPECT_THROW(parse<T>(whole + '\0'), std::runtime_error);
}

TEST(TensorLayout, CountsElementsAndWhatTheySpan) {
  EXPECT_EQ(columns().layout.elements(), 6U);
  EXPECT_EQ(columns().layout.extent(), 10U);
  EXPECT_EQ((TensorLayout{DType::kFloat32, {}, {}, 0, 0}.extent()), 1U);
  EXPECT_EQ((TensorLayout{DType::kFloat32, {1000, 4}, {0, 1}, 0, 0}.extent()), 4U);
  EXPECT_EQ((TensorLayout{DType::kFloat32, {0, 4}, {4, 1}, 0, 0}.extent()), 0U);
}

TEST(TensorData, ComesBackAsItLay) {
  const TensorData back = parse<TensorData>(payload_of(columns()));
  EXPECT_EQ(back.layout, columns().layout);
  EXPECT_EQ(back.bytes, columns().bytes);
}

TEST(TensorData, RefusesOtherBytesThanItsLayoutSpans) {
  TensorData tensor = columns();
  tensor.bytes.pop_back();
  EXPECT_THROW(parse<TensorData>(payload_of(tensor)), std::runtime_error);
  tensor.bytes += "xx";
  EXPECT_THROW(parse<TensorData>(payload_of(tensor)), std::runtime_error);
}

TEST(TensorData, RefusesLayoutsThatNoTensorHas) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  const auto bytes = static_cast<std::uint64_t>(kMaxPayload);
  for (const TensorLayout& layout : {
           TensorLayout{static_cast<DType>(9), {2}, {1}, 0, 0},
           TensorLayout{DType::kFloat32, {2, 3}, {1}, 0, 0},
           TensorLayout{DType::kFloat32, {-1}, {1}, 0, 0},
           TensorLayout{DType::kFloat32, {2}, {-1}, 0, 0},
           TensorLayout{DType::kFloat32, {huge, huge}, {0, 0}, 0, 0},
           TensorLayout{DType::kFloat32, {2, 2}, {huge, huge}, 0, 0},
           TensorLayout{DType::kFloat32, {3}, {huge}, 0, 0},
           TensorLayout{DType::kFloat32, {1}, {1}, bytes, 0},
           TensorLayout{DType::kFloat32, {2}, {1}, bytes / 4 - 1, 0},
           TensorLayout{DType::kFloat32, {1}, {1}, std::numeric_limits<std::uint64_t>::max(), 0},
           TensorLayout{DType::kFloat32, {2}, {1}, 0, 64},
           TensorLayout{DType::kFloat32, {2}, {1}, 0, 2},
           TensorLayout{DType::kFloat32, std::vector<std::int64_t>(65, 1),
                        std::vector<std::int64_t>(65, 1), 0, 0},
       }) {
    EXPECT_THROW(check_layout(layout), std::runtime_error);
  }
  EXPECT_NO_THROW(check_layout({DType::kFloat32, {1}, {1}, bytes / 4 - 1, 60}));
  EXPECT_NO_THROW(check_layout({DType::kBool, {1, 2}, {huge, 1}, 0, 63}));
}

TEST(OperationFrames, GiveARecordBack) {
  OperationRecord record{1, 2, 3, "block.0.attn.softmax", {operand(), operand()}, operand()};
  record.inputs[1].weight = true;
  record.inputs[1].bytes.reset();
  const OperationRecord back = parse<OperationRecord>(payload_of(record));
  EXPECT_EQ(back.task, 1U);
  EXPECT_EQ(back.step, 2U);
  EXPECT_EQ(back.index, 3U);
  EXPECT_EQ(back.name, "block.0.attn.softmax");
  ASSERT_EQ(back.inputs.size(), 2U);
  EXPECT_EQ(back.inputs[0].layout, operand().layout);
  EXPECT_EQ(back.inputs[0].digest, 77U);
  EXPECT_FALSE(back.inputs[0].weight);
  EXPECT_EQ(back.inputs[0].bytes, operand().bytes);
  EXPECT_TRUE(back.inputs[1].weight);
  EXPECT_FALSE(back.inputs[1].bytes);
  EXPECT_EQ(back.output.bytes, operand().bytes);
}

TEST(OperationFrames, GiveQuestionsCallsAndResultsBack) {
  const Question question = parse<Question>(payload_of(Question{1, 2, 3, "ln_f", {operand()}}));
  EXPECT_EQ(question.step, 2U);
  EXPECT_EQ(question.index, 3U);
  EXPECT_EQ(question.name, "ln_f");
  EXPECT_EQ(question.inputs.at(0).digest, 77U);

  const Call call = parse<Call>(payload_of(Call{false, {columns(), std::nullopt}}));
  EXPECT_FALSE(call.end);
  ASSERT_EQ(call.inputs.size(), 2U);
  EXPECT_EQ(call.inputs[0]->layout, columns().layout);
  EXPECT_FALSE(call.inputs[1]);
  EXPECT_TRUE(parse<Call>(payload_of(Call{true, {}})).end);

  const Result result = parse<Result>(payload_of(Result{4, 5, columns()}));
  EXPECT_EQ(result.task, 4U);
  EXPECT_EQ(result.call, 5U);
  EXPECT_EQ(result.output.bytes, columns().bytes);
}

TEST(OperationFrames, AreRefusedTooShortOrTooLong) {
  expect_every_cut_is_refused(OperationRecord{
      1, 2, 3, "ln_f", {operand(), Operand{columns().layout, true, 0, {}}}, operand()});
  expect_every_cut_is_refused(Question{1, 2, 3, "ln_f", {operand()}});
  expect_every_cut_is_refused(Call{false, {columns(), std::nullopt}});
  expect_every_cut_is_refused(Result{4, 5, columns()});
}

TEST(OperationFrames, RefuseAnOperandWhoseBytesAreNotThoseOfItsLayout) {
  Operand operand{columns().layout, false, 77, "too short"};
  EXPECT_THROW(parse<Question>(payload_of(Question{1, 2, 3, "ln_f", {operand}})),
               std::runtime_error);
}

}  // namespace
}  // namespace drift::wire
