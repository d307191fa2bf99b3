#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "driftaudit/audit.hpp"
#include "driftaudit/knobs.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/report.hpp"

namespace drift {

/// One build under one setting of all knobs.
struct PlannedCell {
  std::size_t build = 0;                      ///< index
  std::map<std::string, std::string> values;  ///< by the knob's name
};

/// Every build under every combination of values; or with `one_at_a_time` under the first value of
/// each knob (the base) and under each other value of one. Builds come first in order, then the
/// last knob turns fastest. Errors (usage): more than 4096 cells.
std::vector<PlannedCell> planned_cells(std::size_t builds, const std::vector<Knob>& knobs,
                                       bool one_at_a_time);

/// What a cell is asked: `base` under its values, on a side whose build, runner, threads and
/// launcher are `side`'s. Errors (trouble): the build can't do what a value asks. `caller` and
/// `own` are what runner_environment() takes.
AuditRequest cell_request(const AuditRequest& base, const Side& side,
                          const std::map<std::string, std::string>& values,
                          const std::map<std::string, std::string>& caller,
                          const std::map<std::string, std::string>& own);

/// Runs such a request once, in one process; the runs of its report stand in the prompts' own
/// order, and under their own numbers, whatever order they ran in.
Report run_cell(const AuditRequest& request, const std::map<std::string, std::string>& values,
                const Model& model);

/// A whole sweep.
struct SweepRequest {
  std::vector<std::string> builds;  ///< labels
  std::vector<Knob> knobs;
  bool one_at_a_time = false;
  std::vector<PlannedCell> cells;
  std::string prompts;               ///< for the report: the set's name
  SettingsRecord settings;           ///< for the report
  std::string tool;                  ///< for the report
  unsigned jobs = 1;                 ///< runner processes at work at once
  std::filesystem::path keep_cells;  ///< the folder for the cells' reports, or empty
  /// What rescoring depends on besides the answer, as text: its limit.
  std::string rescoring;
  /// Everything that answers depend on besides the cells' values, as text: builds, model, prompts,
  /// settings, variables, the runner's sources, the machine.
  std::string identity;
};

/// Runs a cell, by its index, once and in a process of its own. Called from `jobs` threads.
using CellRunner = std::function<Report(std::size_t cell)>;

/// Scores again what a cell has answered: a report of kind "rescore". Called likewise.
using CellRescorer = std::function<Report(std::size_t cell, const Report& answer)>;

/// Runs every cell twice and says in a report of kind "sweep" which ones are equal and which knobs
/// move bits. A cell that fails doesn't stop the others. What was run is kept in the cache until
/// the sweep is done: interrupted, even killed, the same request goes on from there. Errors
/// (trouble): every cell failed; the disk is full.
///
/// With `rescore` (which may be empty) the first answer of each cell is scored again, and which
/// requests fail, and by which knobs, is concluded likewise.
Report run_sweep(const SweepRequest& request, const CellRunner& run, const CellRescorer& rescore,
                 Progress& progress);

}  // namespace drift
