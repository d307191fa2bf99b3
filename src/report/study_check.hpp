#pragma once

#include "driftaudit/report.hpp"

#include "report/json_value.hpp"

namespace drift {

/// Whether each index of a report's study leads somewhere, and its histogram has a count a bin;
/// `root` is the report's place. Errors (usage), with the place.
void check_study(const Place& root, const Report& report);

}  // namespace drift
