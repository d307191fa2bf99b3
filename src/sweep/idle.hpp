#pragma once

#include <map>
#include <string>

#include "driftaudit/report.hpp"

namespace drift {

/// A cell as far as it tells whether a knob had anything to act on.
struct TurnedCell {
  const std::map<std::string, std::string>& values;
  const Report& answer;
};

/// Why a knob had nothing to act on between two cells that differ in it alone and gave the same
/// bits: "no mode samples". Empty where it had something, or where that isn't known.
std::string idle_reason(const std::string& knob, const SettingsRecord& settings,
                        const TurnedCell& a, const TurnedCell& b);

}  // namespace drift
