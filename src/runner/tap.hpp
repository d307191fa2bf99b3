#pragma once

#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "faults.hpp"

namespace drift::runner {

/// The name of one operation of a forward pass, put together only where somebody reads it.
struct OperationName {
  int block;         ///< -1: outside the blocks
  const char* name;  ///< "attn.softmax"

  std::string text() const {
    return block < 0 ? name : "block." + std::to_string(block) + "." + name;
  }
};

/// A tap is called around each operation of a forward pass with its name, the operation as a
/// function of tensors, and its inputs as they lie in memory; what it returns is what the pass goes
/// on with. This one is for generation and costs nothing.
struct PlainTap {
  template <class Operation, class... Inputs>
  at::Tensor operator()(OperationName, const Operation& operation, const Inputs&... inputs) const {
    return operation(inputs...);
  }
  void at(std::uint32_t, std::uint32_t) const {}
};

/// Plants faults in the results. Without faults it is PlainTap.
class FaultTap {
 public:
  explicit FaultTap(const std::vector<Fault>& faults) : faults_(&faults) {}

  template <class Operation, class... Inputs>
  at::Tensor operator()(OperationName name, const Operation& operation,
                        const Inputs&... inputs) const {
    return spoilt(name, operation(inputs...));
  }
  /// Where the forward passes that follow belong.
  void at(std::uint32_t task, std::uint32_t step) {
    task_ = task;
    step_ = step;
  }

 private:
  at::Tensor spoilt(OperationName name, at::Tensor result) const;

  const std::vector<Fault>* faults_;
  std::uint32_t task_ = 0;
  std::uint32_t step_ = 0;
};

}  // namespace drift::runner
