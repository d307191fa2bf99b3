#pragma once

#include "driftaudit/report.hpp"

#include "report/json_value.hpp"

namespace drift {

/// Errors (usage): the summary, or that of a mode, has another verdict than the comparison of the
/// prompts gives.
void check_verdicts(const Place& root, const Report& report);

}  // namespace drift
