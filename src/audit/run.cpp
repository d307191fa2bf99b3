#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "driftaudit/audit.hpp"
#include "driftaudit/error.hpp"

#include "audit/records.hpp"
#include "audit/sides.hpp"
#include "audit/sources.hpp"

namespace drift {
namespace {

/// Steps that a task has unless it stops early.
std::uint64_t planned_steps(const wire::Task& task) {
  return task.mode == wire::Mode::kScore ? task.ids.size() - 1 : task.new_tokens;
}

/// What ULPs are steps of: the run's dtype, or float32 where saved sides ran in different ones.
FloatType compared_type(const AuditRequest& request) {
  const std::string& dtype = request.settings.dtype;
  for (const Side& side : request.sides) {
    if (side.saved && side.saved->report->settings.dtype != dtype) {
      return FloatType::kFloat32;
    }
  }
  return float_type(dtype);
}

/// All sides at work, from their first step to their last.
class Capture {
 public:
  /// `model` may be null where all sides are saved.
  Capture(const AuditRequest& request, const Model* model, Progress& progress, Report& report)
      : request_(request), model_(model), progress_(progress), report_(report) {
    const std::vector<std::int32_t> end_of_text =
        model == nullptr ? std::vector<std::int32_t>() : model->config.end_of_text;
    tasks_ = plan_tasks(request, end_of_text, false);
    const bool forced = request.settings.on_divergence == "force";
    for (std::size_t i = 0; i < request.sides.size(); ++i) {
      const Side& side = request.sides[i];
      fed_.push_back(forced && i > 0 && !side.saved);
      sources_.push_back(side.saved ? saved_source(*side.saved)
                                    : live(i, plan_tasks(request, end_of_text, fed_[i])));
    }
    type_ = compared_type(request);
    if (!request.logits.empty()) {
      logits_ = std::make_unique<LogitsWriter>(request.logits, report.model.vocab_size);
    }
  }

  void run() {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      sources_[i]->begin(report_.builds[i]);
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
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      sources_[i]->finish(report_.builds[i]);
    }
    if (logits_) {
      report_.logits = logits_->commit();
    }
    progress_.finish();
  }

  Comparison& comparison() { return comparison_; }

 private:
  std::unique_ptr<StepSource> live(std::size_t side, std::vector<wire::Task> tasks) const {
    if (model_ == nullptr) {
      throw trouble("a side that isn't saved needs a model to run");
    }
    return live_source(request_, *model_, side, std::move(tasks));
  }

