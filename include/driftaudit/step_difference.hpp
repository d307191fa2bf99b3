#pragma once

#include <cstdint>
#include <optional>

#include "driftaudit/step.hpp"
#include "driftaudit/ulp.hpp"

namespace drift {

/// How two sides differ at one step whose contexts are equal.
struct StepDifference {
  bool same = true;           ///< the logits are the same bytes
  double max_abs = 0;         ///< largest |b − a| over finite pairs
  std::uint64_t max_ulp = 0;  ///< over pairs without NaN, in steps of the type that is compared
  /// KL(A‖B) of the softmax distributions, nats; null with a NaN or +inf on either side, or where
  /// the logits of a side are all -inf; +inf where B rules out a token that A allows.
  std::optional<double> kl;
  /// |(b[t]−b[u]) − (a[t]−a[u])|, t and u A's two top ids; null when it isn't known or isn't
  /// finite.
  std::optional<double> gap_change;
  double gap_a = 0;
  double gap_b = 0;
  /// The logits differ and a flip isn't ruled out: gap ≤ 2 × max_abs on A's side, since a third
  /// token may overtake, or there are numbers that aren't finite.
  bool flip_possible = false;
  std::uint64_t non_finite = 0;  ///< NaN and infinities on both sides
  /// The logits differ and only kept ones were at hand: max_abs and max_ulp are lower bounds, and a
  /// false flip_possible rules nothing out.
  bool on_kept = false;
};

/// From all logits of both sides; `type` is what ULPs are steps of. Errors (trouble): they are not
/// of one length, or fewer than 2.
StepDifference compare_logits(Logits a, Logits b, FloatType type = FloatType::kFloat32);

/// From what the steps kept. The digests tell whether the logits are the same bytes; of changed
/// ones the ids that both kept are compared, and kl is null. Where both kept all `vocabulary`
/// logits it is compare_logits().
StepDifference compare_kept(const Step& a, const Step& b, std::size_t vocabulary,
                            FloatType type = FloatType::kFloat32);

}  // namespace drift
