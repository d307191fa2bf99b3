#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace drift {

/// Bytes of "512M", "2G", "1500000": digits, and K, M or G for powers of 1024. Null: anything else,
/// 0, more than 2^60.
std::optional<std::uint64_t> parsed_bytes(const std::string& text);

/// The same. Errors (usage) where it is null.
std::uint64_t byte_count(const std::string& text);

/// The shortest text that parsed_bytes() reads as so many bytes, which aren't 0.
std::string spelt_bytes(std::uint64_t bytes);

}  // namespace drift
