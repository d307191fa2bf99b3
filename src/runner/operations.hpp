#pragma once

// Operations by themselves, without a model. Where nothing else is said they are those of a GPT-2's
// forward pass, along the last dimension, and take and give float32:
//
//   softmax(x)  sum(x)  mean(x)     along the last dimension, which the latter two drop
//   matmul(a, b)  addmm(bias, a, b)  of matrices, matmul of stacks of them too
//   dot(a, b)                       of two vectors: at::dot
//   layer_norm(x, weight, bias)     epsilon 1e-5
//   exp(x)  tanh(x)  pow3(x)  add(a, b)  mul(a, b)
//   sleef_expf8_u10(x)  sleef_expf16_u10(x)
//                                   Sleef's exponential as libtorch_cpu has it inside, where it
//                                   exports it: what its AVX2 (AVX-512) kernels call in many
//                                   releases, softmax's among them. at::exp is another function.
//   libm_expf(x)                    the C library's, element by element: what kernels without
//                                   vector instructions call

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/ATen.h>

namespace drift::runner {

using Tensors = std::vector<at::Tensor>;

/// An operation with its parameters, as a function of its inputs.
using AppliedOperation = std::function<at::Tensor(const Tensors&)>;

/// The operation of that name, which checks how many inputs it gets. Throws std::runtime_error,
/// naming it: there is none, or this build or CPU lacks it.
AppliedOperation standalone_operation(const std::string& name);

/// What went wrong, without the stack trace that torch puts on the lines after the first.
std::string first_line(const std::exception& error);

/// What an operation made of its inputs instead of a result: its name, the inputs' sizes, their
/// type where it isn't float32, and the first line of the reason.
class OperationRefusal : public std::runtime_error {
 public:
  OperationRefusal(const std::string& name, const Tensors& inputs, const std::exception& reason);
};

/// What the operation gives; throws OperationRefusal.
at::Tensor apply_named(const std::string& name, const AppliedOperation& operation,
                       const Tensors& inputs);

}  // namespace drift::runner
