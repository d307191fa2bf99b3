#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace drift {

/// The first code point of UTF-8 text (checked by the caller, not empty), and its bytes.
struct CodePoint {
  char32_t value;
  std::size_t bytes;
};
CodePoint first_code_point(std::string_view text);
CodePoint last_code_point(std::string_view text);

void append_utf8(char32_t c, std::string& to);

/// Unicode's White_Space, which is what `tokenizers` takes for space.
bool is_white_space(char32_t c);

/// The bytes of white space at the start, or the end, of UTF-8 text.
std::size_t leading_space(std::string_view text);
std::size_t trailing_space(std::string_view text);

}  // namespace drift
