#pragma once

#include <optional>

#include "driftaudit/rescore_record.hpp"
#include "driftaudit/sweep_record.hpp"

namespace drift {

/// What rescoring a cell showed, without its tokens.
SweepRescore rescore_of_cell(const RescoreRecord& record);

/// Whether the same requests of two cells fail, each from the same step on.
bool fail_alike(const SweepRescore& a, const SweepRescore& b);

/// What the pairs of a knob show of failures.
class FailureTally {
 public:
  /// A pair of cells with what rescoring showed of each, if it was asked for.
  void add(SweepPair pair, const std::optional<SweepRescore>& a,
           const std::optional<SweepRescore>& b);
  /// Nothing where no pair was rescored.
  std::optional<SweepKnobFailures> result() const;

 private:
  SweepKnobFailures failures_;
};

}  // namespace drift
