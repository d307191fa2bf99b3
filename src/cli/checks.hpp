#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace drift {

/// A check of an option's text for CLI11: empty when it is fine, else what is wrong. CLI11's own
/// take -1 for 2^64 - 1, 010 for 8 and NaN for any range.
using OptionCheck = std::function<std::string(const std::string&)>;

/// Decimal digits alone, from `least` to `most`.
OptionCheck whole_number(std::uint64_t least, std::uint64_t most);

/// A number from `least` to `most`.
OptionCheck number_between(double least, double most);

/// An amount of bytes, as parsed_bytes() reads it.
OptionCheck byte_count_check();

}  // namespace drift
