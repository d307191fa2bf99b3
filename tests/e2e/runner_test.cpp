// A real runner, on January's libtorch, through the driver's end of the protocol.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/doubtful_settings.hpp"

#include "e2e/real_runner.hpp"

namespace drift {
namespace {

using test::Answer;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

wire::Task greedy(std::uint32_t new_tokens) { return test::greedy_task(new_tokens); }

wire::Task sampled(std::uint32_t new_tokens) {
  wire::Task result = greedy(new_tokens);
  result.mode = wire::Mode::kSample;
  result.ids = {11, 22, 33};
  result.top_k = 50;
  return result;
}

class RealRunner : public test::RealRunnerTest {};

TEST_F(RealRunner, SaysWhatItIs) {
  job_.threads = 2;
  RunnerProcess process(launch_, job_);
  const RunnerFacts facts = facts_from(std::get<wire::Hello>(process.next()));
  EXPECT_EQ(facts.torch, "1.10.1");
  EXPECT_EQ(facts.blas, "MKL 2020.0.0");
  EXPECT_EQ(facts.aten_threads, 2U);
  EXPECT_EQ(facts.blas_threads, 2U);
  EXPECT_GT(std::get<wire::Done>(process.next()).peak_memory_bytes, 1U << 20);
}

TEST_F(RealRunner, DrawsAgainWhatItSampled) {
  wire::Task sampled = greedy(6);
  sampled.mode = wire::Mode::kSample;
  sampled.seed = 1234;
  sampled.top_k = 50;
  const Answer answer = run(sampled);
  for (std::uint32_t before : {0U, 4U}) {
    wire::Task again = sampled;
    again.mode = wire::Mode::kDraw;
    again.draws_before = before;
    again.logits = answer.steps.at(before).logits;
    const wire::Step drawn = run(again).steps.at(0);
    EXPECT_EQ(drawn.token, answer.steps[before].token);
    EXPECT_EQ(drawn.draw_digest, answer.steps[before].draw_digest);
  }
}

TEST_F(RealRunner, TellsTheGenericKernelsFromTheFastOnes) {
  launch_.environment["ATEN_CPU_CAPABILITY"] = "default";
  RunnerProcess process(launch_, job_);
  EXPECT_EQ(facts_from(std::get<wire::Hello>(process.next())).cpu_capability, "DEFAULT");
}

TEST_F(RealRunner, NamesTheKernelsThatMklGoesFor) {
  const auto dispatch = [&] {
    RunnerProcess process(launch_, job_);
    return facts_from(std::get<wire::Hello>(process.next())).blas_dispatch.value_or("nothing");
  };
  launch_.environment.erase("MKL_CBWR");
  EXPECT_THAT(dispatch(), Not(AnyOf("nothing", HasSubstr("cbwr"))));
  // Which branch it takes is the processor's business: some take AUTO for each that is asked for.
  launch_.environment["MKL_CBWR"] = "COMPATIBLE";
  EXPECT_THAT(dispatch(), HasSubstr(" cbwr "));
}

TEST_F(RealRunner, PrintsWhatATenThinksOfAValueThatItIgnores) {
  launch_.environment["ATEN_CPU_CAPABILITY"] = "Default";
  RunnerProcess process(launch_, job_);
  const RunnerFacts facts = facts_from(std::get<wire::Hello>(process.next()));
  EXPECT_GT(std::get<wire::Done>(process.next()).peak_address_bytes, 1U << 20);
  EXPECT_THAT(process.log_tail(), HasSubstr("ignoring invalid value for ATEN_CPU_CAPABILITY"));
  EXPECT_EQ(doubtful_settings({{"ATEN_CPU_CAPABILITY", "Default"}}, facts).empty(),
            facts.cpu_capability == "DEFAULT");
}

TEST_F(RealRunner, ChoosesTheHighestLogitAndStopsAtTheLength) {
  const Answer answer = run(greedy(5));
  ASSERT_THAT(answer.steps, SizeIs(5));
  EXPECT_EQ(answer.end.stopped, wire::Stopped::kLength);
  EXPECT_GT(answer.end.seconds, 0);
  for (const wire::Step& step : answer.steps) {
    ASSERT_THAT(step.logits, SizeIs(config_.vocab_size));
    const auto best = std::max_element(step.logits.begin(), step.logits.end());
    EXPECT_EQ(step.token, best - step.logits.begin());
    EXPECT_FALSE(step.given);
    EXPECT_FALSE(step.draw_digest);
  }
}

TEST_F(RealRunner, RepeatsItselfBitForBit) {
  const Answer first = run(sampled(5));
  const Answer second = run(sampled(5));
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(first.steps.at(i).logits, second.steps.at(i).logits);
    EXPECT_EQ(first.steps.at(i).token, second.steps.at(i).token);
    EXPECT_EQ(first.steps.at(i).draw_digest, second.steps.at(i).draw_digest);
  }
}

TEST_F(RealRunner, SeedsEachTaskAnew) {
  wire::Job job = job_;
  job.tasks = {sampled(5), sampled(5)};
  RunnerProcess process(launch_, job);
  std::vector<std::int32_t> tokens;
  for (auto event = process.next(); !std::holds_alternative<wire::Done>(event);
       event = process.next()) {
    if (const auto* step = std::get_if<wire::Step>(&event)) {
      tokens.push_back(step->token);
    }
  }
  ASSERT_THAT(tokens, SizeIs(10));
  EXPECT_TRUE(std::equal(tokens.begin(), tokens.begin() + 5, tokens.begin() + 5));
}

TEST_F(RealRunner, DigestsTheDrawAndNotTheLogits) {
  wire::Task other_prompt = sampled(2);
  other_prompt.ids = {99, 98};
  wire::Task other_seed = sampled(2);
  other_seed.seed = 5;
  for (const wire::Sampler sampler : {wire::Sampler::kTorch, wire::Sampler::kFixed}) {
    wire::Task one = sampled(2);
    one.sampler = other_prompt.sampler = other_seed.sampler = sampler;
    const Answer answer = run(one);
    ASSERT_TRUE(answer.steps.at(0).draw_digest);
    EXPECT_NE(answer.steps[0].draw_digest, answer.steps.at(1).draw_digest);
    EXPECT_EQ(answer.steps[0].draw_digest, run(other_prompt).steps.at(0).draw_digest);
    EXPECT_NE(answer.steps[0].draw_digest, run(other_seed).steps.at(0).draw_digest);
  }
}

TEST_F(RealRunner, KeepsSamplesAmongTheHighest) {
  wire::Task one = sampled(8);
  one.top_k = 2;
  one.temperature = 5;
  for (const wire::Sampler sampler : {wire::Sampler::kTorch, wire::Sampler::kFixed}) {
    one.sampler = sampler;
    for (const wire::Step& step : run(one).steps) {
      const float own = step.logits.at(static_cast<std::size_t>(step.token));
      EXPECT_LE(std::count_if(step.logits.begin(), step.logits.end(),
                              [&](float logit) { return logit > own; }),
                1);
    }
  }
}

TEST_F(RealRunner, TakesATopKBeyondTheVocabulary) {
  wire::Task all = sampled(3);
  all.top_k = 0;
  wire::Task too_many = all;
  too_many.top_k = config_.vocab_size + 7;
  EXPECT_EQ(run(all).tokens(), run(too_many).tokens());
}

TEST_F(RealRunner, StopsAfterTheEndOfText) {
  wire::Task one = greedy(5);
  const std::vector<std::int32_t> tokens = run(one).tokens();
  one.end_of_text = {-5, tokens.at(1)};  // any of them ends it
  const Answer answer = run(one);
  EXPECT_EQ(answer.end.stopped, wire::Stopped::kEndOfText);
  EXPECT_EQ(answer.steps.back().token, tokens[1]);
  EXPECT_LE(answer.steps.size(), 2U);
}

TEST_F(RealRunner, StopsWhereTheContextIsFull) {
  for (const bool cache : {true, false}) {
    wire::Task one = greedy(10);
    one.ids.assign(config_.n_positions - 2, 7);
    one.cache = cache;
    const Answer answer = run(one);
    EXPECT_THAT(answer.steps, SizeIs(3));  // the last one reads the last position
    EXPECT_EQ(answer.end.stopped, wire::Stopped::kContext);
  }
}

TEST_F(RealRunner, GoesOnFromTheTokensThatItIsFed) {
  wire::Task fed = greedy(9);
  fed.fed = true;
  const Answer answer = run(fed, {5, 6, -1});
  ASSERT_THAT(answer.steps, SizeIs(3));
  EXPECT_EQ(answer.end.stopped, wire::Stopped::kFed);

  wire::Task same_context = greedy(1);
  same_context.ids.insert(same_context.ids.end(), {5, 6});
  EXPECT_EQ(run(same_context).tokens().at(0), answer.tokens().at(2));
}

TEST_F(RealRunner, StopsAFedTaskAtItsLengthAndAtAFedEndOfText) {
  wire::Task fed = greedy(2);
  fed.fed = true;
  fed.end_of_text = {9};
  EXPECT_EQ(run(fed, {5, 6}).end.stopped, wire::Stopped::kLength);
  EXPECT_EQ(run(fed, {9}).end.stopped, wire::Stopped::kEndOfText);
}

TEST_F(RealRunner, ScoresEveryPositionButTheLast) {
  wire::Task score = greedy(0);
  score.mode = wire::Mode::kScore;
  const Answer answer = run(score);
  ASSERT_EQ(answer.steps.size(), score.ids.size() - 1);
  for (std::size_t i = 0; i < answer.steps.size(); ++i) {
    EXPECT_EQ(answer.steps[i].given, score.ids[i + 1]);
    EXPECT_EQ(answer.steps[i].step, i + 1);
  }
  wire::Task prefix = greedy(1);
  prefix.ids.resize(8);
  EXPECT_EQ(answer.tokens().back(), run(prefix).tokens().at(0));
}

TEST_F(RealRunner, RefusesTasksThatTheModelCannotRun) {
  wire::Task one = greedy(1);
  one.ids = {static_cast<std::int32_t>(config_.vocab_size)};
  EXPECT_THAT(error_with("", one), HasSubstr("not in the vocabulary"));
  one.ids.assign(config_.n_positions + 1, 1);
  EXPECT_THAT(error_with("", one), HasSubstr("where the model takes 1 to"));
}

TEST_F(RealRunner, NamesAWeightsFileThatIsNone) {
  job_.weights = "/etc/passwd";
  EXPECT_THAT(error_with(""), HasSubstr("/etc/passwd: not a canonical weights file"));
}

TEST_F(RealRunner, DiesAsItsFaultsSay) {
  EXPECT_THAT(error_with("kill@step=2"), HasSubstr("signal 9"));
  EXPECT_THAT(error_with("exit@step=2"), HasSubstr("exit status 7"));
  EXPECT_THAT(error_with("fail@step=2"), HasSubstr("a planted failure"));
  EXPECT_THAT(error_with("garbage@step=2"), HasSubstr("sent a malformed frame"));
  EXPECT_THAT(error_with("no such thing"), HasSubstr("no such fault"));
  launch_.timeout_seconds = 3;
  EXPECT_THAT(error_with("hang@step=2"), HasSubstr("hangs"));
}

TEST_F(RealRunner, KeepsTextOnStdoutOutOfTheFrames) {
  EXPECT_EQ(run_with("text", greedy(3)).tokens(), run(greedy(3)).tokens());
}

TEST_F(RealRunner, PlantsNanWhereItIsTold) {
  const Answer answer = run_with("nan@op=block.0.attn.softmax,step=2", greedy(3));
  const auto is_nan = [](float x) { return std::isnan(x); };
  ASSERT_THAT(answer.steps, SizeIs(3));
  EXPECT_TRUE(std::none_of(answer.steps[0].logits.begin(), answer.steps[0].logits.end(), is_nan));
  EXPECT_TRUE(std::all_of(answer.steps[1].logits.begin(), answer.steps[1].logits.end(), is_nan));
  EXPECT_EQ(answer.steps[1].token, 0);
}

TEST_F(RealRunner, DrawsNothingFromLogitsThatAreNoDistribution) {
  const Answer answer = run_with("nan@op=lm_head,step=1", sampled(2));
  EXPECT_FALSE(answer.steps.at(0).draw_digest);
  EXPECT_TRUE(answer.steps.at(1).draw_digest);
}

TEST_F(RealRunner, PlantsAChangeOfBitsWhereItIsTold) {
  const Answer plain = run(greedy(2));
  const Answer moved = run_with("bits@op=lm_head,step=2", greedy(2));
  EXPECT_EQ(moved.steps.at(0).logits, plain.steps.at(0).logits);
  const float before = plain.steps.at(1).logits.at(0);
  EXPECT_EQ(moved.steps.at(1).logits.at(0), std::nextafter(before, INFINITY));
  EXPECT_NE(run_with("bits@op=block.1.attn.softmax", greedy(1)).steps.at(0).logits,
            plain.steps.at(0).logits);
}

}  // namespace
}  // namespace drift
