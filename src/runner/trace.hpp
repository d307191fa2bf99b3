#pragma once

#include <cstdint>
#include <vector>

#include "channel.hpp"
#include "operations.hpp"
#include "tap.hpp"
#include "weights.hpp"

namespace drift::runner {

/// Tells the driver of a task's operations as its Trace asks: records them, and stops at questions.
class Tracer {
 public:
  Tracer(const wire::Task& task, const WeightsFile& weights, Channel& channel)
      : task_(task), weights_(weights), channel_(channel) {}

  void begin_step(std::uint32_t step);
  /// Whether the step at hand is traced.
  bool active() const { return active_; }
  /// The operation's result on its own inputs.
  at::Tensor run(const OperationName& name, const AppliedOperation& apply, const Tensors& inputs);

 private:
  wire::Operand operand(const at::Tensor& tensor, bool with_data) const;
  std::vector<wire::Operand> operands(const Tensors& tensors, bool with_data) const;

  const wire::Task& task_;
  const WeightsFile& weights_;
  Channel& channel_;
  bool active_ = false;
  std::uint32_t step_ = 0;
  std::uint32_t index_ = 0;  ///< of the operation at hand in its forward pass
};

/// Runs every operation as FaultTap does, so that a planted fault is part of it, and leaves traced
/// steps to a Tracer.
class TraceTap {
 public:
  TraceTap(FaultTap faults, Tracer& tracer) : faults_(faults), tracer_(&tracer) {}

  template <class Operation, class... Inputs>
  at::Tensor operator()(OperationName name, const Operation& operation,
                        const Inputs&... inputs) const {
    if (!tracer_->active()) {
      return faults_(name, operation, inputs...);
    }
    const AppliedOperation apply = [&](const Tensors& given) {
      return on(name, operation, given, std::index_sequence_for<Inputs...>());
    };
    return tracer_->run(name, apply, {inputs...});
  }
  void at(std::uint32_t task, std::uint32_t step) {
    faults_.at(task, step);
    tracer_->begin_step(step);
  }

 private:
  template <class Operation, std::size_t... I>
  at::Tensor on(OperationName name, const Operation& operation, const Tensors& given,
                std::index_sequence<I...>) const {
    return faults_(name, operation, given[I]...);
  }

  FaultTap faults_;
  Tracer* tracer_;
};

}  // namespace drift::runner
