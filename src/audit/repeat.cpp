#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/hash.hpp"

#include "audit/sides.hpp"
#include "base/transformers_calls.hpp"

namespace drift {
namespace {

/// The first task of each mode, with those that share its batch.
std::vector<wire::Task> first_tasks(const std::vector<wire::Task>& tasks) {
  std::vector<wire::Task> first;
  std::set<wire::Mode> seen;
  for (const wire::Task& task : tasks) {
    const bool beside = !first.empty() && task.batch != 0 && task.batch == first.back().batch;
    if (seen.insert(task.mode).second || beside) {
      first.push_back(task);
    }
  }
  return first;
}

/// Whether it is the first of its mode: others are there to fill the batch.
bool is_first(const wire::Task& task, const std::vector<wire::Task>& tasks) {
  const auto first = std::find_if(tasks.begin(), tasks.end(),
                                  [&](const wire::Task& other) { return other.mode == task.mode; });
  return first->id == task.id;
}

const wire::Task& task_of(const std::vector<wire::Task>& tasks, std::uint32_t id) {
  for (const wire::Task& task : tasks) {
    if (task.id == id) {
      return task;
    }
  }
  throw trouble(fmt::format("a runner answered task {}, which it was not given", id));
}

wire::DType dtype_from(const std::string& name) {
  if (name == "bfloat16") {
    return wire::DType::kBFloat16;
  }
  return name == "float16" ? wire::DType::kFloat16 : wire::DType::kFloat32;
}

}  // namespace

const char* mode_name(wire::Mode mode) {
  switch (mode) {
    case wire::Mode::kGreedy:
      return "greedy";
    case wire::Mode::kSample:
      return "sample";
    case wire::Mode::kScore:
      return "score";
    case wire::Mode::kDraw:
      return "draw";
    case wire::Mode::kOperation:
      return "operation";
  }
  return "unknown";
}

RunnerLaunch launch_of(const Side& side, std::string label, double timeout_seconds) {
  RunnerLaunch launch;
  launch.label = std::move(label);
  launch.program = side.runner;
  launch.launcher = side.launcher;
  launch.environment = side.environment.variables;
  launch.timeout_seconds = timeout_seconds;
  return launch;
}

RunnerLaunch launch_of(const AuditRequest& request, std::size_t side) {
  const Side& source = request.sides[side];
  const std::string& label = source.build.label;
  return launch_of(
      source,
      request.sides.size() == 1 ? label : fmt::format("{} ({})", side == 0 ? "A" : "B", label),
      request.timeout_seconds);
}

wire::Job job_of(const Side& side, const Model& model, std::vector<wire::Task> tasks) {
  wire::Job job;
  job.weights = model.weights.string();
  job.threads = side.threads;
  job.interop_threads = side.conditions.interop_threads;
  job.memory_limit = side.conditions.memory_limit;
  job.alignment = side.conditions.alignment;
  job.flush_denormals = side.conditions.flush_denormals;
  job.dtype = dtype_from(side.dtype);
  job.attention =
      side.attention.kind == Attention::kSdpa ? wire::Attention::kSdpa : wire::Attention::kEager;
  job.score_scale = side.attention.scale == ScoreScale::kMultiply ? wire::ScoreScale::kMultiply
                                                                  : wire::ScoreScale::kDivide;
  job.generate_calls = asks_last_position(side.attention) ? wire::GenerateCalls::kLastPosition
                                                          : wire::GenerateCalls::kAllPositions;
  job.fault = side.fault;
  job.tasks = std::move(tasks);
  return job;
}

void require_logits(const wire::Step& step, std::size_t vocabulary, const std::string& label) {
  if (step.logits.size() != vocabulary) {
    throw trouble(fmt::format("{}: the runner sent {} logits for a vocabulary of {}", label,
                              step.logits.size(), vocabulary));
  }
}

void record_end(RunnerProcess& runner, const std::string& label, std::uint64_t steps,
                double seconds, BuildRecord& record) {
  const auto done = expect_event<wire::Done>(runner.next(), label);
  record.peak_memory_bytes = std::max(record.peak_memory_bytes, done.peak_memory_bytes);
  record.peak_address_bytes = std::max(record.peak_address_bytes, done.peak_address_bytes);
  record.tokens_per_second = seconds > 0 ? static_cast<double>(steps) / seconds : 0;
  record.log = runner.log_tail();
}

std::vector<Trace> trace_first_prompts(const AuditRequest& request, const Model& model,
                                       Progress& progress) {
  const std::vector<wire::Task> tasks =
      first_tasks(plan_tasks(request, model.config.end_of_text, false));
  std::vector<std::optional<RunnerProcess>> runners(request.sides.size());
  std::size_t left = 0;
  for (std::size_t i = 0; i < request.sides.size(); ++i) {
    if (!request.sides[i].saved) {
      runners[i].emplace(launch_of(request, i), job_of(request.sides[i], model, tasks));
      ++left;
    }
  }
  progress.start("checking that each side repeats itself", 0, Progress::Unit::kTokens);
  std::vector<Trace> traces(runners.size());
  std::uint64_t steps = 0;
  // One event of each in turn, so that all sides work at once.
  while (left > 0) {
    for (std::size_t i = 0; i < runners.size(); ++i) {
      if (!runners[i]) {
        continue;
      }
      const RunnerProcess::Event event = runners[i]->next();
      if (const auto* step = std::get_if<wire::Step>(&event)) {
        const wire::Task& task = task_of(tasks, step->task);
        if (is_first(task, tasks)) {
          traces[i].push_back({mode_name(task.mode), step->token,
                               xxh3_128_hex(std::as_bytes(std::span(step->logits)))});
        }
        progress.update(++steps);
      } else if (std::holds_alternative<wire::Done>(event)) {
        runners[i].reset();
        --left;
      }
    }
  }
  progress.finish();
  return traces;
}

std::vector<Trace> traces_of(const Report& report) {
  std::vector<Trace> traces(report.builds.size());
  for (const Run& run : report.runs) {
    if (run.prompt == 1) {
      for (const Step& step : run.steps) {
        traces[run.build].push_back({run.mode, step.token, step.digest});
      }
    }
  }
  return traces;
}

}  // namespace drift
