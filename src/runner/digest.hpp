#pragma once

// The digests of draws and of tensors. Needs the standard library alone.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace drift::runner {

/// 64-bit FNV-1a (Fowler, Noll & Vo), which can be continued from an earlier hash.
inline std::uint64_t fnv1a(const void* data, std::size_t size,
                           std::uint64_t hash = 0xcbf29ce484222325ULL) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
  }
  return hash;
}

/// MurmurHash64A (Appleby) with seed 0, on little-endian machines: eight bytes a round.
///
/// Good enough to tell equal values from others where nobody means to deceive. Each round is a
/// bijection of the state and, for a given state, of the eight bytes: data of one length that
/// differ within eight aligned bytes alone, as when one element changed, never share their digest.
/// Others do by chance, about 2^-64.
inline std::uint64_t murmur64a(const void* data, std::size_t size) {
  constexpr std::uint64_t kMultiplier = 0xc6a4a7935bd1e995ULL;
  const auto mixed = [](std::uint64_t x) { return x ^ (x >> 47); };
  const auto* bytes = static_cast<const unsigned char*>(data);
  std::uint64_t hash = size * kMultiplier;
  const std::size_t whole = size / 8 * 8;
  for (std::size_t i = 0; i < whole; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    hash = (hash ^ mixed(word * kMultiplier) * kMultiplier) * kMultiplier;
  }
  if (whole < size) {
    std::uint64_t rest = 0;
    std::memcpy(&rest, bytes + whole, size - whole);
    hash = (hash ^ rest) * kMultiplier;
  }
  return mixed(mixed(hash) * kMultiplier);
}

}  // namespace drift::runner
