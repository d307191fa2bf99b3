#include "report/utf8.hpp"

#include <array>
#include <charconv>

#include <fmt/core.h>

namespace drift {
namespace {

unsigned char byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

bool starts_escape(std::string_view bytes, std::size_t at) {
  return bytes[at] == '\\' && at + 1 < bytes.size() && bytes[at + 1] == 'x';
}

template <class Escapes>
std::string escape(std::string_view bytes, Escapes escapes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint point = code_point_at(bytes, at);
    if (!point.valid || starts_escape(bytes, at) || escapes(point.value)) {
      for (std::size_t i = 0; i < point.length; ++i) {
        text += fmt::format("\\x{:02x}", byte_at(bytes, at + i));
      }
    } else {
      text += bytes.substr(at, point.length);
    }
    at += point.length;
  }
  return text;
}

bool turns_direction(char32_t value) {
  return value == 0x200e || value == 0x200f || (value >= 0x202a && value <= 0x202e) ||
         (value >= 0x2066 && value <= 0x2069);
}

/// The escape that shows a code point, or nothing where it shows itself.
std::string visible_escape(const CodePoint& point) {
  if (point.valid && point.value == '\n') {
    return "\\n";
  }
  if (point.valid && point.value == '\t') {
    return "\\t";
  }
  if (point.valid && point.value == '\r') {
    return "\\r";
  }
  if (!point.valid || is_control(point.value)) {
    return fmt::format("\\x{:02x}", static_cast<std::uint32_t>(point.value));
  }
  if (turns_direction(point.value) || point.value == 0x2028 || point.value == 0x2029) {
    return fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point.value));
  }
  return "";
}

}  // namespace

CodePoint code_point_at(std::string_view bytes, std::size_t at) {
  const unsigned char first = byte_at(bytes, at);
  const CodePoint invalid{first, 1, false};
  if (first < 0x80) {
    return {first, 1, true};
  }
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > bytes.size()) {
    return invalid;
  }
  constexpr std::array<unsigned, 5> kFirstBits{0, 0, 0x1f, 0x0f, 0x07};
  char32_t value = first & kFirstBits[length];
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned char next = byte_at(bytes, at + i);
    if ((next & 0xc0U) != 0x80) {
      return invalid;
    }
    value = (value << 6) | (next & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast[length] || value > 0x10ffff || surrogate) {
    return invalid;
  }
  return {value, length, true};
}

bool is_control(char32_t value) { return value < 0x20 || (value >= 0x7f && value < 0xa0); }

std::string escape_invalid(std::string_view bytes) {
  return escape(bytes, [](char32_t) { return false; });
}

std::string escape_unprintable(std::string_view bytes) { return escape(bytes, is_control); }

std::string unescape_bytes(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned value = 0;
    const bool long_enough = at + 4 <= text.size();
    if (starts_escape(text, at) && long_enough &&
        std::from_chars(text.data() + at + 2, text.data() + at + 4, value, 16).ptr ==
            text.data() + at + 4) {
      bytes += static_cast<char>(value);
      at += 3;
    } else {
      bytes += text[at];
    }
  }
  return bytes;
}

std::string visible(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint point = code_point_at(bytes, at);
    const std::string shown = visible_escape(point);
    text += shown.empty() ? std::string(bytes.substr(at, point.length)) : shown;
    at += point.length;
  }
  return text;
}

}  // namespace drift
