#include "kernels/fake_operations.hpp"

#include "driftaudit/error.hpp"
#include "driftaudit/tensor.hpp"

namespace drift {

void FakeOperations::add_rows(const std::string& name, RowKernel kernel) {
  add(name, [kernel = std::move(kernel)](std::vector<wire::TensorData> inputs) {
    const std::vector<std::int64_t> sizes = inputs.at(0).layout.sizes;
    const auto rows = static_cast<std::size_t>(sizes.at(0));
    const auto length = static_cast<std::size_t>(sizes.at(1));
    const std::vector<float> out = kernel(rows, length, float_elements(inputs[0]));
    const bool reduces = out.size() == rows;
    return contiguous_tensor(reduces ? std::vector<std::int64_t>{sizes[0]} : sizes, out);
  });
}

FindOperation FakeOperations::find() const {
  return [this](const std::string& name) -> OperationCall {
    const auto known = calls_.find(name);
    return [this, name, known](std::vector<wire::TensorData> inputs) {
      ++counts_[name];
      if (known == calls_.end()) {
        throw trouble("there is no operation \"" + name + "\"");
      }
      return known->second(std::move(inputs));
    };
  };
}

}  // namespace drift
