#pragma once

#include <string>

#include "driftaudit/report.hpp"

#include "report/verdict.hpp"

namespace drift {

/// The heading and the table of orders of a report that reveals some; lines are broken at `width`.
std::string reveal_table(const Report& report, bool colour, std::size_t width);

/// What was proved, and nothing else but where nothing was.
Verdict reveal_verdict(const Report& report);

}  // namespace drift
