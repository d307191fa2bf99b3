#pragma once

#include <string>
#include <unordered_map>

#include <ATen/ATen.h>

#include "weights_format.hpp"

namespace drift::runner {

/// The canonical weights file, mapped read-only for the life of the process; its tensors are views
/// of the mapping, so they are shared pages and 64-byte aligned.
class WeightsFile {
 public:
  /// Throws std::runtime_error, naming the path: missing, or not such a file.
  explicit WeightsFile(const std::string& path);

  const weights::Header& header() const { return header_; }
  /// A tensor by its name in the file; throws std::out_of_range when there is none.
  const at::Tensor& operator[](const std::string& name) const { return tensors_.at(name); }
  /// Whether the tensor's elements lie in the file.
  bool holds(const at::Tensor& tensor) const;

 private:
  const char* mapping_ = nullptr;
  weights::Header header_{};
  std::unordered_map<std::string, at::Tensor> tensors_;
};

}  // namespace drift::runner
