#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "channel.hpp"
#include "operations.hpp"

namespace drift::runner {

/// An operation that the driver may call.
struct CalledOperation {
  std::uint32_t task = 0;
  std::string name;
  AppliedOperation apply;
  Tensors own_inputs;  ///< what missing inputs of a Call stand for; none for a standalone operation
};

/// Answers the driver's Calls, one at a time, up to the one that is the end. `before_call` is told
/// of each with its number, from 1. Throws std::runtime_error, naming the operation, for inputs
/// that it refuses.
void answer_calls(Channel& channel, const CalledOperation& operation,
                  const std::function<void(std::uint32_t)>& before_call = {});

}  // namespace drift::runner
