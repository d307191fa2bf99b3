#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/rescore_record.hpp"

namespace drift {

/// The figures of the finite ones among |Δ|; outliers are those above the limit or not finite.
RescoreSpread spread_of(const std::string& part, const std::vector<double>& deltas, double limit);

/// "early", "middle" or "late": where step `step` of `steps` belongs, both from 1. At most ten
/// steps, and at most half of them, are early; as many are late.
const char* part_of(std::uint32_t step, std::uint32_t steps);

/// The distance between rising numbers where it is always the same, at least 2, and the next number
/// would lie beyond `end`. Fewer than three numbers have none.
std::optional<std::uint32_t> regular_distance(const std::vector<std::uint32_t>& numbers,
                                              std::uint32_t end);

}  // namespace drift
