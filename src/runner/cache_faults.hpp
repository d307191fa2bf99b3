#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <ATen/ATen.h>

#include "faults.hpp"
#include "tap.hpp"

namespace drift::runner {

/// Faults of cached decoding, planted in what the operations that read the cache, the mask and the
/// position ids are given: what a server's bookkeeping would get wrong, while every operation stays
/// sound. Lives as long as the process, since one task's cache may turn up in the next. Where the
/// whole context is run (a prefill, no cache) it changes nothing.
class CacheFaults {
 public:
  explicit CacheFaults(const std::vector<Fault>& faults);

  bool any() const { return !faults_.empty(); }
  /// Changes an operation's inputs as the faults say that apply in this step of this task.
  void alter(OperationName name, std::uint32_t task, std::uint32_t step,
             std::vector<at::Tensor>& inputs);

 private:
  /// What is known of one block's keys, or values. Tensors are [1, H, K, D].
  struct Held {
    at::Tensor latest;         ///< what the task at hand has in its cache
    at::Tensor before;         ///< what the task before it left there
    at::Tensor unwritten;      ///< the prompt's, where a part is held back
    std::uint32_t task = 0;    ///< the one at hand
    std::int64_t prompt = 0;   ///< its positions that the prefill wrote
    std::int64_t wrapped = 0;  ///< positions that were already moved
  };

  void alter_cache(std::uint32_t task, std::uint32_t step, Held& held, at::Tensor& past) const;
  static void tamper(const Fault& fault, Held& held, at::Tensor& past);
  static void wrap(std::int64_t capacity, Held& held, at::Tensor& past);
  static void hold_back(std::int64_t positions, Held& held, at::Tensor& past);

  std::vector<Fault> faults_;
  std::map<std::string, Held> held_;  ///< by the name of the operation that appends to it
};

}  // namespace drift::runner
