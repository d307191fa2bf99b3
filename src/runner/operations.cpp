#include "operations.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "sleef.hpp"
#include "tensors.hpp"

namespace drift::runner {
namespace {

struct NamedOperation {
  const char* name;
  std::size_t inputs;  ///< how many
  at::Tensor (*apply)(const Tensors&);
};

constexpr double kLayerNormEpsilon = 1e-5;

at::Tensor libm_exponential(const at::Tensor& x) {
  if (x.scalar_type() != at::kFloat) {
    throw std::runtime_error("it takes float32");
  }
  at::Tensor out = x.contiguous().clone();
  float* const values = out.data_ptr<float>();
  std::transform(values, values + out.numel(), values, [](float value) { return std::exp(value); });
  return out;
}

const NamedOperation kOperations[] = {
    {"softmax", 1, [](const Tensors& in) { return at::softmax(in[0], -1); }},
    {"sum", 1, [](const Tensors& in) { return at::sum(in[0], {-1}); }},
    {"mean", 1, [](const Tensors& in) { return at::mean(in[0], {-1}); }},
    {"matmul", 2, [](const Tensors& in) { return at::matmul(in[0], in[1]); }},
    {"dot", 2, [](const Tensors& in) { return at::dot(in[0], in[1]); }},
    {"addmm", 3, [](const Tensors& in) { return at::addmm(in[0], in[1], in[2]); }},
    {"layer_norm", 3,
     [](const Tensors& in) {
       return at::layer_norm(in[0], {in[0].size(-1)}, in[1], in[2], kLayerNormEpsilon);
     }},
    {"exp", 1, [](const Tensors& in) { return at::exp(in[0]); }},
    {"libm_expf", 1, [](const Tensors& in) { return libm_exponential(in[0]); }},
    {"tanh", 1, [](const Tensors& in) { return at::tanh(in[0]); }},
    {"pow3", 1, [](const Tensors& in) { return at::pow(in[0], at::Scalar(3.0)); }},
    {"add", 2, [](const Tensors& in) { return at::add(in[0], in[1]); }},
    {"mul", 2, [](const Tensors& in) { return at::mul(in[0], in[1]); }},
};

std::string sizes_of(const Tensors& inputs) {
  std::string text;
  for (const at::Tensor& input : inputs) {
    text += text.empty() ? "[" : ", [";
    for (std::int64_t d = 0; d < input.dim(); ++d) {
      text += (d == 0 ? "" : ", ") + std::to_string(input.size(d));
    }
    text += "]";
  }
  return text.empty() ? "no inputs" : text;
}

/// " in float16", of the first input that has a floating-point type, or nothing for float32.
std::string type_of(const Tensors& inputs) {
  const auto input = std::find_if(inputs.begin(), inputs.end(),
                                  [](const at::Tensor& one) { return one.is_floating_point(); });
  return input == inputs.end() || input->scalar_type() == at::kFloat
             ? ""
             : std::string(" in ") + dtype_name(input->scalar_type());
}

AppliedOperation with_count(std::size_t count, AppliedOperation apply) {
  return [count, apply = std::move(apply)](const Tensors& inputs) {
    if (inputs.size() != count) {
      throw std::runtime_error("it takes " + std::to_string(count) +
                               (count == 1 ? " input" : " inputs"));
    }
    return apply(inputs);
  };
}

}  // namespace

std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

AppliedOperation standalone_operation(const std::string& name) {
  for (const NamedOperation& operation : kOperations) {
    if (name == operation.name) {
      return with_count(operation.inputs, operation.apply);
    }
  }
  if (is_sleef_exponential(name)) {
    const SleefExponential exponential = sleef_exponential(name);
    return with_count(1, [exponential](const Tensors& in) { return exponential(in[0]); });
  }
  throw std::runtime_error("there is no operation \"" + name + "\"");
}

OperationRefusal::OperationRefusal(const std::string& name, const Tensors& inputs,
                                   const std::exception& reason)
    : std::runtime_error("operation \"" + name + "\" refuses " + sizes_of(inputs) +
                         type_of(inputs) + ": " + first_line(reason)) {}

at::Tensor apply_named(const std::string& name, const AppliedOperation& operation,
                       const Tensors& inputs) {
  try {
    return operation(inputs);
  } catch (const OperationRefusal&) {
    throw;
  } catch (const std::exception& error) {
    throw OperationRefusal(name, inputs, error);
  }
}

}  // namespace drift::runner
