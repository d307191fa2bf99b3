#pragma once

#include "driftaudit/report.hpp"

#include "report/json_value.hpp"

namespace drift {

/// Whether a report's rescore record fits itself: its builds are there, its tokens are as many as
/// its requests say, in their order, and its outliers are those above its limit; `root` is the
/// report's place. Errors (usage), with the place.
void check_rescore(const Place& root, const Report& report);

}  // namespace drift
