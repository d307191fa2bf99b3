#include "runner/wire.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "runner/payload.hpp"

namespace drift::wire {
namespace {

Job job() {
  Task task;
  task.id = 3;
  task.mode = Mode::kSample;
  task.cache = false;
  task.fed = true;
  task.ids = {1, 2, 50256};
  task.new_tokens = 60;
  task.end_of_text = {50256, 7};
  task.top_k = 50;
  task.temperature = 0.7;
  task.seed = std::numeric_limits<std::uint64_t>::max();
  task.sampler = Sampler::kFixed;
  task.given = {4, 5};
  task.trace = {{2, 3}, {"*"}, {"block.0.*"}, {"ln_f", "lm_head"}};
  task.operation = "softmax";
  task.batch = 2;
  Job job;
  job.weights = "/weights.bin";
  job.threads = 4;
  job.interop_threads = 3;
  job.dtype = DType::kBFloat16;
  job.attention = Attention::kSdpa;
  job.score_scale = ScoreScale::kMultiply;
  job.generate_calls = GenerateCalls::kLastPosition;
  job.memory_limit = std::uint64_t{5} << 30;
  job.alignment = 16;
  job.flush_denormals = true;
  job.fault = "exit@step=3";
  job.tasks = {task, Task{}};
  return job;
}

Step step() { return {1, 2, 3, std::nullopt, 77, {1.5F, -0.0F}}; }

TEST(Wire, GivesAJobBack) {
  const Job back = parse<Job>(payload_of(job()));
  EXPECT_EQ(back.weights, "/weights.bin");
  EXPECT_EQ(back.threads, 4U);
  EXPECT_EQ(back.interop_threads, 3U);
  EXPECT_EQ(back.dtype, DType::kBFloat16);
  EXPECT_EQ(back.attention, Attention::kSdpa);
  EXPECT_EQ(back.score_scale, ScoreScale::kMultiply);
  EXPECT_EQ(back.generate_calls, GenerateCalls::kLastPosition);
  EXPECT_EQ(back.memory_limit, std::uint64_t{5} << 30);
  EXPECT_EQ(back.alignment, 16U);
  EXPECT_TRUE(back.flush_denormals);
  EXPECT_EQ(back.fault, "exit@step=3");
  ASSERT_EQ(back.tasks.size(), 2U);
  const Task& task = back.tasks[0];
  EXPECT_EQ(task.id, 3U);
  EXPECT_EQ(task.mode, Mode::kSample);
  EXPECT_FALSE(task.cache);
  EXPECT_TRUE(task.fed);
  EXPECT_EQ(task.ids, (std::vector<std::int32_t>{1, 2, 50256}));
  EXPECT_EQ(task.new_tokens, 60U);
  EXPECT_EQ(task.end_of_text, (std::vector<std::int32_t>{50256, 7}));
  EXPECT_EQ(task.top_k, 50U);
  EXPECT_EQ(task.temperature, 0.7);
  EXPECT_EQ(task.seed, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(task.sampler, Sampler::kFixed);
  EXPECT_EQ(task.given, (std::vector<std::int32_t>{4, 5}));
  EXPECT_EQ(task.trace.steps, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(task.trace.digests, (std::vector<std::string>{"*"}));
  EXPECT_EQ(task.trace.data, (std::vector<std::string>{"block.0.*"}));
  EXPECT_EQ(task.trace.questions, (std::vector<std::string>{"ln_f", "lm_head"}));
  EXPECT_EQ(task.operation, "softmax");
  EXPECT_EQ(task.batch, 2U);
}

TEST(Wire, GivesTheRunnersFramesBack) {
  const Step back = parse<Step>(payload_of(step()));
  EXPECT_EQ(back.task, 1U);
  EXPECT_EQ(back.step, 2U);
  EXPECT_EQ(back.token, 3);
  EXPECT_FALSE(back.given);
  EXPECT_EQ(back.draw_digest, 77U);
  EXPECT_EQ(back.logits, (std::vector<float>{1.5F, -0.0F}));

  const Hello hello = parse<Hello>(payload_of(Hello{"1.10.1", "config", "parallel", 2, 99}));
  EXPECT_EQ(hello.torch + hello.config + hello.parallel_info, "1.10.1configparallel");
  EXPECT_EQ(hello.threads, 2U);
  EXPECT_EQ(hello.pid, 99U);

  const TaskEnd end = parse<TaskEnd>(payload_of(TaskEnd{4, Stopped::kContext, 0.25}));
  EXPECT_EQ(end.task, 4U);
  EXPECT_EQ(end.stopped, Stopped::kContext);
  EXPECT_EQ(end.seconds, 0.25);

  EXPECT_EQ(parse<Done>(payload_of(Done{5, 6})).peak_memory_bytes, 5U);
  EXPECT_EQ(parse<Done>(payload_of(Done{5, 6})).peak_address_bytes, 6U);
  EXPECT_EQ(parse<Failure>(payload_of(Failure{"why"})).what, "why");
  EXPECT_EQ(parse<FedToken>(payload_of(FedToken{-1})).token, -1);
}

TEST(Wire, KeepsEveryBitOfALogit) {
  const std::uint32_t bits = 0x7fc12345;  // a NaN with a payload
  Step with_nan = step();
  std::memcpy(with_nan.logits.data(), &bits, sizeof bits);
  const Step back = parse<Step>(payload_of(with_nan));
  EXPECT_EQ(std::memcmp(back.logits.data(), &bits, sizeof bits), 0);
}

template <class T>
void expect_every_cut_is_refused(const T& value) {
  const std::string whole = payload_of(value);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(parse<T>(whole.substr(0, size)), std::runtime_error) << size;
  }
  EXPECT_THROW(parse<T>(whole + '\0'), std::runtime_error);
}

TEST(Wire, RefusesAPayloadThatIsTooShortOrTooLong) {
  expect_every_cut_is_refused(job());
  expect_every_cut_is_refused(step());
  expect_every_cut_is_refused(Hello{"a", "b", "c", 1, 2});
  expect_every_cut_is_refused(Failure{"why"});
}

TEST(Wire, RefusesALengthThatThePayloadDoesNotHold) {
  Writer writer;
  writer.number<std::uint64_t>(std::numeric_limits<std::uint64_t>::max());
  EXPECT_THROW(parse<Failure>(writer.bytes()), std::runtime_error);
}

TEST(Wire, PutsKindAndLengthBeforeThePayload) {
  const std::string bytes = frame(FrameKind::kFailure, Failure{"why"});
  Reader reader(bytes);
  EXPECT_EQ(reader.number<FrameKind>(), FrameKind::kFailure);
  EXPECT_EQ(reader.number<std::uint64_t>(), 8U + 3U);
  EXPECT_EQ(reader.text(), "why");
}

}  // namespace
}  // namespace drift::wire
