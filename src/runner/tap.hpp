#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "faults.hpp"
#include "operations.hpp"

namespace drift::runner {

class CacheFaults;

/// The name of one operation of a forward pass, put together only where somebody reads it.
struct OperationName {
  int block;         ///< -1: outside the blocks
  const char* name;  ///< "attn.softmax"

  std::string text() const {
    return block < 0 ? name : "block." + std::to_string(block) + "." + name;
  }
};

/// The operation's result; throws OperationRefusal.
template <class Operation, class... Inputs>
at::Tensor applied(OperationName name, const Operation& operation, const Inputs&... inputs) {
  try {
    return operation(inputs...);
  } catch (const std::exception& error) {
    throw OperationRefusal(name.text(), {inputs...}, error);
  }
}

/// A tap is called around each operation of a forward pass with its name, the operation as a
/// function of tensors, and its inputs as they lie in memory; what it returns is what the pass goes
/// on with. This one is for generation and costs nothing.
struct PlainTap {
  template <class Operation, class... Inputs>
  at::Tensor operator()(OperationName name, const Operation& operation,
                        const Inputs&... inputs) const {
    return applied(name, operation, inputs...);
  }
  void at(std::uint32_t, std::uint32_t) const {}
};

/// Plants faults in the inputs and the results. Without faults it is PlainTap.
class FaultTap {
 public:
  /// `cache_faults`: those of cached decoding, or null. They outlive the tap, as `faults` does.
  explicit FaultTap(const std::vector<Fault>& faults, CacheFaults* cache_faults = nullptr)
      : faults_(&faults), cache_faults_(cache_faults) {}

  template <class Operation, class... Inputs>
  at::Tensor operator()(OperationName name, const Operation& operation,
                        const Inputs&... inputs) const {
    if constexpr ((std::is_same_v<Inputs, at::Tensor> && ...)) {  // of a model, not standalone
      if (cache_faults_ != nullptr) {
        return spoilt(name, on(name, operation, altered(name, {inputs...}),
                               std::index_sequence_for<Inputs...>()));
      }
    }
    return spoilt(name, applied(name, operation, inputs...));
  }
  /// Where the forward passes that follow belong.
  void at(std::uint32_t task, std::uint32_t step) {
    task_ = task;
    step_ = step;
  }

 private:
  template <class Operation, std::size_t... I>
  static at::Tensor on(OperationName name, const Operation& operation,
                       const std::vector<at::Tensor>& inputs, std::index_sequence<I...>) {
    return applied(name, operation, inputs[I]...);
  }
  std::vector<at::Tensor> altered(OperationName name, std::vector<at::Tensor> inputs) const;
  at::Tensor spoilt(OperationName name, at::Tensor result) const;

  const std::vector<Fault>* faults_;
  CacheFaults* cache_faults_;
  std::uint32_t task_ = 0;
  std::uint32_t step_ = 0;
};

}  // namespace drift::runner
