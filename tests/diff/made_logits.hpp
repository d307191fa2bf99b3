#pragma once

#include <cstdint>
#include <vector>

namespace drift {

/// Numbers that are the same on every machine: SplitMix64, no library's distribution.
class Made {
 public:
  explicit Made(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
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
  std::uint64_t state_;
};

}  // namespace drift
