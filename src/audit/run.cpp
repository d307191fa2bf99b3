#include <algorithm>
#include <optional>
#include <set>

#include <fmt/core.h>

#include "driftaudit/audit.hpp"
#include "driftaudit/error.hpp"

#include "audit/sides.hpp"

namespace drift {
namespace {

Stop stop_from(wire::Stopped stopped) {
  switch (stopped) {
    case wire::Stopped::kLength:
      return Stop::kLength;
    case wire::Stopped::kEndOfText:
      return Stop::kEndOfText;
    case wire::Stopped::kContext:
      return Stop::kContext;
    case wire::Stopped::kFed:
      return Stop::kFed;
  }
  return Stop::kLength;
}

/// What one step of the wire becomes in the report.
Step kept_step(const wire::Step& step, std::uint32_t keep_top) {
  Step kept = reduce_step(step.token, step.logits, keep_top, step.given);
  kept.draw_digest = step.draw_digest;
  return kept;
}

/// Steps that a task has unless it stops early.
std::uint64_t planned_steps(const wire::Task& task) {
  return task.mode == wire::Mode::kScore ? task.ids.size() - 1 : task.new_tokens;
}

/// Both runners at work, from their first frame to their last.
class Capture {
 public:
  Capture(const AuditRequest& request, const Model& model, Progress& progress, Report& report)
      : request_(request),
        model_(model),
        progress_(progress),
        report_(report),
        tasks_(plan_tasks(request, model.config, false)) {
    const bool forced = request.settings.on_divergence == "force";
    for (std::size_t i = 0; i < request.sides.size(); ++i) {
      const Side& side = request.sides[i];
      fed_.push_back(forced && i > 0);
      runners_.emplace_back(launch_of(request, i),
                            job_of(side, model, plan_tasks(request, model.config, fed_[i])));
      seconds_.push_back(0);
      steps_.push_back(0);
    }
  }

  void run() {
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      take_hello(i);
    }
    std::uint64_t total = 0;
    for (const wire::Task& task : tasks_) {
      total += planned_steps(task);
    }
    progress_.start("running", total, Progress::Unit::kTokens);
    std::uint64_t planned = 0;
    std::uint32_t prompt = 0;
    for (std::size_t t = 0; t < tasks_.size(); ++t) {
      const wire::Task& task = tasks_[t];
      prompt = t > 0 && tasks_[t - 1].mode == task.mode ? prompt + 1 : 1;
      run_task(task, prompt, planned);
      planned += planned_steps(task);
    }
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      take_done(i);
    }
    progress_.finish();
  }

  Comparison& comparison() { return comparison_; }

 private:
  void take_hello(std::size_t i) {
    BuildRecord& record = report_.builds[i];
    const RunnerFacts facts =
        facts_from(expect_event<wire::Hello>(runners_[i].next(), record.label));
    record.cpu_capability = facts.cpu_capability;
    record.blas = facts.blas;
    record.threads = facts.aten_threads;
    record.blas_threads = facts.blas_threads;
  }

  void take_done(std::size_t i) {
    BuildRecord& record = report_.builds[i];
    const auto done = expect_event<wire::Done>(runners_[i].next(), record.label);
    record.peak_memory_bytes = done.peak_memory_bytes;
    record.tokens_per_second = seconds_[i] > 0 ? static_cast<double>(steps_[i]) / seconds_[i] : 0;
    record.log = runners_[i].log_tail();
  }

