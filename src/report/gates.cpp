#include "driftaudit/gates.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "report/verdict.hpp"

namespace drift {
namespace {

constexpr const char* kNotFinite = "there are logits that aren't finite";

GateRecord judge_fail_on(const Summary& s, const std::string& fail_on) {
  GateRecord gate{"--fail-on " + fail_on, false, ""};
  if (s.non_finite > 0) {
    return {gate.gate, true, kNotFinite};
  }
  if (fail_on == "tokens") {
    gate.tripped = s.verdict == "diverged";
    gate.finding = gate.tripped ? "a token changed" : "no token changed";
  } else {
    gate.tripped = s.verdict != "identical";
    gate.finding = !gate.tripped          ? "no bit changed"
                   : s.steps_changed == 0 ? "a token changed"
                                          : counted(s.steps_changed, "step") + " changed";
  }
  return gate;
}

GateRecord judge_logit_diff(const Summary& s, double limit) {
  GateRecord gate{fmt::format("--max-logit-diff {}", limit), true, ""};
  if (s.non_finite > 0) {
    gate.finding = kNotFinite;
  } else if (s.max_abs_logit_diff > limit) {
    gate.finding =
        fmt::format("the largest change of a logit is {}{}", s.steps_on_kept > 0 ? "at least " : "",
                    short_number(s.max_abs_logit_diff));
  } else if (s.steps_on_kept > 0) {
    gate.finding =
        fmt::format("undecided: of {} only kept logits were compared, whose largest change is {}",
                    counted(s.steps_on_kept, "changed step"), short_number(s.max_abs_logit_diff));
  } else {
    gate.tripped = false;
    gate.finding =
        fmt::format("the largest change of a logit is {}", short_number(s.max_abs_logit_diff));
  }
  return gate;
}

GateRecord judge_margin(const Summary& s, double limit) {
  GateRecord gate{fmt::format("--min-margin {}", limit), true, ""};
  if (s.non_finite > 0) {
    gate.finding = kNotFinite;
  } else if (s.margin && *s.margin < limit) {
    gate.finding =
        fmt::format("the smallest gap is {:.3g} × the largest change of any gap", *s.margin);
  } else if (s.gap_changes_unknown > 0) {
    gate.finding = fmt::format("undecided: at {} the kept logits don't tell the change of the gap",
                               counted(s.gap_changes_unknown, "changed step"));
  } else {
    gate.tripped = false;
    gate.finding = s.margin ? fmt::format(
                                  "the smallest gap is {:.3g} × the largest change of any "
                                  "gap",
                                  *s.margin)
                            : "no gap of a greedy step changed";
  }
  return gate;
}

}  // namespace

std::vector<GateRecord> judge_gates(const Summary& summary, const GateLimits& limits) {
  std::vector<GateRecord> gates;
  if (limits.fail_on != "never") {
    gates.push_back(judge_fail_on(summary, limits.fail_on));
  }
  if (limits.max_logit_diff) {
    gates.push_back(judge_logit_diff(summary, *limits.max_logit_diff));
  }
  if (limits.min_margin) {
    gates.push_back(judge_margin(summary, *limits.min_margin));
  }
  return gates;
}

bool any_tripped(const std::vector<GateRecord>& gates) {
  return std::any_of(gates.begin(), gates.end(), [](const auto& gate) { return gate.tripped; });
}

}  // namespace drift
