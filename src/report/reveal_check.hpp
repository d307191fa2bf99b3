#pragma once

#include "driftaudit/report.hpp"

#include "report/json_value.hpp"

namespace drift {

/// Whether a reveal record, read from `place`, holds together: builds that are there, trees over as
/// many terms as their length says, a status that the tree and the proof bear out, comparisons that
/// their trees bear out. Errors (usage), with the place.
void check_reveal(const Place& place, const Report& report);

}  // namespace drift
