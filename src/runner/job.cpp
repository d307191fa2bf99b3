#include "job.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "batch.hpp"
#include "cache_faults.hpp"
#include "calls.hpp"
#include "faults.hpp"
#include "generation.hpp"
#include "gpt2.hpp"
#include "plant.hpp"
#include "sampling.hpp"
#include "stopwatch.hpp"
#include "tap.hpp"
#include "task_check.hpp"
#include "tensors.hpp"
#include "trace.hpp"
#include "weights.hpp"

namespace drift::runner {
namespace {

at::Tensor as_row(const std::int32_t* ids, std::size_t count) {
  at::Tensor row = at::empty({1, static_cast<std::int64_t>(count)}, at::TensorOptions(at::kLong));
  std::copy(ids, ids + count, row.data_ptr<std::int64_t>());
  return row;
}

/// Tasks on one model; `Tap` as in tap.hpp.
template <class Tap>
class TaskRunner {
 public:
  TaskRunner(const Gpt2& model, Tap tap, const std::vector<Fault>& faults, Channel& channel)
      : model_(model), tap_(tap), faults_(faults), channel_(channel) {}

  void run(const wire::Task& task) {
    check_task(task, model_);
    stopwatch_ = {};
    const wire::Stopped stopped = work_on(task);
    channel_.send(wire::FrameKind::kTaskEnd, wire::TaskEnd{task.id, stopped, stopwatch_.seconds()});
  }

 private:
  wire::Stopped work_on(const wire::Task& task) {
    switch (task.mode) {
      case wire::Mode::kScore:
        return score(task);
      case wire::Mode::kDraw:
        return draw(task);
      case wire::Mode::kGreedy:
      case wire::Mode::kSample:
      case wire::Mode::kOperation:  // has no model: run_operation()
        break;
    }
    return generate(task);
  }

  wire::Stopped generate(const wire::Task& task) {
    std::vector<std::int32_t> context = task.ids;
    std::size_t first = 0;  // of the context's tokens that the cache doesn't hold
    KvCache cache;
    at::Generator generator = generator_of(task);
    const Caller caller = task.cache ? Caller::kGenerate : Caller::kModel;
    for (std::uint32_t n = 1; n <= task.new_tokens; ++n) {
      begin_step(task, n);
      stopwatch_.start();
      const at::Tensor ids = as_row(context.data() + first, context.size() - first);
      if (!task.cache) {
        cache = {};
      }
      const at::Tensor last = model_.forward(tap_, caller, ids, cache).select(1, -1);
      const Choice choice = chosen_token(task, n, last, generator, faults_);
      stopwatch_.stop();
      const auto given = given_token(task, n);
      send_step(task, n, choice, given, last);

      const std::int32_t next = task.fed ? fed_token() : given.value_or(choice.token);
      if (next < 0) {
        return wire::Stopped::kFed;
      }
      first = task.cache ? context.size() : 0;
      context.push_back(next);
      const auto length = static_cast<std::int64_t>(context.size());
      if (const auto why = reason_to_stop(task, n, next, length, model_.context_length())) {
        return *why;
      }
    }
    return wire::Stopped::kLength;  // without a step
  }

  wire::Stopped score(const wire::Task& task) {
    begin_step(task, 1);
    stopwatch_.start();
    KvCache cache;
    const at::Tensor ids = as_row(task.ids.data(), std::min(task.ids.size(), context_limit()));
    const at::Tensor logits = model_.forward(tap_, Caller::kModel, ids, cache);
    stopwatch_.stop();
    for (std::uint32_t n = 1; n < task.ids.size(); ++n) {
      if (n > 1) {
        begin_step(task, n);
      }
      const at::Tensor row = logits.select(1, n - 1);
      send_step(task, n, {greedy_token(row), {}}, task.ids[n], row);
    }
    return wire::Stopped::kLength;
  }

  /// What this sampler chooses from somebody's logits at a given place in its random numbers.
  wire::Stopped draw(const wire::Task& task) {
    if (static_cast<std::int64_t>(task.logits.size()) != model_.vocabulary()) {
      throw std::runtime_error("a draw from " + std::to_string(task.logits.size()) + " logits");
    }
    at::Tensor logits = at::empty({1, model_.vocabulary()}, at::TensorOptions(at::kFloat));
    std::copy(task.logits.begin(), task.logits.end(), logits.data_ptr<float>());
    at::Generator generator = generator_of(task);
    spend_draws(task, model_.vocabulary(), generator);
    const std::uint32_t step = task.draws_before + 1;
    send_step(task, step, sampled_token(logits, task, step, generator), std::nullopt, logits);
    return wire::Stopped::kLength;
  }

  void begin_step(const wire::Task& task, std::uint32_t step) {
    plant_in_process(faults_, task.id, step, channel_);
    tap_.at(task.id, step);
  }

