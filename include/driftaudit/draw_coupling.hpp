#pragma once

#include <cstdint>
#include <vector>

#include "driftaudit/step.hpp"

namespace drift {

/// A token and its chance.
struct TokenChance {
  std::int32_t id = -1;
  double chance = 0;
};

/// What is drawn from, rising by id.
using Chances = std::vector<TokenChance>;

/// The distribution of a sampled step: softmax of its `top_k` highest logits over `temperature`, in
/// double; ties with the last of them stay as far as the step kept them. Errors (trouble): the step
/// kept fewer than `top_k` logits, or one of them isn't finite.
Chances chances_of(const Step& step, std::uint32_t top_k, double temperature);

/// Half the sum of |p − q|: no way of drawing from both at once gives other tokens less often.
double total_variation(const Chances& p, const Chances& q);

/// How often one draw picks other tokens from p and q by torch's sampler for a single token, which
/// divides the chances by exponential numbers e and takes the highest quotient: of a token i both
/// quotients win with probability 1 / Σ max(p_j / p_i, q_j / q_i), the sum over all tokens j, as
/// e_i must be the least of independent exponential numbers with these rates. (At most 2 t / (1 +
/// t) of total variation t: Daliri, Musco & Suresh, "Coupling without communication and
/// drafter-invariant speculative decoding", 2024.)
double other_token_by_race(const Chances& p, const Chances& q);

/// The same of the sampler `fixed`, which looks one uniform number up in the cumulative
/// distribution by id: the measure of numbers that lie within other tokens' intervals.
double other_token_by_inverse(const Chances& p, const Chances& q);

}  // namespace drift
