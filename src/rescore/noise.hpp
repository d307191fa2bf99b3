#pragma once

#include <string>
#include <vector>

#include "driftaudit/rescore.hpp"

namespace drift {

/// The step (unit in the last place) of a type at a magnitude, taken as at least 1.
double step_at(const std::string& dtype, double magnitude);

/// The same at the larger of a token's logit and the highest one.
double logit_step(const std::string& dtype, const TokenScore& score);

/// What the limit is to be taken from; deltas and scores are of all tokens, in order.
RescoreNoise measured_noise(const std::vector<DecodedRequest>& requests,
                            const std::vector<double>& deltas,
                            const std::vector<TokenScore>& scores, const RescoreOptions& options);

}  // namespace drift
