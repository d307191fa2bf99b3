#include "sweep/failures.hpp"

#include <algorithm>

namespace drift {

SweepRescore rescore_of_cell(const RescoreRecord& record) {
  SweepRescore cell;
  cell.limit = record.limit;
  if (!record.spread.empty()) {  // the first part is all
    cell.tokens = record.spread.front().tokens;
    cell.median = record.spread.front().median;
    cell.max = record.spread.front().max;
  }
  cell.outliers = record.outliers.size();
  cell.request_period = record.request_period;
  for (const RescoredRequest& request : record.requests) {
    if (!request.first_outlier) {
      continue;
    }
    SweepFailure& failure = cell.failing.emplace_back();
    failure.mode = request.mode;
    failure.prompt = request.prompt;
    failure.first_step = *request.first_outlier;
    failure.outliers = request.outliers;
    failure.step_period = request.outlier_period;
    failure.answers = request.answers ? std::optional(request.answers->prompt) : std::nullopt;
  }
  return cell;
}

bool fail_alike(const SweepRescore& a, const SweepRescore& b) {
  return std::equal(a.failing.begin(), a.failing.end(), b.failing.begin(), b.failing.end(),
                    [](const SweepFailure& x, const SweepFailure& y) {
                      return x.mode == y.mode && x.prompt == y.prompt &&
                             x.first_step == y.first_step;
                    });
}

void FailureTally::add(SweepPair pair, const std::optional<SweepRescore>& a,
                       const std::optional<SweepRescore>& b) {
  if (!a || !b) {
    return;
  }
  ++failures_.pairs;
  if (!fail_alike(*a, *b)) {
    ++failures_.pairs_moved;
    failures_.first = failures_.first.value_or(pair);
  }
}

std::optional<SweepKnobFailures> FailureTally::result() const {
  return failures_.pairs > 0 ? std::optional(failures_) : std::nullopt;
}

}  // namespace drift
