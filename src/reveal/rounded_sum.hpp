#pragma once

#include <span>

namespace drift {

/// The exact sum of `terms`, rounded once to the nearest float32, ties to even. Products of two
/// float32 are exact in double, so it serves fused terms too.
float rounded_sum(std::span<const double> terms);

}  // namespace drift
