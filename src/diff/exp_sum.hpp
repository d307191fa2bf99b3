#pragma once

#include <algorithm>
#include <cstddef>

#include <Eigen/Core>

#include "driftaudit/step.hpp"

namespace drift {

/// Elements taken at a time: their doubles stay in the first-level cache.
inline constexpr std::size_t kBlock = 512;
using Block = Eigen::Array<double, Eigen::Dynamic, 1, 0, kBlock, 1>;
using FloatBlock = Eigen::Map<const Eigen::ArrayXf>;

/// logits[at …] − shift in double, up to kBlock of them.
inline Block shifted_block(Logits logits, std::size_t at, double shift) {
  const std::size_t size = std::min(kBlock, logits.size() - at);
  const FloatBlock block(logits.data() + at, static_cast<Eigen::Index>(size));
  return block.cast<double>() - shift;
}

/// b[at …] − a[at …] in double.
inline Block difference_block(Logits a, Logits b, std::size_t at) {
  const auto size = static_cast<Eigen::Index>(std::min(kBlock, a.size() - at));
  return FloatBlock(b.data() + at, size).cast<double>() -
         FloatBlock(a.data() + at, size).cast<double>();
}

/// Σ exp(x − shift) in double, of logits without NaN and +inf.
inline double exp_sum(Logits logits, double shift) {
  double sum = 0;
  for (std::size_t at = 0; at < logits.size(); at += kBlock) {
    sum += shifted_block(logits, at, shift).exp().sum();
  }
  return sum;
}

}  // namespace drift
