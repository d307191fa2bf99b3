#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "driftaudit/logits_file.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/prompts.hpp"
#include "driftaudit/report.hpp"

namespace drift {

/// One side of a saved report.
struct SavedSide {
  std::string name;  ///< as it was named: "base.json", "report.json:B"
  std::shared_ptr<const Report> report;
  std::uint32_t build = 0;  ///< index into the report's builds
  /// Its runs by mode and prompt (from 1): indices into the report's runs.
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> runs;
  std::shared_ptr<const LogitsFile> logits;  ///< null: only the kept logits are at hand

  const BuildRecord& record() const { return report->builds[build]; }
  /// Where, when and by what it ran; `report` in it is this side's own name.
  RecordedBuild recorded() const;
  /// What it was asked: the prompts of the modes greedy and sample, and the windows of score.
  PromptSet prompts() const;
  std::vector<Prompt> text() const;
};

/// Whether a side's name means a saved report: it ends in .json or .json.zst, perhaps with :A or
/// :B.
bool names_report(const std::string& side);

/// Opens a saved side, with all logits where its logits file stands beside it. Errors (usage): as
/// read_report(); a report of two sides without :A or :B, one that has no such side or no runs; a
/// logits file that isn't the report's.
SavedSide open_saved_side(const std::string& name, Progress& progress);

/// The report's file of a side's name: without :A or :B.
std::string report_file(const std::string& side);

/// Both at once.
std::pair<SavedSide, SavedSide> open_saved_sides(const std::string& a, const std::string& b,
                                                 Progress& progress);

/// What forbids to compare two saved sides step by step, each with both values: other weights,
/// other prompts, modes, or settings that generation follows from.
std::vector<std::string> not_comparable(const SavedSide& a, const SavedSide& b);

/// What both sides have: the modes and prompts that both ran under settings that matter to them
/// alike. Prompts are told by their ids and numbered anew. Errors (usage): nothing, or other
/// weights.
struct CommonPart {
  SettingsRecord settings;
  SavedSide a, b;
};
CommonPart common_part(const SavedSide& a, const SavedSide& b);

/// What may explain a change beside the builds, where a side of the report was recorded before:
/// other attention, threads, knobs, cache, processor, kernels, BLAS, operating system, program. Of
/// sides that both run now: that eager attention is scaled otherwise, as their transformers do it.
std::vector<std::string> differing_conditions(const Report& report);

/// The same of two saved sides' batches, whose sizes and neighbours move bits: batches of another
/// size, or of other prompts.
std::vector<std::string> differing_batches(const SavedSide& a, const SavedSide& b);

}  // namespace drift
