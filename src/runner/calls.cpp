#include "calls.hpp"

#include <stdexcept>

#include "tensors.hpp"

namespace drift::runner {
namespace {

/// The inputs of a call, which gives up its bytes one by one.
Tensors inputs_of(wire::Call& call, const CalledOperation& operation) {
  const std::size_t own = operation.own_inputs.size();
  if (own > 0 && call.inputs.size() != own) {
    throw std::runtime_error("operation \"" + operation.name + "\" takes " + std::to_string(own) +
                             " inputs, not " + std::to_string(call.inputs.size()));
  }
  Tensors inputs;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i]) {
      inputs.push_back(tensor_from(*call.inputs[i]));
      call.inputs[i].reset();
    } else if (i < own) {
      inputs.push_back(operation.own_inputs[i]);
    } else {
      throw std::runtime_error("operation \"" + operation.name + "\" has no inputs of its own");
    }
  }
  return inputs;
}

}  // namespace

void answer_calls(Channel& channel, const CalledOperation& operation,
                  const std::function<void(std::uint32_t)>& before_call) {
  for (std::uint32_t n = 1;; ++n) {
    auto call = channel.receive<wire::Call>(wire::FrameKind::kCall);
    if (call.end) {
      return;
    }
    if (before_call) {
      before_call(n);
    }
    const at::Tensor output =
        apply_named(operation.name, operation.apply, inputs_of(call, operation));
    channel.send(wire::FrameKind::kResult,
                 wire::Result{operation.task, n, {layout_of(output), bytes_of(output)}});
  }
}

}  // namespace drift::runner
