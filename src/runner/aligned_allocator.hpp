#pragma once

#include <cstdint>

namespace drift::runner {

/// From then on tensors that torch makes start at multiples of `alignment` bytes that are no
/// multiples of twice that; 64 leaves torch's own allocator. Throws std::runtime_error where it
/// isn't a power of two from 4 to 64. What lies in the mapped weights file stays where it is.
void align_tensors(std::uint32_t alignment);

}  // namespace drift::runner
