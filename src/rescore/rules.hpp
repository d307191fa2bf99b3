#pragma once

#include <optional>
#include <vector>

#include "driftaudit/rescore.hpp"

namespace drift {

/// The rule that a file follows whose log-probabilities aren't the model's, if one explains them.
///
/// Its numbers are fitted on at most kMostFitted tokens that tell something (half of all tokens at
/// most) and it is then confirmed on every token: none may be off by more than the limit of what
/// noise remains, which must be below a sixteenth of what it explains. Among those confirmed the
/// one with least noise is taken, of equals the simpler one.
std::optional<RescoreRule> find_rule(const std::vector<DecodedRequest>& requests,
                                     const std::vector<TokenScore>& scores,
                                     const LogitsReader& logits, const RescoreOptions& options);

inline constexpr std::size_t kMostFitted = 12;

}  // namespace drift
