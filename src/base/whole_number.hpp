#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace drift {

/// The number that a text of digits alone writes, without leading zeros; null for anything else and
/// for one beyond 64 bits.
std::optional<std::uint64_t> whole_number_in(std::string_view text);

}  // namespace drift
