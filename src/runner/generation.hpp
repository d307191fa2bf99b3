#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/ATen.h>

#include "faults.hpp"
#include "sampling.hpp"
#include "wire.hpp"

namespace drift::runner {

/// What a task chooses from the logits [1, V] of its step, with the faults of choosing.
Choice chosen_token(const wire::Task& task, std::uint32_t step, const at::Tensor& logits,
                    at::Generator& generator, const std::vector<Fault>& faults);

/// Why a task ends once `next` has followed its step; nothing where it goes on. `length`: of the
/// context with that token.
std::optional<wire::Stopped> reason_to_stop(const wire::Task& task, std::uint32_t step,
                                            std::int32_t next, std::int64_t length,
                                            std::int64_t context_length);

}  // namespace drift::runner
