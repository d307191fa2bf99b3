#include "generation.hpp"

#include <algorithm>

#include "plant.hpp"

namespace drift::runner {

Choice chosen_token(const wire::Task& task, std::uint32_t step, const at::Tensor& logits,
                    at::Generator& generator, const std::vector<Fault>& faults) {
  if (plants(faults, Fault::Kind::kDraw, task.id, step)) {
    at::rand({1}, generator, at::TensorOptions(at::kFloat));
  }
  Choice choice = task.mode == wire::Mode::kSample ? sampled_token(logits, task, step, generator)
                                                   : Choice{greedy_token(logits), {}};
  if (plants(faults, Fault::Kind::kSecond, task.id, step)) {
    choice.token = second_token(logits);
  }
  return choice;
}

std::optional<wire::Stopped> reason_to_stop(const wire::Task& task, std::uint32_t step,
                                            std::int32_t next, std::int64_t length,
                                            std::int64_t context_length) {
  const std::vector<std::int32_t>& ends = task.end_of_text;
  if (std::find(ends.begin(), ends.end(), next) != ends.end()) {
    return wire::Stopped::kEndOfText;
  }
  if (step == task.new_tokens) {
    return wire::Stopped::kLength;
  }
  return length > context_length ? std::optional(wire::Stopped::kContext) : std::nullopt;
}

}  // namespace drift::runner
