#pragma once

#include <cstdint>
#include <vector>

#include "runner/split_mix.hpp"

namespace drift {

/// Numbers that are the same on every machine: no library's distribution.
class Made {
 public:
  explicit Made(std::uint64_t seed) : random_(seed) {}

  std::uint64_t next() { return random_.next(); }
  /// In [low, high).
  float between(float low, float high) {
    return low + (high - low) * static_cast<float>(next() >> 40) / 16777216.0F;
  }
  std::vector<float> logits(std::size_t count, float low, float high) {
    std::vector<float> made(count);
    for (float& value : made) {
      value = between(low, high);
    }
    return made;
  }

 private:
  SplitMix64 random_;
};

}  // namespace drift
