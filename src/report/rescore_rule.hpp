#pragma once

#include <string>

#include "driftaudit/rescore_record.hpp"

namespace drift {

/// "temperature 0.7, renormalised over the 20 highest"; "base 2"; "each stands one token too
/// early".
std::string rule_in_words(const LogprobRule& rule);

/// By what a rule was confirmed.
std::string rule_detail(const RescoreRule& rule);

/// The options that name it, "--logprobs-temperature 0.7"; empty where the file must be mended.
std::string rule_options(const LogprobRule& rule);

/// How a file's noise compares to the scorer's own, where the type it was computed in isn't known
/// and that leaves something open; else empty.
std::string noise_in_words(const RescoreRecord& record);

}  // namespace drift
