#pragma once

#include <string>
#include <vector>

#include "driftaudit/report.hpp"

#include "report/view.hpp"

namespace drift {

/// Of a report that localizes a pass: heading, growth, own operations, isolation.
std::string localize_table(const View& view, bool colour);

/// "attn.softmax changed by itself, in each of 4 blocks".
std::string localize_headline(const Report& report);

/// What was proved, on these inputs.
std::vector<std::string> localize_details(const Report& report);

/// "1–7, 9", or "none".
std::string ranges_in_words(const std::vector<LengthRange>& ranges);

}  // namespace drift
