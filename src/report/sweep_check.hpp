#pragma once

#include "driftaudit/report.hpp"

#include "report/json_value.hpp"

namespace drift {

/// Whether each index of a report's sweep leads somewhere; `root` is the report's place. Errors
/// (usage), with the place.
void check_sweep(const Place& root, const Report& report);

}  // namespace drift
