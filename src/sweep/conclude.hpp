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

/// Where two runs of the same cell part, in words; they do differ.
std::string parting_of(const Report& a, const Report& b);

/// Cells, classes and knobs of the record, from all outcomes in the cells' order.
SweepRecord sweep_record(const SweepRequest& request, const std::vector<CellOutcome>& outcomes);

}  // namespace drift
