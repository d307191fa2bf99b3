#pragma once

#include <string>
#include <vector>

#include "driftaudit/report.hpp"

namespace drift {

/// Whether a sweep's cells were rescored.
bool is_rescored(const SweepRecord& sweep);

/// A cell's failing requests in a few words: "none", "prompt 3 from step 5", "3 of 8 requests".
std::string failing_in_brief(const SweepCell& cell);

/// "requests fail in 2 of 5 cells, moved by cache", "no request fails".
std::string failure_headline(const SweepRecord& sweep);

/// Which request of which cell fails, from which step on and with which period, and which knobs
/// move that; a sentence each.
std::vector<std::string> failure_details(const SweepRecord& sweep);

}  // namespace drift
