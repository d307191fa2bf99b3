#pragma once

#include <CLI/CLI.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/report.hpp"

namespace drift {

/// Adds the options that gate a comparison.
void add_gate_options(CLI::App& command, GateLimits& limits);

/// Judges the gates into the report, and gives the exit status that follows.
Status judge(const GateLimits& limits, Report& report);

}  // namespace drift
