#pragma once

#include <string>
#include <vector>

#include "driftaudit/report.hpp"

#include "report/verdict.hpp"

namespace drift {

/// The heading and the table of orders of a report that reveals some; lines are broken at `width`.
std::string reveal_table(const Report& report, bool colour, std::size_t width);

/// The table of orders alone.
std::string reveal_orders(const Report& report, bool colour, std::size_t width);

/// The verdict's words as clauses, the headline first: for a report that says more than orders.
std::vector<std::string> reveal_details(const Report& report);

/// What was proved, and nothing else but where nothing was.
Verdict reveal_verdict(const Report& report);

}  // namespace drift
