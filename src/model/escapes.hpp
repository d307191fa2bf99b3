#pragma once

#include <string>
#include <string_view>

namespace drift {

/// What a text with C-style escapes means: \a \b \f \n \r \t \v \\ \' \" \?, one to three octal
/// digits, \x and two hexadecimal digits (bytes), \u and four, \U and eight (code points, given as
/// UTF-8). Errors (usage) name the escape.
std::string unescape(std::string_view text);

}  // namespace drift
