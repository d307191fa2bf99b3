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

/// This process's own amount of noise, from 1.
int own_noise() { return 1 + static_cast<int>(::getpid() % 10007); }

/// Of bfloat16 and float16, whose bits are sign and magnitude like a float's.
void spoil_halves(at::Tensor& tensor, Fault::Kind kind) {
  auto* const values = static_cast<std::uint16_t*>(tensor.data_ptr());
  if (kind == Fault::Kind::kNan) {
    values[tensor.numel() - 1] = tensor.scalar_type() == at::kHalf ? 0x7e00 : 0x7fc0;
    return;
  }
  // Noise of a float's size would be rounded away.
  const int steps = kind == Fault::Kind::kNoise ? own_noise() % 61 + 1 : 1;
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    for (int step = 0; step < steps; ++step) {
      const bool negative = (values[i] & 0x8000) != 0 && values[i] != 0x8000;
      values[i] = static_cast<std::uint16_t>(values[i] == 0x8000 ? 1
                                             : negative          ? values[i] - 1
                                                                 : values[i] + 1);
    }
  }
}

void spoil(at::Tensor& tensor, Fault::Kind kind) {
  if (tensor.scalar_type() != at::kFloat) {
    spoil_halves(tensor, kind);
    return;
  }
  float* values = tensor.data_ptr<float>();
  if (kind == Fault::Kind::kNan) {
    values[tensor.numel() - 1] = std::numeric_limits<float>::quiet_NaN();
    return;
  }
  if (kind == Fault::Kind::kNoise) {
    const float own = 1.0F + static_cast<float>(own_noise()) * 1e-6F;
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
