#pragma once

#include <string>
#include <string_view>

namespace drift {

/// Whether a library that computes is known to read a variable of this name.
bool is_known_variable(std::string_view name);

/// The known name that another one is a slip or two away from (a letter too many, too few, another
/// or two swapped; case doesn't count); empty: it is known itself, or like none.
std::string meant_variable(std::string_view name);

}  // namespace drift
