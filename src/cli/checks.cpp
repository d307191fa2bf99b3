#include "cli/checks.hpp"

#include <charconv>
#include <cstdlib>

#include <fmt/core.h>

#include "base/byte_count.hpp"

namespace drift {

OptionCheck whole_number(std::uint64_t least, std::uint64_t most) {
  return [=](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool leading_zero = text.size() > 1 && text[0] == '0';
    if (error != std::errc() || stop != end || leading_zero || value < least || value > most) {
      return fmt::format("{}: not a whole number from {} to {}", text, least, most);
    }
    return {};
  };
}

OptionCheck number_between(double least, double most) {
  return [=](const std::string& text) -> std::string {
    char* stop = nullptr;
    const double value = std::strtod(text.c_str(), &stop);
    // Written so that NaN fails too.
    const bool within = value >= least && value <= most;
    if (text.empty() || *stop != '\0' || !within) {
      return fmt::format("{}: not a number from {:g} to {:g}", text, least, most);
    }
    return {};
  };
}

OptionCheck byte_count_check() {
  return [](const std::string& text) {
    return parsed_bytes(text) ? std::string()
                              : text + ": not an amount of bytes, such as 512M or 2G";
  };
}

}  // namespace drift
