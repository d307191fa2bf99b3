#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driftaudit/report.hpp"
#include "driftaudit/sweep.hpp"

namespace drift {

/// What both runs of a cell showed. Without an answer it failed.
struct CellOutcome {
  std::optional<Report> answer;  ///< of the first run; steps need only tokens and digests
  bool repeatable = false;
  std::string reason;
  std::vector<std::string> reports;
  std::optional<RescoreRecord> rescore;  ///< of the answer, where it was asked for
};

/// The first step, from 1, at which two runs of a prompt differ in a bit or a token, or which only
/// one of them has.
std::optional<std::size_t> first_difference(const Run& a, const Run& b);

/// Where two runs of the same cell part, in words; they do differ.
std::string parting_of(const Report& a, const Report& b);

/// Marks one run of a cell as differing from itself within its process, and says where.
void mark_unrepeatable(const std::string& parting, Report& report);

/// Takes the mark off again: what it says, or nothing where there is none.
std::string take_mark(Report& report);

/// Cells, classes and knobs of the record, from all outcomes in the cells' order.
SweepRecord sweep_record(const SweepRequest& request, const std::vector<CellOutcome>& outcomes);

}  // namespace drift