  void send_step(const wire::Task& task, std::uint32_t step, const Choice& choice,
                 std::optional<std::int32_t> given, const at::Tensor& logits) {
    wire::Step frame = step_frame(task, step, choice, logits);
    frame.given = given;
    channel_.send(wire::FrameKind::kStep, frame);
  }

  static std::optional<std::int32_t> given_token(const wire::Task& task, std::uint32_t step) {
    return step <= task.given.size() ? std::optional(task.given[step - 1]) : std::nullopt;
  }

  std::int32_t fed_token() {
    const auto token = channel_.receive<wire::FedToken>(wire::FrameKind::kToken).token;
    if (token >= model_.vocabulary()) {
      throw std::runtime_error("fed token " + std::to_string(token) + " is not in the vocabulary");
    }
    return token;
  }

  std::size_t context_limit() const { return static_cast<std::size_t>(model_.context_length()); }

  const Gpt2& model_;
  Tap tap_;
  const std::vector<Fault>& faults_;
  Channel& channel_;
  Stopwatch stopwatch_;
};

/// A task of a standalone operation.
void run_operation(const wire::Task& task, const std::vector<Fault>& faults, Channel& channel) {
  const AppliedOperation operation = standalone_operation(task.operation);
  FaultTap tap(faults);
  Stopwatch stopwatch;
  const AppliedOperation faulty = [&](const Tensors& inputs) {
    stopwatch.start();
    at::Tensor result = tap({-1, task.operation.c_str()}, operation, inputs);
    stopwatch.stop();
    return result;
  };
  answer_calls(channel, {task.id, task.operation, faulty, {}}, [&](std::uint32_t call) {
    plant_in_process(faults, task.id, call, channel);
    tap.at(task.id, call);
  });
  channel.send(wire::FrameKind::kTaskEnd,
               wire::TaskEnd{task.id, wire::Stopped::kFed, stopwatch.seconds()});
}

at::ScalarType model_type(wire::DType dtype) {
  const at::ScalarType type = scalar_type_of(dtype);
  if (!at::isFloatingType(type)) {
    throw std::runtime_error(std::string("no model computes in ") + dtype_name(type));
  }
  return type;
}

/// A model with the file that its tensors lie in.
struct LoadedModel {
  explicit LoadedModel(const wire::Job& job)
      : file(job.weights), model(file, model_type(job.dtype), attention_of(job)) {}

  WeightsFile file;
  Gpt2 model;
};

void run_model_task(const wire::Task& task, const LoadedModel& loaded,
                    const std::vector<Fault>& faults, const FaultTap& fault_tap, Channel& channel) {
  if (!task.trace.steps.empty()) {
    if (loaded.model.dtype() != at::kFloat) {
      throw std::runtime_error(std::string("only a float32 pass can be traced, not one in ") +
                               dtype_name(loaded.model.dtype()));
    }
    Tracer tracer(task, loaded.file, channel);
    TaskRunner(loaded.model, TraceTap(fault_tap, tracer), faults, channel).run(task);
  } else if (!faults.empty()) {
    TaskRunner(loaded.model, fault_tap, faults, channel).run(task);
  } else {
    TaskRunner(loaded.model, PlainTap{}, faults, channel).run(task);
  }
}

void run_batch(const Batch& batch, const LoadedModel& loaded, const std::vector<Fault>& faults,
               const FaultTap& fault_tap, Channel& channel) {
  if (faults.empty()) {
    BatchRunner(loaded.model, PlainTap{}, faults, channel).run(batch);
  } else {
    BatchRunner(loaded.model, fault_tap, faults, channel).run(batch);
  }
}

}  // namespace

void run_job(const wire::Job& job, Channel& channel) {
  const c10::NoGradGuard no_grad;
  const std::vector<Fault> faults = parse_faults(job.fault);
  CacheFaults cache_faults(faults);
  const FaultTap fault_tap(faults, cache_faults.any() ? &cache_faults : nullptr);
  std::optional<LoadedModel> loaded;
  if (!job.weights.empty()) {
    loaded.emplace(job);
  }
  for (std::size_t first = 0; first < job.tasks.size();) {
    const wire::Task& task = job.tasks[first];
    const Batch batch = batch_at(job.tasks, first);
    first += batch.size();
    const bool without_model = task.mode == wire::Mode::kOperation && task.batch == 0;
    if (!loaded && !without_model) {
      throw std::runtime_error("task " + std::to_string(task.id) + " needs a model's weights");
    }
    if (task.batch != 0) {
      run_batch(batch, *loaded, faults, fault_tap, channel);
    } else if (task.mode == wire::Mode::kOperation) {
      run_operation(task, faults, channel);
    } else {
      run_model_task(task, *loaded, faults, fault_tap, channel);
    }
  }
}

}  // namespace drift::runner
