#pragma once

#include <string>
#include <vector>

#include "driftaudit/attention.hpp"
#include "driftaudit/saved_side.hpp"

#include "cli/run_options.hpp"

namespace drift {

/// How each of the builds that a command runs computes attention, in the order of their names: the
/// first as `--attention` says for A, all others as it says for B. `auto` is one choice for all of
/// them. Nothing is fetched or run for it. Errors (usage): a build that can't compute what is asked
/// for.
std::vector<SideAttention> planned_attention(const RunOptions& options,
                                             const std::vector<std::string>& builds);

/// The same of a build beside a saved side, whose attention it repeats unless `--attention` names
/// another. `live` is its index.
SideAttention attention_beside(const SavedSide& saved, const RunOptions& options,
                               const std::string& build, std::size_t live);

}  // namespace drift
