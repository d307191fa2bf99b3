#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace drift {

/// One step through bytes that should be UTF-8.
struct CodePoint {
  char32_t value = 0;      ///< the code point, or the byte where it is none
  std::size_t length = 1;  ///< bytes
  bool valid = false;      ///< a shortest form, no surrogate, at most U+10FFFF
};

/// What stands at bytes[at]; `at` is less than the size.
CodePoint code_point_at(std::string_view bytes, std::size_t at);

/// A control character (C0, DEL, C1).
bool is_control(char32_t value);

/// Bytes as valid UTF-8 for a report: each byte that isn't part of valid UTF-8 becomes `\xNN`. A
/// backslash before an `x` becomes `\x5c`, so that `\x` always begins an escape and
/// unescape_bytes() gives the bytes back.
std::string escape_invalid(std::string_view bytes);

/// The same with control characters escaped too, byte by byte: for single tokens.
std::string escape_unprintable(std::string_view bytes);

/// The bytes that either of them was given.
std::string unescape_bytes(std::string_view text);

/// Text for one line of a terminal: `\n`, `\t`, `\r`, `\xNN` for controls and for bytes that aren't
/// UTF-8, `\uNNNN` for characters that turn the direction of text.
std::string visible(std::string_view bytes);

/// Columns that UTF-8 text takes on a terminal: two for East Asian wide characters and emoji, none
/// for marks that combine; a sequence joined by U+200D counts as its first.
std::size_t display_width(std::string_view text);

/// The text cut to at most `width` columns, never within a character, with `…` where it was cut.
std::string shortened(std::string_view text, std::size_t width);

/// The same, cut at its front.
std::string shortened_front(std::string_view text, std::size_t width);

}  // namespace drift
