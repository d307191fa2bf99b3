#pragma once

// The digest of draws and of operations. Needs the standard library alone.

#include <cstddef>
#include <cstdint>

namespace drift::runner {

/// 64-bit FNV-1a (Fowler, Noll & Vo), which can be continued from an earlier hash.
///
/// Good enough to tell equal values from others where nobody means to deceive: texts of one length
/// that differ in one aligned float32 alone never share it (each round is a bijection, and within
/// four rounds the prime's 2^40 and 435 leave no two ways to the same state); for others it takes
/// chance, about 2^-64.
inline std::uint64_t fnv1a(const void* data, std::size_t size,
                           std::uint64_t hash = 0xcbf29ce484222325ULL) {
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < size; ++i) {
    hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
  }
  return hash;
}

}  // namespace drift::runner
