#pragma once

#include <cstdint>
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
/// A token flips where the change closes the gap: where the ratio r = gap ÷ |change| is below 1 and
/// the change is a closing one, which it is half the time. Few or no steps have r < 1, but near 0
/// ratios are about level, as gaps are: two logits that vary freely don't avoid each other. So
/// P(r < 1) is taken to be P(r < K) / K for some reach K, and the rate is the number of steps with
/// r < K, over 2 K and all steps. For small changes that is f(0) E|d| / 2, f the density of gaps,
/// E|d| the mean change where gaps are small. Flips of steps with r ≥ 1 (a third token overtook)
/// are added as they were seen.
///
/// K is the bandwidth. It reaches over N^(2/3) / 2 of the N steps, at least 10, then over half as
/// many, and so on down to 30, until the ratios within pass as level: no slope, no crowding near 0
/// (means of r / K and of its logarithm, by sums over prompts), and no excess of prompts below K /
/// 2, K / 4, … 1 (Poisson). Where 10 steps or more have r < 1, K = 1 needs no such test.
///
/// The interval is that of rate_over_prompts() (study/rate_interval.hpp), and takes in those of a
/// half and a quarter of the steps within reach, which lean less on the level, and that of closing
/// changes alone, which doesn't lean on symmetry. None is given where no K passes ("density"),
/// where changes don't open gaps as often as they close them ("symmetry"), where fewer than 30
/// steps are near ("few steps") or too few prompts bear the sum ("few prompts"). What no step
/// shows, such as another density below the smallest gap, no test finds. Same input and seed, same
/// numbers.
FlipRate estimate_flip_rate(const GapChanges& prompts, std::uint64_t seed);

/// The mean of a figure that every step has, in a million, with an interval by prompts.
StudyRate mean_rate(const std::vector<std::vector<double>>& prompts, std::uint64_t seed);

}  // namespace drift
