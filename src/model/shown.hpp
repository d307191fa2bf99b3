#pragma once

#include <string>
#include <string_view>

namespace drift {

/// A name from a file as a message quotes it: of bounded length, without control characters.
std::string shown(std::string_view text);

}  // namespace drift
