#include <cmath>
#include <limits>
#include <unistd.h>

#include "cache_faults.hpp"
#include "tap.hpp"

namespace drift::runner {
namespace {

/// Elements of the last dimension.
std::uint32_t row_of(const at::Tensor& tensor) {
  return tensor.dim() == 0 ? 1 : static_cast<std::uint32_t>(tensor.size(-1));
}

void spoil(at::Tensor& tensor, Fault::Kind kind) {
  float* values = tensor.data_ptr<float>();
  if (kind == Fault::Kind::kNan) {
    values[tensor.numel() - 1] = std::numeric_limits<float>::quiet_NaN();
    return;
  }
  if (kind == Fault::Kind::kNoise) {
    const float own = 1.0F + static_cast<float>(::getpid() % 10007) * 1e-6F;
    for (std::int64_t i = 0; i < tensor.numel(); ++i) {
      values[i] *= own;
    }
    return;
  }
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    values[i] = std::nextafter(values[i], std::numeric_limits<float>::infinity());
  }
}

}  // namespace

std::vector<at::Tensor> FaultTap::altered(OperationName name,
                                          std::vector<at::Tensor> inputs) const {
  cache_faults_->alter(name, task_, step_, inputs);
  return inputs;
}

at::Tensor FaultTap::spoilt(OperationName name, at::Tensor result) const {
  for (const Fault& fault : *faults_) {
    if (fault.in_values() && fault.applies(task_, step_) && fault.operation == name.text() &&
        row_of(result) >= fault.row) {
      result = result.clone(at::MemoryFormat::Contiguous);
      spoil(result, fault.kind);
    }
  }
  return result;
}

}  // namespace drift::runner