  /// One task on all sides, step by step; `planned` steps were planned before it.
  void run_task(const wire::Task& task, std::uint32_t prompt, std::uint64_t planned) {
    const std::size_t first_run = report_.runs.size();
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      report_.runs.push_back(new_run(task, prompt, i));
    }
    comparison_.begin_prompt(mode_name(task.mode), prompt);
    std::vector<bool> active(runners_.size(), true);
    std::uint64_t step_number = 0;
    while (std::any_of(active.begin(), active.end(), [](bool is) { return is; })) {
      std::vector<std::optional<wire::Step>> steps(runners_.size());
      for (std::size_t i = 0; i < runners_.size(); ++i) {
        if (active[i]) {
          steps[i] = take_step(i, report_.runs[first_run + i]);
          active[i] = steps[i].has_value();
        }
        if (fed_[i] && steps[i] && task.mode != wire::Mode::kScore) {
          impose(i, steps[0], report_.runs[first_run + i]);
        }
      }
      compare(task, steps, first_run);
      const bool any_step =
          std::any_of(steps.begin(), steps.end(), [](const auto& s) { return !!s; });
      step_number += any_step ? 1 : 0;
      progress_.update(planned + step_number);
    }
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      finish_run(report_.runs[first_run + i]);
    }
    if (runners_.size() == 2 && fed_[1] && report_.runs[first_run + 1].stopped == Stop::kFed) {
      report_.runs[first_run + 1].stopped = report_.runs[first_run].stopped;
    }
  }

  Run new_run(const wire::Task& task, std::uint32_t prompt, std::size_t side) const {
    const bool scores = task.mode == wire::Mode::kScore;
    const Prompt& source =
        (scores ? request_.text : request_.prompts.prompts)[static_cast<std::size_t>(prompt) - 1];
    Run run;
    run.build = static_cast<std::uint32_t>(side);
    run.mode = mode_name(task.mode);
    run.cache = task.cache;
    run.prompt = prompt;
    run.prompt_text = source.text;
    run.prompt_ids = source.ids;
    return run;
  }

  /// The side's next step, already kept in its run; nothing when its task has ended.
  std::optional<wire::Step> take_step(std::size_t i, Run& run) {
    RunnerProcess::Event event = runners_[i].next();
    if (const auto* end = std::get_if<wire::TaskEnd>(&event)) {
      run.stopped = stop_from(end->stopped);
      seconds_[i] += end->seconds;
      return std::nullopt;
    }
    auto step = expect_event<wire::Step>(std::move(event), report_.builds[i].label);
    if (step.logits.size() != model_.config.vocab_size) {
      throw trouble(fmt::format("{}: the runner sent {} logits for a vocabulary of {}",
                                report_.builds[i].label, step.logits.size(),
                                model_.config.vocab_size));
    }
    ++steps_[i];
    run.steps.push_back(kept_step(step, request_.settings.keep_top));
    return step;
  }

  /// Feeds A's token to a forced side, whose own choice stays in its run. A side that A has left
  /// ends.
  void impose(std::size_t i, const std::optional<wire::Step>& a, Run& run) {
    if (a) {
      run.steps.back().fed = a->token;
    }
    runners_[i].feed(a ? a->token : -1);
  }

  /// Compares the step that both sides have just reached.
  void compare(const wire::Task& task, const std::vector<std::optional<wire::Step>>& steps,
               std::size_t first_run) {
    if (steps.size() < 2 || (!steps[0] && !steps[1])) {
      return;
    }
    if (!steps[0] || !steps[1] || !comparison_.contexts_equal()) {
      comparison_.add_not_compared(1);
      return;
    }
    const Step& a = report_.runs[first_run].steps.back();
    const Step& b = report_.runs[first_run + 1].steps.back();
    const StepDifference difference = compare_logits(steps[0]->logits, steps[1]->logits);
    std::optional<TokenChangeCause> judged;
    const bool first_change = !comparison_.prompts().back().first_token_change;
    if (first_change && a.token != b.token &&
        token_change_cause(mode_name(task.mode), a, b, difference) == TokenChangeCause::kBoth) {
      judged = judge_change(request_, model_, task, draws_before(report_.runs[first_run]),
                            *steps[0], *steps[1]);
    }
    comparison_.add_step(a, b, difference, judged);
  }

  /// How many random draws a run had taken before its last step.
  static std::uint32_t draws_before(const Run& run) {
    const auto drew = [](const Step& step) { return step.draw_digest.has_value(); };
    return static_cast<std::uint32_t>(std::count_if(run.steps.begin(), run.steps.end() - 1, drew));
  }

  void finish_run(Run& run) {
    std::vector<std::int32_t> ids;
    for (const Step& step : run.steps) {
      ids.push_back(next_token(step));
    }
    run.text = model_.tokenizer.decode(ids);
  }

  const AuditRequest& request_;
  const Model& model_;
  Progress& progress_;
  Report& report_;
  std::vector<wire::Task> tasks_;
  std::vector<bool> fed_;
  std::vector<RunnerProcess> runners_;
  std::vector<double> seconds_;
  std::vector<std::uint64_t> steps_;
  Comparison comparison_;
};

BuildRecord build_record(const Side& side) {
  BuildRecord record;
  record.label = side.build.label;
  record.torch = side.build.version;
  record.torch_git = side.build.git_commit;
  record.libtorch_sha256 = side.build.libtorch_sha256;
  record.string_abi = side.build.string_abi == StringAbi::kOld ? "old" : "new";
  record.knobs = side.environment.knobs;
  return record;
}

ModelRecord model_record(const Model& model) {
  ModelRecord record;
  record.name = model.name;
  record.why = model.why;
  record.source = model.source.string();
  record.digest = model.digest;
  record.source_dtype = model.source_dtype;
  record.n_layer = model.config.n_layer;
  record.n_embd = model.config.n_embd;
  record.n_head = model.config.n_head;
  record.n_positions = model.config.n_positions;
  record.vocab_size = model.config.vocab_size;
  record.parameters = model.config.parameters();
  return record;
}

/// The bytes of every id that the report mentions.
std::map<std::int32_t, std::string> used_tokens(const std::vector<Run>& runs,
                                                const Tokenizer& tokenizer) {
  std::set<std::int32_t> used;
  for (const Run& run : runs) {
    used.insert(run.prompt_ids.begin(), run.prompt_ids.end());
    for (const Step& step : run.steps) {
      used.insert(step.token);
      for (const TokenLogit& top : step.top) {
        used.insert(top.id);
      }
    }
  }
  std::map<std::int32_t, std::string> tokens;
  for (const std::int32_t id : used) {
    tokens.emplace(id, tokenizer.token_bytes(id));
  }
  return tokens;
}

}  // namespace

Report run_audit(const AuditRequest& request, const Model& model, Progress& progress) {
  Report report;
  report.kind = request.sides.size() == 1 ? "record" : "audit";
  report.created = utc_now();
  report.host = this_host();
  report.model = model_record(model);
  report.prompts = request.prompts.name;
  report.settings = request.settings;
  for (const Side& side : request.sides) {
    report.builds.push_back(build_record(side));
  }
  const std::vector<Trace> traces = trace_first_prompts(request, model, progress);
  Capture capture(request, model, progress, report);
  capture.run();
  // A forced side follows the other's tokens, so its own run can't be held against its trace.
  const bool forced = request.settings.on_divergence == "force" && request.sides.size() == 2;
  const std::vector<Trace> again =
      forced ? trace_first_prompts(request, model, progress) : traces_of(report);
  for (std::size_t i = 0; i < report.builds.size(); ++i) {
    report.builds[i].repeatable = traces[i] == again[i];
  }
  const Comparison& comparison = capture.comparison();
  report.comparison = comparison.prompts();
  report.summary = comparison.summary();
  for (const std::string& mode : comparison.modes()) {
    report.by_mode.emplace_back(mode, comparison.summary(mode));
  }
  report.tokens = used_tokens(report.runs, model.tokenizer);
  return report;
}

}  // namespace drift
