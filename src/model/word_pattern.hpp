#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

namespace drift {

/// Where text stops being UTF-8, in bytes; nothing when it is UTF-8 throughout.
std::optional<std::size_t> invalid_utf8_at(std::string_view text);

/// Cuts UTF-8 text (checked by the caller) into the words within which GPT-2 merges: contractions,
/// runs of letters, of numbers and of other characters, each with at most one space before it, and
/// runs of white space. The words together are the text.
void for_each_word(std::string_view text, const std::function<void(std::string_view)>& take);

/// Whether a character is of Unicode's N: a digit, a number's letter, another number.
bool is_number(std::string_view character);

/// Whether a word may hold it: \w of Unicode's regular expressions (UTS #18, annex C).
bool is_word_character(char32_t c);

}  // namespace drift
