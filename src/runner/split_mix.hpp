#pragma once

// Random numbers that are the same on every machine, by integer arithmetic alone. Needs nothing;
// valid C++17 and C++20.

#include <cstddef>
#include <cstdint>

namespace drift {

/// SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
class SplitMix64 {
 public:
  /// Between the states of a stream.
  static constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15ULL;

  /// The number that belongs to a state.
  static constexpr std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mixed(state_ += kGamma); }
  /// From 0 to bound − 1; the bias is below bound / 2^64.
  std::size_t below(std::size_t bound) { return next() % bound; }
  /// One of 2^24 numbers in [-limit, limit), evenly spaced. With a power of two as limit all steps
  /// to it are exact.
  float symmetric(float limit = 1) {
    return (static_cast<float>(next() >> 40) * 0x1p-23F - 1.0F) * limit;
  }

 private:
  std::uint64_t state_;
};

}  // namespace drift
