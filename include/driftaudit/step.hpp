#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace drift {

/// Logits of one step, as the runner produced them. Length: the vocabulary.
using Logits = std::span<const float>;

struct TokenLogit {
  std::int32_t id = -1;
  float logit = 0;
};

/// What is kept of one step of one side.
struct Step {
  std::int32_t token = -1;      ///< the side's own choice
  float logit = 0;              ///< of that token
  std::vector<TokenLogit> top;  ///< the highest logits, falling; the lowest id first among equals
  double gap = 0;               ///< top-1 minus top-2, in double
  double logsumexp = 0;         ///< of all logits, in double
  std::string digest;           ///< XXH3-128 of the raw float32 logits
  std::optional<std::uint64_t> draw_digest;  ///< of a sampled step's random draw
  std::optional<std::int32_t> fed;           ///< the token that was imposed in its place
  std::optional<std::int32_t> given;         ///< score mode: the text's own next token
  double given_logprob = 0;                  ///< its log-probability, nats; 0 without `given`
  std::uint64_t non_finite = 0;              ///< NaN and infinite logits among them
};

/// The token that the next step goes on from: the imposed one if there is one.
inline std::int32_t next_token(const Step& step) {
  return step.fed.value_or(step.given.value_or(step.token));
}

/// Reduces logits to what is kept; `keep_top` highest. NaN logits rank below all others and are
/// counted. `given` is score mode's next token. Errors (trouble): fewer than 2 logits, a token that
/// isn't one of theirs.
Step reduce_step(std::int32_t token, Logits logits, std::size_t keep_top,
                 std::optional<std::int32_t> given = std::nullopt);

/// XXH3-64 of what a step keeps, so that a report whose figures were edited is told apart from one
/// that was written: of the digest's characters, then, little-endian, the token (i32), id (i32) and
/// logit (float32, any NaN as 0x7fc00000) of each entry of `top`, the logit, and log-sum-exp
/// (double, any NaN as 0x7ff8000000000000).
std::uint64_t step_checksum(const Step& step);

/// The two highest logits with their ids, by the order that reduce_step() keeps.
struct TopTwo {
  TokenLogit first;
  TokenLogit second;
  double gap() const { return double{first.logit} - double{second.logit}; }
};

/// `logits` has at least 2 elements.
TopTwo top_two(Logits logits);

/// NaN and infinities among them.
std::uint64_t count_non_finite(Logits logits);

/// log Σ exp(x) in double, by the shifted sum max + log Σ exp(x − max) (Blanchard, Higham & Higham,
/// "Accurately computing the log-sum-exp and softmax functions", IMA J. Numer. Anal. 41, 2021).
/// NaN with a NaN among them; +inf with a +inf; -inf of nothing but -inf.
double log_sum_exp(Logits logits);

}  // namespace drift
