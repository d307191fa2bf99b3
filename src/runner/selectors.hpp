#pragma once

// Selectors of operations, as wire::Trace has them. Needs the standard library alone.

#include <algorithm>
#include <string>
#include <vector>

namespace drift::runner {

/// Whether the selector is the name, or a beginning of it and an asterisk.
inline bool selects(const std::string& selector, const std::string& name) {
  if (!selector.empty() && selector.back() == '*') {
    return name.compare(0, selector.size() - 1, selector, 0, selector.size() - 1) == 0;
  }
  return selector == name;
}

/// Whether one of them does.
inline bool any_selects(const std::vector<std::string>& selectors, const std::string& name) {
  return std::any_of(selectors.begin(), selectors.end(),
                     [&](const std::string& selector) { return selects(selector, name); });
}

}  // namespace drift::runner
