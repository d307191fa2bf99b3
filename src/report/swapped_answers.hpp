#pragma once

#include <string>
#include <vector>

#include "driftaudit/report.hpp"

namespace drift {

/// Pairs of prompts of which each has, on side B, the answer that the other has on side A, in
/// words: the sign of a batch whose requests were taken for each other. Answers are told by their
/// tokens, since bits depend on the batch; those that several prompts share say nothing, and
/// neither do texts that were scored.
std::vector<std::string> swapped_answers(const Report& report);

}  // namespace drift
