#pragma once

#include <string>

#include <ATen/ATen.h>

namespace drift::runner {

/// The vectorised exponential that libtorch_cpu's kernels were compiled with: Sleef is linked into
/// it statically and, in the wheels, exported. at::exp is another function.
class SleefExponential {
 public:
  using Vector = void (*)(void* symbol, const float* in, float* out);  ///< on `width` floats

  SleefExponential(void* symbol, std::int64_t width, Vector vector)
      : symbol_(symbol), width_(width), vector_(vector) {}

  /// e^x for each element, as a contiguous tensor. Throws std::runtime_error: not float32.
  at::Tensor operator()(const at::Tensor& x) const;

 private:
  void* symbol_;
  std::int64_t width_;
  Vector vector_;
};

/// Whether the name stands for one of them, here or elsewhere.
bool is_sleef_exponential(const std::string& name);

/// The one of that name. Throws std::runtime_error, naming it: the library doesn't export it, or
/// the CPU hasn't its instructions.
SleefExponential sleef_exponential(const std::string& name);

}  // namespace drift::runner
