#include "model/escapes.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/code_points.hpp"

namespace drift {
namespace {

constexpr std::string_view kLetters = "abfnrtv\\'\"?";
constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"?";

[[noreturn]] void fail(std::string_view escape) {
  throw usage_error(fmt::format("\"{}\" is no escape", escape),
                    "write a backslash itself as \\\\; \\n is a line's end, \\xHH a byte");
}

/// The number that the digits at the start of `text` make, at most `most` of them.
std::uint32_t take_number(std::string_view& text, std::size_t most, int base, std::size_t& digits) {
  const std::string_view window = text.substr(0, std::min(most, text.size()));
  std::uint32_t value = 0;
  const auto end = std::from_chars(window.data(), window.data() + window.size(), value, base).ptr;
  digits = static_cast<std::size_t>(end - window.data());
  text.remove_prefix(digits);
  return value;
}

/// `text` begins after the backslash.
void append_escape(std::string_view& text, std::string& result) {
  const std::string_view whole(text.data() - 1, text.size() + 1);
  if (text.empty()) {
    fail(whole);
  }
  const char letter = text[0];
  if (const auto known = kLetters.find(letter); known != std::string_view::npos) {
    result.push_back(kMeanings[known]);
    text.remove_prefix(1);
    return;
  }
  std::size_t digits = 0;
  if (letter >= '0' && letter <= '7') {
    const std::uint32_t value = take_number(text, 3, 8, digits);
    if (value > 0xff) {
      fail(whole.substr(0, 1 + digits));
    }
    result.push_back(static_cast<char>(value));
    return;
  }
  const std::size_t wanted = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
  text.remove_prefix(1);
  const std::uint32_t value = take_number(text, wanted, 16, digits);
  if (wanted == 0 || digits < wanted || value > 0x10ffff) {
    fail(whole.substr(0, 2 + digits));
  }
  if (letter == 'x') {
    result.push_back(static_cast<char>(value));
  } else {
    append_utf8(value, result);
  }
}

}  // namespace

std::string unescape(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find('\\'), text.size());
    result += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) {
      text.remove_prefix(1);
      append_escape(text, result);
    }
  }
  return result;
}

}  // namespace drift
