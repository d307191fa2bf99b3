#include "sampling.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include <ATen/CPUGeneratorImpl.h>

#include "digest.hpp"
#include "fixed_sampler.hpp"

namespace drift::runner {
namespace {

/// Temperature and top-k: [1, V], -inf where there is no chance.
at::Tensor warped(at::Tensor scores, const wire::Task& task) {
  if (task.temperature != 1.0) {
    scores = at::div(scores, at::Scalar(task.temperature));
  }
  if (task.top_k != 0) {
    const std::int64_t k = std::min<std::int64_t>(task.top_k, scores.size(-1));
    const at::Tensor least = std::get<0>(at::topk(scores, k)).slice(-1, k - 1, k);
    scores = at::masked_fill(scores, at::lt(scores, least), at::Scalar(-INFINITY));
  }
  return scores;
}

bool is_distribution(const at::Tensor& probabilities) {
  const float* p = probabilities.data_ptr<float>();
  return std::all_of(p, p + probabilities.numel(), [](float x) { return std::isfinite(x); });
}

std::uint64_t torch_draw_digest(std::int64_t vocabulary, const at::Generator& generator) {
  at::Generator for_exponential = generator.clone();
  at::Generator for_uniform = generator.clone();
  const at::TensorOptions options(at::kFloat);
  const at::Tensor draw = at::empty({1, vocabulary}, options).exponential_(1, for_exponential);
  const at::Tensor token =
      at::multinomial(at::ones({1, vocabulary}, options), 1, /*replacement=*/false, for_uniform);
  const auto id = token.item<std::int64_t>();
  const std::size_t bytes = static_cast<std::size_t>(vocabulary) * sizeof(float);
  return fnv1a(&id, sizeof id, fnv1a(draw.data_ptr<float>(), bytes));
}

}  // namespace

std::int32_t greedy_token(const at::Tensor& logits) {
  const float* values = logits.data_ptr<float>();
  std::int64_t best = -1;
  for (std::int64_t i = 0; i < logits.numel(); ++i) {
    if (!std::isnan(values[i]) && (best < 0 || values[i] > values[best])) {
      best = i;
    }
  }
  return static_cast<std::int32_t>(std::max<std::int64_t>(best, 0));
}

std::int32_t second_token(const at::Tensor& logits) {
  at::Tensor others = logits.clone();
  others.reshape({-1})[greedy_token(logits)] = -INFINITY;
  return greedy_token(others);
}

at::Generator generator_of(const wire::Task& task) {
  return at::detail::createCPUGenerator(task.seed);
}

void spend_draws(const wire::Task& task, std::int64_t vocabulary, at::Generator& generator) {
  const at::Tensor uniform = at::ones({1, vocabulary}, at::TensorOptions(at::kFloat));
  for (std::uint32_t i = 0; i < task.draws_before; ++i) {
    at::multinomial(uniform, 1, /*replacement=*/false, generator);
  }
}

Choice sampled_token(const at::Tensor& logits, const wire::Task& task, std::uint32_t step,
                     at::Generator& generator) {
  const at::Tensor scores = warped(logits, task);
  const at::Tensor probabilities = at::softmax(scores, -1);
  if (!is_distribution(probabilities)) {
    return {greedy_token(logits), std::nullopt};
  }
  if (task.sampler == wire::Sampler::kFixed) {
    const double u = uniform_at(task.seed, step);
    const std::size_t token = inverse_cdf(scores.contiguous().data_ptr<float>(),
                                          static_cast<std::size_t>(scores.numel()), u);
    return {static_cast<std::int32_t>(token), fnv1a(&u, sizeof u)};
  }
  const std::uint64_t digest = torch_draw_digest(scores.size(-1), generator);
  const at::Tensor token = at::multinomial(probabilities, 1, /*replacement=*/false, generator);
  return {static_cast<std::int32_t>(token.item<std::int64_t>()), digest};
}

wire::Step step_frame(const wire::Task& task, std::uint32_t step, const Choice& choice,
                      const at::Tensor& logits) {
  const float* values = logits.data_ptr<float>();
  return {task.id,
          step,
          choice.token,
          std::nullopt,
          choice.draw_digest,
          std::vector<float>(values, values + logits.numel())};
}

}  // namespace drift::runner
