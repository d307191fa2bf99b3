#pragma once

// The sampler that is the same under every build: a counter-based uniform number and an inverse of
// the cumulative distribution in double. Needs the standard library alone.

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "split_mix.hpp"

namespace drift::runner {

/// A number in [0, 1) from SplitMix64's output function at counter `step` of stream `seed`, by its
/// upper 53 bits.
inline double uniform_at(std::uint64_t seed, std::uint64_t step) {
  const std::uint64_t z = SplitMix64::mixed(seed + (step + 1) * SplitMix64::kGamma);
  return static_cast<double>(z >> 11) * 0x1.0p-53;
}

/// The least index whose cumulative softmax exceeds `u` in [0, 1). `logits` may hold -inf (no
/// chance) but neither NaN nor +inf, and at least one that is finite. Sums run in index order.
inline std::size_t inverse_cdf(const float* logits, std::size_t count, double u) {
  float highest = logits[0];
  for (std::size_t i = 1; i < count; ++i) {
    highest = logits[i] > highest ? logits[i] : highest;
  }
  const auto weight = [&](std::size_t i) {
    return std::exp(static_cast<double>(logits[i]) - static_cast<double>(highest));
  };
  double total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    total += weight(i);
  }
  std::size_t last = 0;
  double below = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double own = weight(i);
    if (own > 0) {
      below += own;
      last = i;
      if (below > u * total) {
        break;
      }
    }
  }
  return last;
}

}  // namespace drift::runner
