#pragma once

#include <string>

#include "driftaudit/report.hpp"

#include "report/verdict.hpp"

namespace drift {

/// The heading, the table of cells and that of knobs of a report that has a sweep.
std::string sweep_table(const Report& report, bool colour);

/// Which knobs move bits, what that rests on, and what to do next; first what doesn't repeat itself
/// or failed.
Verdict sweep_verdict(const Report& report);

}  // namespace drift
