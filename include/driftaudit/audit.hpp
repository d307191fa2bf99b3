#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/attention.hpp"
#include "driftaudit/build.hpp"
#include "driftaudit/conditions.hpp"
#include "driftaudit/model.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/prompts.hpp"
#include "driftaudit/report.hpp"
#include "driftaudit/runner_process.hpp"
#include "driftaudit/saved_side.hpp"

namespace drift {

/// One side, ready to run, or saved from an earlier run.
struct Side {
  std::optional<SavedSide> saved;  ///< then nothing below has a meaning
  Build build;
  std::filesystem::path runner;
  RunnerEnvironment environment;
  std::uint32_t threads = 1;  ///< intra-op
  Conditions conditions;
  std::string dtype = "float32";  ///< as SettingsRecord::dtype, which is the same for all sides
  SideAttention attention;
  std::vector<std::string> launcher;  ///< a command before the runner
  std::string fault;                  ///< planted by tests; empty in all real use
};

/// What the sides are asked to do.
struct AuditRequest {
  SettingsRecord settings;
  std::vector<Side> sides;   ///< one is recorded, two are compared
  PromptSet prompts;         ///< of the modes greedy and sample
  std::vector<Prompt> text;  ///< of the mode score: windows as score_windows() cuts them
  double timeout_seconds = 300;
  /// Whether each side's first prompt runs a second time, so that it is known to repeat itself.
  bool first_prompts_twice = true;
  std::string tool;  ///< "driftaudit 0.1.0", for the report
  /// Where all logits of the sides that have them are written, or empty: see LogitsWriter.
  std::filesystem::path logits;
};

/// Cuts a text for scoring: windows of the model's context, each beginning with the token that the
/// one before ended with, so that every token but the first is predicted exactly once.
std::vector<Prompt> score_windows(const std::vector<std::int32_t>& ids, const Tokenizer& tokenizer,
                                  std::uint32_t n_positions);

/// The tasks of one side, in the order in which they run: modes, then prompts. `fed`: each next
/// token comes from outside (modes greedy and sample).
///
/// With `settings.batch` above 1 the prompts of these two modes run so many at a time, in their
/// order; what is left over makes a smaller batch, be it of one, as it would for transformers.
/// Windows of a text run alone. Errors (usage): fed tasks in a batch.
std::vector<wire::Task> plan_tasks(const AuditRequest& request,
                                   const std::vector<std::int32_t>& end_of_text, bool fed);

/// Runs all sides at once, in step, and compares them as the steps arrive; memory holds one step's
/// logits a side besides the report. First each side's first prompt runs twice, in two processes:
/// a side that differs from itself is marked not repeatable. A saved side gives the steps of its
/// report instead. Errors (trouble): a runner failed.
Report run_audit(const AuditRequest& request, const Model& model, Progress& progress);

/// Compares two saved sides as an audit would have: no model and no runner is needed. With `common`
/// only what both have is compared: modes, prompts, steps; else what can't be compared is refused.
/// Errors (usage) name each difference.
Report compare_saved(const SavedSide& a, const SavedSide& b, bool common, const std::string& tool);

}  // namespace drift
