#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/flip_rate.hpp"
#include "driftaudit/report.hpp"

namespace drift {

/// Whether each step repeats what went before: for some period of at most 32 tokens, the last 8
/// tokens up to it, or the last period if that is longer, are those of one period earlier.
std::vector<bool> steps_in_loop(const std::vector<std::int32_t>& tokens);

/// Counts gaps by size and by position: bins per decade at 1, 2 and 5 from 1e-4 to 10 logits; bands
/// of a tenth of `tokens` each, at least one step wide. A step beyond `tokens` isn't counted, nor a
/// gap that isn't finite.
class GapHistogram {
 public:
  explicit GapHistogram(std::uint32_t tokens);
  void add(std::uint32_t step, double gap);  ///< `step` from 1
  const StudyHistogram& counts() const { return histogram_; }

 private:
  StudyHistogram histogram_;
};

/// Runs of one mode of one side of a report, in the order of their prompts.
std::vector<const Run*> runs_of(const Report& report, const std::string& mode, std::uint32_t build);

/// What two runs of the same prompts changed, over steps whose contexts are equal: up to and with
/// the first changed token, or while both went on from the same one. `unknown` counts steps of
/// which the change isn't known or isn't finite; they are left out. A flip is a change of the
/// highest token, whatever was chosen. Errors (trouble): other prompts.
GapChanges gap_changes(const std::vector<const Run*>& a, const std::vector<const Run*>& b,
                       std::uint64_t& unknown);

/// A run over the openings.
struct OpeningsRun {
  StudyRun about;  ///< its set is still to be told
  const Report* report = nullptr;
};

/// All figures of the gaps, of greedy runs of the same prompts.
StudyGaps gap_figures(const std::vector<OpeningsRun>& runs, const std::string& openings,
                      std::uint32_t tokens);

}  // namespace drift
