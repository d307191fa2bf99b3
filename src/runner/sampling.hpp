#pragma once

#include <cstdint>
#include <optional>

#include <ATen/ATen.h>

#include "wire.hpp"

namespace drift::runner {

/// A side's choice of its next token.
struct Choice {
  std::int32_t token = -1;
  std::optional<std::uint64_t> draw_digest;  ///< where a random number was drawn
};

/// The id of the highest logit, the lowest id among equals; NaN ranks below all others.
/// `logits`: V contiguous floats, V ≥ 1.
std::int32_t greedy_token(const at::Tensor& logits);

/// The greedy token among the others: what the fault `second` chooses.
std::int32_t second_token(const at::Tensor& logits);

/// A task's own random numbers, from their start: those that torch's generator gives once it is
/// seeded with `task.seed`.
at::Generator generator_of(const wire::Task& task);

/// Uses up the random numbers of `task.draws_before` draws from rows of that length: how many a
/// draw takes depends on the length alone.
void spend_draws(const wire::Task& task, std::int64_t vocabulary, at::Generator& generator);

/// Draws from `logits` [1, V] with the next numbers of `generator`, as transformers does:
/// temperature, top-k that keeps ties, softmax, multinomial. Where the distribution isn't one (NaN
/// or +inf logits) nothing is drawn and the choice is greedy_token(). `step` counts from 1.
///
/// The digest is of what the draw consumes, not of what it gives: the exponential numbers and the
/// token that multinomial takes from a uniform row, both from copies of the generator's state. Two
/// builds whose digests are equal were dealt the same random numbers.
Choice sampled_token(const at::Tensor& logits, const wire::Task& task, std::uint32_t step,
                     at::Generator& generator);

/// A step as it is sent. `logits`: V contiguous floats.
wire::Step step_frame(const wire::Task& task, std::uint32_t step, const Choice& choice,
                      const at::Tensor& logits);

}  // namespace drift::runner
