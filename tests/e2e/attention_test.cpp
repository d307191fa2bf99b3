// The attentions that a real runner computes, and those that it can't. That their bits are
// transformers' own is held by transformers_test.cpp.

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "e2e/real_runner.hpp"

namespace drift {
namespace {

using test::Answer;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

class Attention : public test::RealRunnerTest {
 protected:
  /// From then on with a torch that has scaled_dot_product_attention.
  void use_sdpa() {
    const auto progress = make_silent_progress();
    launch_.label = "2.8.0";
    launch_.program = open_runner(inspect_build(last_4_venv(python_)), *progress).program;
    job_.attention = wire::Attention::kSdpa;
    job_.generate_calls = wire::GenerateCalls::kLastPosition;
  }
};

std::vector<std::vector<float>> logits_of(const Answer& answer) {
  std::vector<std::vector<float>> logits;
  for (const wire::Step& step : answer.steps) {
    logits.push_back(step.logits);
  }
  return logits;
}

TEST_F(Attention, IsRefusedWhereTorchLacksIt) {
  job_.attention = wire::Attention::kSdpa;
  EXPECT_THAT(error_with(""), HasSubstr("attention sdpa needs scaled_dot_product_attention with a "
                                        "scale, which torch has since 2.1; this is torch 1.10.1"));
}

TEST_F(Attention, IsRefusedWhereThereIsNone) {
  job_.attention = static_cast<wire::Attention>(7);
  EXPECT_THAT(error_with(""), HasSubstr("there is no attention 7"));
}

TEST_F(Attention, HasTheSameBitsMultipliedAsDividedByAPowerOfTwo) {
  const Answer divided = run(test::greedy_task(4));
  job_.score_scale = wire::ScoreScale::kMultiply;
  EXPECT_EQ(logits_of(run(test::greedy_task(4))), logits_of(divided)) << "heads of width 16";
}

TEST_F(Attention, OfOneOperationIsTracedRepeatsItselfAndTakesFaults) {
  use_sdpa();
  wire::Task traced = test::greedy_task(3);
  traced.trace = {{1, 2}, {"*"}, {}, {}};
  const Answer answer = run(traced);
  EXPECT_EQ(logits_of(run(test::greedy_task(3))), logits_of(answer));
  std::vector<std::string> names;
  for (const wire::OperationRecord& operation : answer.operations) {
    names.push_back(operation.name);
  }
  EXPECT_EQ(std::count(names.begin(), names.end(), "block.0.attn.sdpa"), 2);
  EXPECT_THAT(names, Not(Contains(HasSubstr("attn.softmax"))));

  const Answer masked = run_with("mask@step=2", test::greedy_task(3));
  EXPECT_EQ(masked.steps.at(0).logits, answer.steps.at(0).logits);
  EXPECT_NE(masked.steps.at(1).logits, answer.steps.at(1).logits);
  const Answer spoilt = run_with("bits@op=block.0.attn.sdpa,step=3", test::greedy_task(3));
  EXPECT_EQ(spoilt.steps.at(1).logits, answer.steps.at(1).logits);
  EXPECT_NE(spoilt.steps.at(2).logits, answer.steps.at(2).logits);
}

}  // namespace
}  // namespace drift
