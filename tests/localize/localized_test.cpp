#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/localize.hpp"
#include "driftaudit/tensor.hpp"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// An operand with these elements; its digest stands for them.
wire::Operand operand(const std::vector<float>& values, std::uint64_t digest) {
  const wire::TensorData tensor =
      contiguous_tensor({static_cast<std::int64_t>(values.size())}, values);
  return {tensor.layout, false, digest, tensor.bytes};
}

wire::OperationRecord record_of(const std::string& name, const wire::Operand& input,
                                const wire::Operand& output) {
  wire::OperationRecord record;
  record.name = name;
  record.inputs = {input};
  record.output = output;
  return record;
}

wire::TensorData tensor_of(const std::vector<float>& values) {
  return contiguous_tensor({static_cast<std::int64_t>(values.size())}, values);
}

/// An operation whose inputs and output are the same on both sides, replayed alike.
ReplayedOperation unchanged(const std::string& name = "block.1.attn.softmax") {
  const wire::OperationRecord record = record_of(name, operand({1, 2}, 1), operand({3, 4}, 2));
  return {record, record, tensor_of({3, 4}), tensor_of({3, 4})};
}

TEST(LocalizedOperation, IsTheSameWhereNothingDiffers) {
  const LocalizedOperation operation = localized(unchanged());
  EXPECT_EQ(operation.name, "block.1.attn.softmax");
  EXPECT_THAT(operation.shape, ElementsAre(2U));
  EXPECT_TRUE(operation.same);
  EXPECT_TRUE(operation.inputs_same);
  EXPECT_EQ(operation.own, false);
  EXPECT_FALSE(operation.own_change);
  EXPECT_EQ(operation.max_abs_diff, 0);
}

TEST(LocalizedOperation, ChangedByItselfGivesOtherBitsOnEqualInputs) {
  ReplayedOperation replayed = unchanged();
  replayed.b.output = operand({3, 4.5F}, 3);
  replayed.b_on_a = tensor_of({3, 4.5F});
  const LocalizedOperation operation = localized(replayed);
  EXPECT_FALSE(operation.same);
  EXPECT_TRUE(operation.inputs_same);
  EXPECT_EQ(operation.own, true);
  EXPECT_EQ(operation.max_abs_diff, 0.5);
  EXPECT_EQ(operation.mean_abs_diff, 0.25);
  EXPECT_EQ(operation.max_ulp, 1U << 20U);
  EXPECT_EQ(operation.mean_ulp, 1U << 19U);
  EXPECT_EQ(operation.own_change->max_abs_diff, 0.5);
}

TEST(LocalizedOperation, TellsItsOwnChangeFromTheInheritedOne) {
  ReplayedOperation replayed = unchanged();
  replayed.b.inputs = {operand({1, 3}, 7)};
  replayed.b.output = operand({3, 8}, 8);
  replayed.b_on_a = tensor_of({3, 4.25F});
  const LocalizedOperation operation = localized(replayed);
  EXPECT_EQ(operation.own, true);
  EXPECT_EQ(operation.max_abs_diff, 4);
  ASSERT_TRUE(operation.own_change);
  EXPECT_EQ(operation.own_change->max_abs_diff, 0.25);
  EXPECT_EQ(operation.own_change->max_ulp, 1U << 19U);
}

TEST(LocalizedOperation, InheritsWhereOnlyItsInputsDiffer) {
  ReplayedOperation replayed = unchanged();
  replayed.b.inputs = {operand({1, 3}, 7)};
  replayed.b.output = operand({3, 5}, 8);
  const LocalizedOperation operation = localized(replayed);
  EXPECT_FALSE(operation.same);
  EXPECT_FALSE(operation.inputs_same);
  EXPECT_EQ(operation.own, false);
}

TEST(LocalizedOperation, IsNotReplayableWhereADoesNotRepeatItself) {
  ReplayedOperation replayed = unchanged();
  replayed.a_again = tensor_of({3, 4.5F});
  replayed.b_on_a = tensor_of({9, 9});
  EXPECT_EQ(localized(replayed).own, std::nullopt);
}

TEST(LocalizedOperation, TellsZerosOfEitherSignApart) {
  ReplayedOperation replayed = unchanged();
  replayed.a.output = replayed.b.output = operand({0, 0}, 2);
  replayed.a_again = tensor_of({0, 0});
  replayed.b_on_a = tensor_of({0, -0.0F});
  EXPECT_EQ(localized(replayed).own, true);
}

TEST(LocalizedOperation, PassesOverWhatLiesBetweenStrides) {
  const auto strided = [](float gap) {
    wire::TensorData tensor;
    tensor.layout.sizes = {2};
    tensor.layout.strides = {2};
    const float values[] = {3, gap, 4};
    tensor.bytes.resize(sizeof values);
    std::memcpy(tensor.bytes.data(), values, sizeof values);
    return tensor;
  };
  ReplayedOperation replayed = unchanged();
  replayed.a_again = strided(7);
  replayed.b_on_a = strided(8);
  EXPECT_EQ(localized(replayed).own, false);
}

TEST(LocalizedOperation, CountsNaN) {
  ReplayedOperation replayed = unchanged();
  replayed.b.output = operand({3, std::numeric_limits<float>::quiet_NaN()}, 9);
  const LocalizedOperation operation = localized(replayed);
  EXPECT_EQ(operation.non_finite, 1U);
  EXPECT_EQ(operation.max_abs_diff, 0);
}

