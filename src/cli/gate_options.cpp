#include "cli/gate_options.hpp"

#include <limits>

#include "cli/checks.hpp"

namespace drift {

void add_gate_options(CLI::App& command, GateLimits& limits) {
  constexpr double kMost = std::numeric_limits<double>::max();
  command.add_option("--fail-on", limits.fail_on, "exit with 1 on changed tokens, bits, or never")
      ->check(CLI::IsMember({"tokens", "bits", "never"}))
      ->capture_default_str();
  command
      .add_option("--max-logit-diff", limits.max_logit_diff,
                  "exit with 1 where a logit changed by more")
      ->check(number_between(0, kMost));
  command
      .add_option("--min-margin", limits.min_margin,
                  "exit with 1 where the smallest gap is under this many times the largest change "
                  "of any gap")
      ->check(number_between(0, kMost));
}

Status judge(const GateLimits& limits, Report& report) {
  report.gates = judge_gates(report.summary, limits);
  return any_tripped(report.gates) ? Status::kGate : Status::kDone;
}

}  // namespace drift
