#include "cli/checks.hpp"

#include <cstdlib>
#include <optional>

#include <fmt/core.h>

#include "base/byte_count.hpp"
#include "base/whole_number.hpp"

namespace drift {

OptionCheck whole_number(std::uint64_t least, std::uint64_t most) {
  return [=](const std::string& text) -> std::string {
    const std::optional<std::uint64_t> value = whole_number_in(text);
    if (!value || *value < least || *value > most) {
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
