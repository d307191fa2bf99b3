#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace drift {

/// The letter, in UTF-8, that stands for a byte in GPT-2's vocabulary files. Printable bytes of
/// Latin-1 stand for themselves; the others, in order, are U+0100, U+0101, … so that no file holds
/// a space or a control character. (Radford et al., "Language Models are Unsupervised Multitask
/// Learners", 2019, and the encoder published with it.)
const std::string& letter_of_byte(unsigned char byte);

/// The bytes that a vocabulary entry stands for; nothing when a letter of it stands for no byte.
std::optional<std::string> bytes_of_letters(std::string_view letters);

}  // namespace drift
