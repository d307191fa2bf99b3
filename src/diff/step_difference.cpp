#include "driftaudit/step_difference.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/ulp.hpp"

#include "diff/exp_sum.hpp"
#include "diff/ordered_float.hpp"

namespace drift {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Largest {
  double abs = 0;
  std::uint64_t ulp = 0;
};

Largest largest_of_any(Logits a, Logits b, FloatType type) {
  Largest largest;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) && std::isfinite(b[i])) {
      largest.abs = std::max(largest.abs, std::abs(double{b[i]} - double{a[i]}));
    }
    const std::uint64_t ulp = ulp_distance(a[i], b[i], type);
    if (ulp != kUlpNan) {
      largest.ulp = std::max(largest.ulp, ulp);
    }
  }
  return largest;
}

/// Of finite logits; in steps of float32 without a branch.
Largest largest_of_finite(Logits a, Logits b, FloatType type) {
  if (type != FloatType::kFloat32) {
    return largest_of_any(a, b, type);
  }
  Largest largest;
  std::uint32_t ulp = 0;
  for (std::size_t at = 0; at < a.size(); at += kBlock) {
    largest.abs = std::max(largest.abs, difference_block(a, b, at).abs().maxCoeff());
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int32_t x = ordered(a[i]);
    const std::int32_t y = ordered(b[i]);
    // Unsigned, the difference of the larger and the smaller is right modulo 2^32.
    const std::uint32_t distance =
        static_cast<std::uint32_t>(std::max(x, y)) - static_cast<std::uint32_t>(std::min(x, y));
    ulp = std::max(ulp, distance);
  }
  largest.ulp = ulp;
  return largest;
}

bool has_nan(Logits logits) {
  return std::any_of(logits.begin(), logits.end(), [](float x) { return std::isnan(x); });
}

/// Where Taylor's series of exp(d) − 1 may end with d⁷/7!: what is left out is under 1e-17 × d.
constexpr double kSmall = 1.0 / 64;

/// KL = log Σ p exp(d) − Σ p d with d = b − a, for finite logits and |d| ≤ kSmall: half the
/// exponentials of the general form, and no cancellation but that of d against exp(d) − 1.
double kl_of_small_change(Logits a, Logits b, double max_a) {
  double sum = 0;
  double grown = 0;
  double mean = 0;
  for (std::size_t at = 0; at < a.size(); at += kBlock) {
    const Block weight = shifted_block(a, at, max_a).exp();
    const Block d = difference_block(a, b, at);
    // One expression, so that Eigen keeps it in registers.
    const auto tail = 1.0 / 24 + d * (1.0 / 120 + d * (1.0 / 720 + d * (1.0 / 5040)));
    const auto expm1 = d * (1.0 + d * (1.0 / 2 + d * (1.0 / 6 + d * tail)));
    sum += weight.sum();
    mean += (weight * d).sum();
    grown += (weight * expm1).sum();
  }
  return std::max(0.0, std::log1p(grown / sum) - mean / sum);
}

/// KL = Σ p (log p − log q) with log p = (a − max_a) − log Σ exp(a − max_a). The maxima are taken
/// out of both sides first: the error is then some 1e-15, however large the logits are.
double kl_of_any_change(Logits a, Logits b, double max_a, double max_b) {
  double sum_a = 0;
  double sum_b = 0;
  double weighted = 0;  // Σ exp(a − max_a) × ((a − max_a) − (b − max_b))
  for (std::size_t at = 0; at < a.size(); at += kBlock) {
    const Block x = shifted_block(a, at, max_a);
    const Block y = shifted_block(b, at, max_b);
    const Block weight = x.exp();
    sum_a += weight.sum();
    sum_b += y.exp().sum();
    // What A rules out has no weight, however B differs there.
    weighted += (x > -kInfinity).select(weight * (x - y), 0.0).sum();
  }
  return std::max(0.0, weighted / sum_a + std::log(sum_b / sum_a));
}

std::optional<double> kl_divergence(Logits a, Logits b, double max_a, double max_b,
                                    const StepDifference& difference) {
  if (difference.non_finite == 0 && difference.max_abs <= kSmall) {
    return kl_of_small_change(a, b, max_a);
  }
  if (!std::isfinite(max_a) || !std::isfinite(max_b) || has_nan(a) || has_nan(b)) {
    return std::nullopt;
  }
  return kl_of_any_change(a, b, max_a, max_b);
}

std::optional<double> gap_change(const TopTwo& top, Logits b) {
  const double gap_b = double{b[static_cast<std::size_t>(top.first.id)]} -
                       double{b[static_cast<std::size_t>(top.second.id)]};
  const double change = std::abs(gap_b - top.gap());
  return std::isfinite(change) ? std::optional(change) : std::nullopt;
}

}  // namespace

StepDifference compare_logits(Logits a, Logits b, FloatType type) {
  if (a.size() != b.size() || a.size() < 2) {
    throw trouble(fmt::format("the two sides have {} and {} logits at one step: not of one model",
                              a.size(), b.size()));
  }
  const TopTwo top_a = top_two(a);
  StepDifference difference;
  difference.same = std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  difference.gap_a = top_a.gap();
  const std::uint64_t non_finite_a = count_non_finite(a);
  if (difference.same) {
    difference.gap_b = difference.gap_a;
    difference.non_finite = 2 * non_finite_a;
    difference.gap_change = gap_change(top_a, b);
    if (std::isfinite(top_a.first.logit) && !(non_finite_a > 0 && has_nan(a))) {
      difference.kl = 0;
    }
    return difference;
  }
  const TopTwo top_b = top_two(b);
  difference.gap_b = top_b.gap();
  difference.non_finite = non_finite_a + count_non_finite(b);
  difference.gap_change = gap_change(top_a, b);
  const bool finite = difference.non_finite == 0;
  const Largest largest = finite ? largest_of_finite(a, b, type) : largest_of_any(a, b, type);
  difference.max_abs = largest.abs;
  difference.max_ulp = largest.ulp;
  difference.kl = kl_divergence(a, b, top_a.first.logit, top_b.first.logit, difference);
  difference.flip_possible = !finite || !(difference.gap_a > 2 * difference.max_abs);
  return difference;
}

}  // namespace drift
