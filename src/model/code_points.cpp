#include "model/code_points.hpp"

namespace drift {

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[i]));
  };
  const auto rest = [&](std::size_t i) { return byte(i) & 0x3f; };
  if (byte(0) < 0x80) {
    return {byte(0), 1};
  }
  if (byte(0) < 0xe0) {
    return {(byte(0) & 0x1f) << 6 | rest(1), 2};
  }
  if (byte(0) < 0xf0) {
    return {(byte(0) & 0x0f) << 12 | rest(1) << 6 | rest(2), 3};
  }
  return {(byte(0) & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3), 4};
}

CodePoint last_code_point(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) {
    --at;
  }
  return first_code_point(text.substr(at));
}

void append_utf8(char32_t c, std::string& to) {
  const auto byte = [&](char32_t value) { to.push_back(static_cast<char>(value)); };
  if (c < 0x80) {
    byte(c);
    return;
  }
  if (c < 0x800) {
    byte(0xc0 | (c >> 6));
  } else if (c < 0x10000) {
    byte(0xe0 | (c >> 12));
    byte(0x80 | ((c >> 6) & 0x3f));
  } else {
    byte(0xf0 | (c >> 18));
    byte(0x80 | ((c >> 12) & 0x3f));
    byte(0x80 | ((c >> 6) & 0x3f));
  }
  byte(0x80 | (c & 0x3f));
}

bool is_white_space(char32_t c) {
  return (c >= 0x9 && c <= 0xd) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const CodePoint c = first_code_point(text.substr(at));
    if (!is_white_space(c.value)) {
      break;
    }
    at += c.bytes;
  }
  return at;
}

std::size_t trailing_space(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    const CodePoint c = last_code_point(text.substr(0, end));
    if (!is_white_space(c.value)) {
      break;
    }
    end -= c.bytes;
  }
  return text.size() - end;
}

}  // namespace drift
