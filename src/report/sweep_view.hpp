#pragma once

#include <string>
#include <vector>

#include "driftaudit/report.hpp"

#include "report/verdict.hpp"

namespace drift {

/// The heading, the table of cells and that of knobs of a report that has a sweep.
std::string sweep_table(const Report& report, bool colour);

/// Which knobs move bits, what that rests on, and what to do next; first what doesn't repeat itself
/// or failed.
Verdict sweep_verdict(const Report& report);

/// What the first knob that moved bits did, as an audit of two of its cells.
std::vector<Suggestion> sweep_suggestions(const Report& report);

}  // namespace drift
