#include "base/byte_count.hpp"

#include <charconv>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

namespace drift {

std::optional<std::uint64_t> parsed_bytes(const std::string& text) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 60U;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest + 1 < end) {
    return std::nullopt;
  }
  const std::size_t unit = rest == end ? 0 : std::string("_KMG").find(*rest);
  if (unit == std::string::npos || (rest != end && unit == 0)) {
    return std::nullopt;
  }
  if (number == 0 || number > kMost >> (10 * unit)) {
    return std::nullopt;
  }
  return number << (10 * unit);
}

std::uint64_t byte_count(const std::string& text) {
  const std::optional<std::uint64_t> bytes = parsed_bytes(text);
  if (!bytes) {
    throw usage_error(text + ": not an amount of bytes", "such as 512M or 2G");
  }
  return *bytes;
}

std::string spelt_bytes(std::uint64_t bytes) {
  std::size_t unit = 0;
  while (unit < 3 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{}{}", bytes, unit == 0 ? "" : std::string(1, "_KMG"[unit]));
}

}  // namespace drift
