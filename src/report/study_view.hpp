#pragma once

#include <string>
#include <vector>

#include "driftaudit/report.hpp"

#include "report/verdict.hpp"

namespace drift {

/// The terminal's tables of a report of kind "study", the original study's figures beside those
/// that measure the same.
std::string study_table(const Report& report, bool colour);

Verdict study_verdict(const Report& report);

/// Commands worth running after a study.
std::vector<Suggestion> study_suggestions(const Report& report);

/// "the upgrade, greedy", "generic kernels": what a pair of a study compares.
std::string pair_name(const StudyPair& pair);

/// Whether a rate can be told from these steps: not where its own tests say that what it takes for
/// granted isn't so.
bool flips_told(const FlipRate& rate);

/// "12.3 in a million (7.1 to 20)", "none".
std::string rate_in_words(const StudyRate& rate);

/// "81,000 (49,000 to 140,000)": how many steps go by until one, of a rate that isn't 0.
std::string steps_until_one(const StudyRate& rate);

}  // namespace drift
