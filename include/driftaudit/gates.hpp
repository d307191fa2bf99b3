#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driftaudit/comparison.hpp"

namespace drift {

/// What a comparison may not exceed.
struct GateLimits {
  std::string fail_on = "tokens";        ///< "tokens", "bits", "never"
  std::optional<double> max_logit_diff;  ///< largest |Δlogit| allowed
  std::optional<double> min_margin;      ///< least Summary::margin allowed
};

/// One gate and what it found.
struct GateRecord {
  std::string gate;  ///< "--max-logit-diff 1e-06"
  bool tripped = false;
  std::string finding;  ///< "the largest change of a logit is 7.63e-06"
};

/// Judges the gates that are set. A gate trips where its limit is passed, where numbers that aren't
/// finite leave it without a meaning, and where the kept logits can't decide it; the finding says
/// which.
std::vector<GateRecord> judge_gates(const Summary& summary, const GateLimits& limits);

bool any_tripped(const std::vector<GateRecord>& gates);

}  // namespace drift
