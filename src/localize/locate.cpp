#include "localize/locate.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

/// The request of the short audit: one prompt where one is named.
AuditRequest audit_request(const LocalizeRequest& request) {
  AuditRequest audit = request.audit;
  audit.settings.on_divergence = "stop";
  std::vector<Prompt>& prompts = audit.prompts.prompts;
  if (request.prompt) {
    if (*request.prompt == 0 || *request.prompt > prompts.size()) {
      throw usage_error(fmt::format("--prompt {}: there are {} prompts in {}", *request.prompt,
                                    prompts.size(), audit.prompts.name),
                        "a bare number is a prompt's place in --prompts, from 1");
    }
    prompts = {prompts[*request.prompt - 1]};
  }
  return audit;
}

bool anything_changed(const Report& report) { return report.summary.steps_changed > 0; }

/// One step of everything is enough most of the time.
Report audit_up_to_a_change(AuditRequest audit, const LocalizeRequest& request, const Model& model,
                            Progress& progress) {
  if (request.step) {
    audit.settings.new_tokens = *request.step;
    return run_audit(audit, model, progress);
  }
  const std::uint32_t all = audit.settings.new_tokens;
  audit.settings.new_tokens = 1;
  Report report = run_audit(audit, model, progress);
  if (!anything_changed(report) && all > 1) {
    audit.settings.new_tokens = all;
    report = run_audit(audit, model, progress);
  }
  return report;
}

/// The prompt that changes at the earliest step, else the first.
const PromptComparison& earliest_change(const Report& report) {
  return *std::min_element(report.comparison.begin(), report.comparison.end(),
                           [](const PromptComparison& x, const PromptComparison& y) {
                             return x.first_changed_step.value_or(UINT32_MAX) <
                                    y.first_changed_step.value_or(UINT32_MAX);
                           });
}

/// Leaves the runs of one prompt, which is then called `number`.
void keep_runs(Report& report, std::uint32_t prompt, std::uint32_t number, std::uint32_t steps) {
  std::erase_if(report.runs, [&](const Run& run) { return run.prompt != prompt; });
  for (Run& run : report.runs) {
    run.prompt = number;
    run.steps.resize(std::min<std::size_t>(run.steps.size(), steps));
  }
}

void require_step(const Run& a, std::uint32_t step, std::uint32_t prompt) {
  if (a.steps.size() < step) {
    throw usage_error(
        fmt::format("--step {}: A's run of prompt {} ends with step {}", step, prompt,
                    a.steps.size()),
        a.stopped == Stop::kEndOfText
            ? "it ends with the end-of-text token; --ignore-eos goes on, or name an earlier step"
            : "name an earlier step");
  }
}

wire::Task task_of_pass(const Run& a, std::uint32_t step) {
  wire::Task task;
  task.cache = a.cache;
  task.ids = a.prompt_ids;
  std::transform(a.steps.begin(), a.steps.begin() + (step - 1), std::back_inserter(task.given),
                 next_token);
  return task;
}

}  // namespace

Located locate(const LocalizeRequest& request, const Model& model, Progress& progress) {
  Located located;
  located.report = audit_up_to_a_change(audit_request(request), request, model, progress);
  Report& report = located.report;
  const PromptComparison& found = earliest_change(report);
  located.prompt = request.prompt.value_or(found.prompt);
  located.step = request.step.value_or(found.first_changed_step.value_or(1));
  keep_runs(report, found.prompt, located.prompt, located.step);
  require_step(report.runs.at(0), located.step, located.prompt);
  located.task = task_of_pass(report.runs[0], located.step);
  report.comparison.clear();
  report.summary = {};
  report.by_mode.clear();
  return located;
}

}  // namespace drift
