#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/verdict.hpp"
#include "report/view.hpp"

namespace drift {

/// The heading, the tables of requests and of positions, and the first outlier of each request with
/// the text around it, of a report that has a rescore record.
std::string rescore_table(const View& view, bool colour, std::size_t width);

/// Whether decoding and prefill agree; else which requests fail, from where, how regularly, and
/// whether the text itself is wrong.
Verdict rescore_verdict(const Report& report);

/// What tells where a failure lives, or, of sound runs, what else to score.
std::vector<Suggestion> rescore_suggestions(const Report& report);

}  // namespace drift
