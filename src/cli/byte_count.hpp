#pragma once

#include <cstdint>
#include <string>

#include "cli/checks.hpp"

namespace drift {

/// Bytes of "512M", "2G", "1500000": digits, and K, M or G for powers of 1024. Errors (usage):
/// anything else, 0, more than 2^60.
std::uint64_t byte_count(const std::string& text);

/// The same as a check of an option.
OptionCheck byte_count_check();

}  // namespace drift
