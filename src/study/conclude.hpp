#pragma once

#include <string>
#include <vector>

#include "driftaudit/report.hpp"

namespace drift {

/// What an audit of two conditions says, `first_step` being the same with one new token.
StudyPair pair_figures(const Report& audit, const Report& first_step);

/// Puts into `build` how its answer differs from that of an earlier build to the same prompts.
void compare_in_range(const Report& before, const Report& after, StudyBuild& build);

/// How often tokens would flip between runs of the openings: the upgrade, generic kernels, one
/// thread, the upgrade on generic kernels, by the runs' names. `answers`: of gaps.runs.
std::vector<StudyFlips> flips_between(const std::vector<const Report*>& answers,
                                      const StudyGaps& gaps);

/// The figures of an audit of sampled text whose second side was forced.
StudySampled sampled_figures(const Report& audit);

}  // namespace drift
