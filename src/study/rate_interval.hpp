#pragma once

#include <cstdint>
#include <vector>

#include "driftaudit/study_record.hpp"

namespace drift {

/// What prompts add to a rate: events (or their expected number) and steps, a number each a prompt.
struct PromptSums {
  std::vector<double> events;
  std::vector<double> steps;
};

/// How many prompts bear the sum: (Σ x)² / Σ x², all of them where each adds as much as the next.
double bearing_prompts(const std::vector<double>& sums);

inline constexpr double kLeastBearing = 6;

/// All events over all steps, in a million, with an interval meant to hold the true rate in at
/// least 95 of 100 cases. Prompts are taken for independent, steps of one prompt are not.
///
/// Standard error of a ratio of sums over prompts; on the logarithm; the wider end, each side, of
/// Student's t with as many degrees of freedom as prompts bear the sum, less one (the idea of
/// Carter, Schnepel & Steigerwald, "Asymptotic behavior of a t-test robust to cluster
/// heterogeneity", Rev. Econ. Stat. 99, 2017), and of the studentized bootstrap over whole prompts
/// (Davison & Hinkley, "Bootstrap Methods and their Application", 1997, sections 2.4 and 3.8). The
/// one corrects for few prompts, the other for skewness. There is no interval where fewer than
/// `least_bearing` (2 or more) prompts bear the sum, or where its ends would be more than a factor
/// of 100 apart. Same input and seed, same numbers.
StudyRate rate_over_prompts(const PromptSums& sums, std::uint64_t seed,
                            double least_bearing = kLeastBearing);

/// Two-sided probability of a Student's t as far from 0 with that many degrees of freedom, at
/// least 1.
double student_t_probability(double t, double degrees);

}  // namespace drift
