#include "study/rate_interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <boost/math/distributions/students_t.hpp>

#include "runner/split_mix.hpp"

namespace drift {
namespace {

constexpr double kMillion = 1e6;
constexpr double kTail = 0.025;
constexpr std::size_t kReplicates = 1000;
constexpr double kWidest = 100;  ///< high ÷ low

/// How often each prompt was drawn.
using Multiplicities = std::vector<std::uint32_t>;

struct Estimate {
  double rate = 0;            ///< a step
  double relative_error = 0;  ///< standard error of the logarithm
};

double weighted(const std::vector<double>& values, const Multiplicities& drawn) {
  return std::inner_product(values.begin(), values.end(), drawn.begin(), 0.0);
}

Estimate estimate(const PromptSums& sums, const Multiplicities& drawn) {
  const double steps = weighted(sums.steps, drawn);
  const double events = weighted(sums.events, drawn);
  Estimate found;
  if (!(steps > 0) || !(events > 0)) {
    return found;
  }
  found.rate = events / steps;
  double squares = 0;
  for (std::size_t p = 0; p < drawn.size(); ++p) {
    const double off = sums.events[p] - found.rate * sums.steps[p];
    squares += drawn[p] * off * off;
  }
  const auto prompts = static_cast<double>(drawn.size());
  found.relative_error = std::sqrt(squares * prompts / (prompts - 1)) / events;
  return found;
}

/// The logarithm's distance from its true value in standard errors: what it can be, low and high.
struct Spread {
  double low = 0;
  double high = 0;
};

/// Of replicates in which prompts are drawn anew. One without an event or without scatter tells of
/// no end, so that it counts as beyond every one.
Spread replicated(const PromptSums& sums, const Estimate& whole, std::uint64_t seed) {
  constexpr double kBeyond = 1e9;
  const std::size_t prompts = sums.events.size();
  SplitMix64 random(seed);
  std::vector<double> distances;
  distances.reserve(kReplicates);
  for (std::size_t i = 0; i < kReplicates; ++i) {
    Multiplicities drawn(prompts, 0);
    for (std::size_t p = 0; p < prompts; ++p) {
      ++drawn[random.below(prompts)];
    }
    const Estimate again = estimate(sums, drawn);
    distances.push_back(again.relative_error > 0
                            ? std::log(again.rate / whole.rate) / again.relative_error
                        : again.rate > whole.rate ? kBeyond
                                                  : -kBeyond);
  }
  std::sort(distances.begin(), distances.end());
  constexpr auto kCut = static_cast<std::size_t>(kTail * kReplicates);
  return {distances[kCut], distances[kReplicates - 1 - kCut]};
}

}  // namespace

double bearing_prompts(const std::vector<double>& sums) {
  const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  const double squares = std::inner_product(sums.begin(), sums.end(), sums.begin(), 0.0);
  return squares > 0 ? sum * sum / squares : 0;
}

StudyRate rate_over_prompts(const PromptSums& sums, std::uint64_t seed, double least_bearing) {
  const Estimate whole = estimate(sums, Multiplicities(sums.events.size(), 1));
  StudyRate found{whole.rate * kMillion, std::nullopt, std::nullopt};
  const double bearing = bearing_prompts(sums.events);
  if (bearing < least_bearing) {
    return found;
  }
  const double t = boost::math::quantile(boost::math::students_t(bearing - 1), 1 - kTail);
  Spread spread{-t, t};
  if (whole.relative_error > 0) {
    const Spread again = replicated(sums, whole, seed);
    spread = {std::min(-t, again.low), std::max(t, again.high)};
  }
  const double low = std::exp(-spread.high * whole.relative_error);
  const double high = std::exp(-spread.low * whole.relative_error);
  if (high <= kWidest * low) {
    found.low = found.per_million * low;
    found.high = std::min(found.per_million * high, kMillion);
  }
  return found;
}

double student_t_probability(double t, double degrees) {
  const boost::math::students_t distribution(std::max(1.0, degrees));
  return 2 * boost::math::cdf(boost::math::complement(distribution, std::abs(t)));
}

}  // namespace drift