TEST(CacheReentry, IsAChangeOfWhatIsReadFromTheCache) {
  ReplayedOperation replayed = unchanged("block.1.attn.keys");
  EXPECT_FALSE(cache_reentry(replayed));
  replayed.b.inputs = {operand({1, 2.25F}, 7)};
  const auto reentry = cache_reentry(replayed);
  ASSERT_TRUE(reentry);
  EXPECT_EQ(reentry->operation, "block.1.attn.keys");
  EXPECT_EQ(reentry->max_abs_diff, 0.25);
  EXPECT_EQ(reentry->max_ulp, 1U << 20U);
}

TEST(CacheReentry, IsNoChangeOfTheNewKeys) {
  ReplayedOperation replayed = unchanged("block.1.attn.values");
  replayed.a.inputs.push_back(operand({1}, 5));
  replayed.b.inputs.push_back(operand({2}, 6));
  EXPECT_FALSE(cache_reentry(replayed));
}

TEST(CacheReentry, IsOfNoOtherOperation) {
  ReplayedOperation replayed = unchanged("block.1.attn.scores");
  replayed.b.inputs = {operand({1, 3}, 7)};
  EXPECT_FALSE(cache_reentry(replayed));
}

LocalizedOperation named(const std::string& name, bool same, std::optional<bool> own,
                         double max_abs = 0) {
  LocalizedOperation operation;
  operation.name = name;
  operation.same = same;
  operation.own = own;
  operation.max_abs_diff = max_abs;
  return operation;
}

TEST(Summarize, FindsTheFirstDifferenceAndOwnOperations) {
  LocalizeRecord record;
  record.operations = {named("embed.sum", true, false), named("block.0.ln_1", false, false, 1),
                       named("block.0.mlp.residual", false, true, 2), named("ln_f", true, true),
                       named("lm_head", false, std::nullopt, 4)};
  summarize(record);
  EXPECT_EQ(record.first_difference, "block.0.ln_1");
  EXPECT_THAT(record.own, ElementsAre("block.0.mlp.residual", "ln_f"));
}

TEST(Summarize, FollowsTheLastOperationOfEachStage) {
  LocalizeRecord record;
  record.operations = {named("embed.tokens", true, false),
                       named("embed.sum", false, false, 1),
                       named("block.0.ln_1", false, false, 9),
                       named("block.0.mlp.residual", false, false, 2),
                       named("block.10.mlp.residual", false, false, 3),
                       named("ln_f", false, false, 4)};
  summarize(record);
  ASSERT_EQ(record.growth.size(), 4U);
  EXPECT_EQ(record.growth[0].stage, "embeddings");
  EXPECT_EQ(record.growth[0].operation, "embed.sum");
  EXPECT_EQ(record.growth[1].stage, "block 0");
  EXPECT_EQ(record.growth[1].max_abs_diff, 2);
  EXPECT_EQ(record.growth[2].stage, "block 10");
  EXPECT_EQ(record.growth[3].stage, "ln_f");
}

TEST(OperationKind, LeavesOutTheBlock) {
  EXPECT_EQ(operation_kind("block.11.mlp.gelu.tanh"), "mlp.gelu.tanh");
  EXPECT_EQ(operation_kind("ln_f"), "ln_f");
  EXPECT_EQ(operation_kind("embed.sum"), "embed.sum");
}

TEST(CheckMemory, NamesTheOperationThatDoesNotFit) {
  const wire::OperationRecord small = record_of("block.0.ln_1", operand({1}, 1), operand({1}, 1));
  const wire::OperationRecord large =
      record_of("lm_head", operand({1}, 1), operand(std::vector<float>(1000), 1));
  check_memory({small, large}, replay_bytes(large));
  EXPECT_GT(replay_bytes(large), 4 * 1000 * sizeof(float));
  try {
    check_memory({small, large}, replay_bytes(large) - 1);
    FAIL() << "it fits";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("lm_head needs 2"));
  }
}

TEST(CheckMemory, CountsNoWeights) {
  wire::OperationRecord operation = record_of("lm_head", operand({1}, 1), operand({1}, 1));
  const std::uint64_t before = replay_bytes(operation);
  wire::Operand weight;
  weight.layout.sizes = {1 << 20};
  weight.layout.strides = {1};
  weight.weight = true;
  operation.inputs.push_back(weight);
  EXPECT_EQ(replay_bytes(operation), before);
}

TEST(CompareAddress, NeedsTwoCommits) {
  EXPECT_EQ(compare_address("aaaa", "bbbb"),
            "https://github.com/pytorch/pytorch/compare/aaaa...bbbb");
  EXPECT_EQ(compare_address("aaaa", "aaaa"), "");
  EXPECT_EQ(compare_address("", "bbbb"), "");
}

TEST(SourceHint, NamesTheBlasWhereItDoesTheWork) {
  EXPECT_THAT(source_hint("softmax", "MKL 2020.0.0").files,
              testing::Contains("aten/src/ATen/native/cpu/SoftMaxKernel.cpp"));
  EXPECT_EQ(source_hint("softmax", "MKL 2020.0.0").note, "");
  EXPECT_THAT(source_hint("addmm", "MKL 2020.0.0").note, HasSubstr("MKL 2020.0.0"));
  EXPECT_THAT(source_hint("scaled_dot_product_attention", "MKL 2024.2").note,
              HasSubstr("its products are a BLAS's (MKL 2024.2)"));
  EXPECT_TRUE(source_hint("fold", "MKL").files.empty());
}

}  // namespace
}  // namespace drift