  /// One task on all sides, step by step; `planned` steps were planned before it.
  void run_task(const wire::Task& task, std::uint32_t prompt, std::uint64_t planned) {
    const std::size_t first_run = report_.runs.size();
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      report_.runs.push_back(new_run(task, prompt, i));
      sources_[i]->begin_task(report_.runs.back());
    }
    comparison_.begin_prompt(mode_name(task.mode), prompt);
    std::vector<bool> active(sources_.size(), true);
    std::uint64_t step_number = 0;
    while (std::find(active.begin(), active.end(), true) != active.end()) {
      for (std::size_t i = 0; i < sources_.size(); ++i) {
        Run& run = report_.runs[first_run + i];
        active[i] = active[i] && take_step(i, first_run + i);
        if (fed_[i] && active[i] && task.mode != wire::Mode::kScore) {
          impose(i, active[0] ? &report_.runs[first_run].steps.back() : nullptr, run);
        }
      }
      const auto reached = std::count(active.begin(), active.end(), true);
      if (sources_.size() == 2 && reached == 2) {
        compare(task, first_run);
      } else if (sources_.size() == 2 && reached == 1) {
        comparison_.add_not_compared(1);
      }
      step_number += reached > 0 ? 1 : 0;
      progress_.update(planned + step_number);
    }
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      finish_run(i, report_.runs[first_run + i]);
    }
    if (sources_.size() == 2 && fed_[1] && report_.runs[first_run + 1].stopped == Stop::kFed) {
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

  /// The side's next step into its run; false when its task has ended.
  bool take_step(std::size_t i, std::size_t run_index) {
    Run& run = report_.runs[run_index];
    std::optional<Step> step = sources_[i]->next(run.stopped);
    if (!step) {
      return false;
    }
    run.steps.push_back(std::move(*step));
    if (logits_ && sources_[i]->knows_logits()) {
      logits_->add(static_cast<std::uint32_t>(run_index),
                   static_cast<std::uint32_t>(run.steps.size()), sources_[i]->last_logits());
    }
    return true;
  }

  /// Feeds A's token to a forced side, whose own choice stays in its run. A side that A has left
  /// (null) ends.
  void impose(std::size_t i, const Step* a, Run& run) {
    if (a != nullptr) {
      run.steps.back().fed = a->token;
    }
    sources_[i]->feed(a != nullptr ? a->token : -1);
  }

  /// Compares the step that both sides have just reached.
  void compare(const wire::Task& task, std::size_t first_run) {
    if (!comparison_.contexts_equal()) {
      comparison_.add_not_compared(1);
      return;
    }
    const Step& a = report_.runs[first_run].steps.back();
    const Step& b = report_.runs[first_run + 1].steps.back();
    const StepDifference difference = difference_of(a, b);
    std::optional<TokenChangeCause> judged;
    const bool first_change = !comparison_.prompts().back().first_token_change;
    if (first_change && a.token != b.token && can_judge() &&
        token_change_cause(mode_name(task.mode), a, b, difference) == TokenChangeCause::kBoth) {
      judged = judge_change(request_, *model_, task, draws_before(report_.runs[first_run]),
                            {a, sources_[0]->last_logits()}, {b, sources_[1]->last_logits()});
    }
    comparison_.add_step(a, b, difference, judged);
  }

  /// From all logits where both sides know them. Those of a saved side are only looked up where the
  /// digests differ.
  StepDifference difference_of(const Step& a, const Step& b) {
    const bool saved = request_.sides[0].saved || request_.sides[1].saved;
    const bool known = sources_[0]->knows_logits() && sources_[1]->knows_logits();
    if (known && !(saved && a.digest == b.digest)) {
      return compare_logits(sources_[0]->last_logits(), sources_[1]->last_logits(), type_);
    }
    return compare_kept(a, b, report_.model.vocab_size, type_);
  }

  /// Only a sampler that runs can be asked.
  bool can_judge() const { return !request_.sides[0].saved && sources_[1]->knows_logits(); }

  /// How many random draws a run had taken before its last step.
  static std::uint32_t draws_before(const Run& run) {
    const auto drew = [](const Step& step) { return step.draw_digest.has_value(); };
    return static_cast<std::uint32_t>(std::count_if(run.steps.begin(), run.steps.end() - 1, drew));
  }

  void finish_run(std::size_t i, Run& run) {
    if (const std::optional<std::string> text = sources_[i]->text()) {
      run.text = *text;
      return;
    }
    std::vector<std::int32_t> ids;
    for (const Step& step : run.steps) {
      ids.push_back(next_token(step));
    }
    run.text = model_->tokenizer.decode(ids);
  }

  const AuditRequest& request_;
  const Model* model_;
  Progress& progress_;
  Report& report_;
  std::vector<wire::Task> tasks_;
  std::vector<bool> fed_;
  std::vector<std::unique_ptr<StepSource>> sources_;
  std::unique_ptr<LogitsWriter> logits_;
  FloatType type_ = FloatType::kFloat32;
  Comparison comparison_;
};

/// A report before anything has run.
Report new_report(const AuditRequest& request, ModelRecord model) {
  Report report;
  report.kind = request.sides.size() == 1 ? "record" : "audit";
  report.tool = request.tool;
  report.created = utc_now();
  report.host = this_host();
  report.model = std::move(model);
  report.prompts = request.prompts.name;
  report.settings = request.settings;
  for (const Side& side : request.sides) {
    report.builds.push_back(side.saved ? BuildRecord{} : build_record(side));
  }
  return report;
}

/// What the comparison says, and what its figures rest on.
void conclude(const Comparison& comparison, const AuditRequest& request, Report& report) {
  if (request.sides.size() == 2) {
    report.comparison = comparison.prompts();
    report.summary = comparison.summary();
    for (const std::string& mode : comparison.modes()) {
      report.by_mode.emplace_back(mode, comparison.summary(mode));
    }
  }
  std::uint32_t kept = report.settings.keep_top;
  for (const Side& side : request.sides) {
    kept = side.saved ? std::min(kept, side.saved->report->settings.keep_top) : kept;
  }
  report.basis = report.summary.steps_on_kept > 0 ? fmt::format("top{}", kept) : "all";
  report.warnings = differing_conditions(report);
}

/// Marks each side by whether its first prompts came out as they did in `traces`.
void judge_repeats(const AuditRequest& request, const Model& model,
                   const std::vector<Trace>& traces, Progress& progress, Report& report) {
  // A forced side follows the other's tokens, so its own run can't be held against its trace.
  const bool forced = request.settings.on_divergence == "force" && request.sides.size() == 2;
  const std::vector<Trace> again =
      forced ? trace_first_prompts(request, model, progress) : traces_of(report);
  for (std::size_t i = 0; i < report.builds.size(); ++i) {
    if (!request.sides[i].saved) {
      report.builds[i].repeatable = traces[i] == again[i];
    }
  }
}

}  // namespace

Report run_audit(const AuditRequest& request, const Model& model, Progress& progress) {
  Report report = new_report(request, model_record(model));
  const std::vector<Trace> traces = request.first_prompts_twice
                                        ? trace_first_prompts(request, model, progress)
                                        : std::vector<Trace>();
  Capture capture(request, &model, progress, report);
  capture.run();
  if (request.first_prompts_twice) {
    judge_repeats(request, model, traces, progress, report);
  }
  report.tokens = used_tokens(report, request, &model.tokenizer);
  conclude(capture.comparison(), request, report);
  return report;
}

Report compare_saved(const SavedSide& a, const SavedSide& b, bool common, const std::string& tool) {
  CommonPart part{a.report->settings, a, b};
  if (common) {
    part = common_part(a, b);
  } else if (const std::vector<std::string> refused = not_comparable(a, b); !refused.empty()) {
    throw usage_error(fmt::format("{} and {} can't be compared; they differ in {}", a.name, b.name,
                                  fmt::join(refused, "; ")),
                      "--common compares the part that both have, where the weights are the same");
  }
  AuditRequest request;
  request.settings = part.settings;
  request.prompts = part.a.prompts();
  request.text = part.a.text();
  request.tool = tool;
  request.sides.resize(2);
  request.sides[0].saved = part.a;
  request.sides[1].saved = part.b;
  Report report = new_report(request, a.report->model);
  report.kind = "compare";
  const std::unique_ptr<Progress> silent = make_silent_progress();
  Capture capture(request, nullptr, *silent, report);
  capture.run();
  report.tokens = used_tokens(report, request, nullptr);
  conclude(capture.comparison(), request, report);
  const std::string& dtype_a = a.report->settings.dtype;
  const std::string& dtype_b = b.report->settings.dtype;
  if (dtype_a != dtype_b) {
    report.warnings.push_back(
        fmt::format("dtype: {} and {}, ULPs are float32's", dtype_a, dtype_b));
  }
  for (std::string& warning : differing_batches(a, b)) {
    report.warnings.push_back(std::move(warning));
  }
  return report;
}

}  // namespace drift
