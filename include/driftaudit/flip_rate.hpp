#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "driftaudit/study_record.hpp"

namespace drift {

/// One step of two runs whose contexts are equal.
struct GapChange {
  double gap = 0;        ///< run A's highest logit minus its second, at least 0
  double change = 0;     ///< of the difference of these two tokens' logits, B's minus A's
  bool flipped = false;  ///< B's highest token is another
};

/// Steps by prompt: steps of one prompt resemble one another, prompts are taken for independent.
using GapChanges = std::vector<std::vector<GapChange>>;

/// How often the highest token of a step would be another in run B, estimated from gaps and changes
/// together even where no flip was seen.
///
/// A token flips where the change closes the gap. Near 0 the density of gaps is about level: two
/// logits that vary freely don't avoid each other. So take the `near` steps with the smallest gaps,
/// which reach up to `bandwidth` h, and let each one's gap lie anywhere in [0, h], its change d as
/// it was: the two logits then change places with probability min(|d|, h) / 2h, the half because
/// a change opens a gap as often as it closes it. The rate is the sum of these over all steps N,
/// plus the flips seen above h. For small changes that is f(0) E[|d| | gap near 0] / 2 with f(0) =
/// near / (N h), the density by nearest neighbours (Loftsgaarden & Quesenberry, "A nonparametric
/// estimate of a multivariate density function", Ann. Math. Stat. 36, 1965), and the expected
/// change taken where gaps are small, so that changes may depend on gaps. near = N^(2/3) / 2, since
/// the count's own scatter falls with `near` as the density's slope begins to tell.
///
/// Only the two highest tokens are looked at: a third that overtakes both is counted when it is
/// seen above h.
///
/// The interval: standard error over prompts drawn with replacement (the bootstrap by clusters:
/// Davison & Hinkley, "Bootstrap Methods and their Application", 1997, section 3.8), on the
/// logarithm, with Student's t for the number of prompts less one. There is none of fewer than two
/// prompts, and none of a rate of 0. Same input and seed, same numbers.
FlipRate estimate_flip_rate(const GapChanges& prompts, std::uint64_t seed);

/// The mean of a figure that every step has, in a million, with an interval of the same kind.
StudyRate mean_rate(const std::vector<std::vector<double>>& prompts, std::uint64_t seed);

/// Student's t with `degrees` ≥ 1 degrees of freedom, two-sided 95 %. By the expansion in
/// Abramowitz & Stegun 26.7.5 from 3 degrees on: within 1 % of the true value.
double student_t95(std::uint64_t degrees);

}  // namespace drift
