#include "trace.hpp"

#include <algorithm>

#include "calls.hpp"
#include "selectors.hpp"
#include "tensors.hpp"

namespace drift::runner {

void Tracer::begin_step(std::uint32_t step) {
  const auto& steps = task_.trace.steps;
  active_ = std::find(steps.begin(), steps.end(), step) != steps.end();
  step_ = step;
  index_ = 0;
}

at::Tensor Tracer::run(const OperationName& name, const AppliedOperation& apply,
                       const Tensors& inputs) {
  const std::string text = name.text();
  const std::uint32_t index = index_++;
  if (any_selects(task_.trace.questions, text)) {
    channel_.send(wire::FrameKind::kQuestion,
                  wire::Question{task_.id, step_, index, text, operands(inputs, false)});
    answer_calls(channel_, {task_.id, text, apply, inputs});
  }
  const at::Tensor output = apply(inputs);
  const bool with_data = any_selects(task_.trace.data, text);
  if (with_data || any_selects(task_.trace.digests, text)) {
    channel_.send(wire::FrameKind::kOperation,
                  wire::OperationRecord{task_.id, step_, index, text, operands(inputs, with_data),
                                        operand(output, with_data)});
  }
  return output;
}

wire::Operand Tracer::operand(const at::Tensor& tensor, bool with_data) const {
  wire::Operand operand;
  operand.layout = layout_of(tensor);
  operand.weight = weights_.holds(tensor);
  if (!operand.weight) {
    operand.digest = digest_of(tensor);
    if (with_data) {
      operand.bytes = bytes_of(tensor);
    }
  }
  return operand;
}

std::vector<wire::Operand> Tracer::operands(const Tensors& tensors, bool with_data) const {
  std::vector<wire::Operand> result;
  for (const at::Tensor& tensor : tensors) {
    result.push_back(operand(tensor, with_data));
  }
  return result;
}

}  // namespace drift::runner
