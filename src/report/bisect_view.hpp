#pragma once

#include <string>

#include "driftaudit/report.hpp"

#include "report/verdict.hpp"

namespace drift {

/// The heading and the table of candidates of a report that has a bisection.
std::string bisect_table(const Report& report, bool colour);

/// What it found, and what to do next.
Verdict bisect_verdict(const Report& report);

/// "A", …, "Z", "AA": the name of a class.
std::string class_name(std::uint32_t index);

}  // namespace drift
