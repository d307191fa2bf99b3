#include "base/whole_number.hpp"

#include <charconv>
#include <system_error>

namespace drift {

std::optional<std::uint64_t> whole_number_in(std::string_view text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool leading_zero = text.size() > 1 && text[0] == '0';
  return error == std::errc() && stop == end && !leading_zero ? std::optional(value) : std::nullopt;
}

}  // namespace drift
