#include "driftaudit/tensor.hpp"

#include <cstring>
#include <stdexcept>

namespace drift {

wire::TensorData contiguous_tensor(const std::vector<std::int64_t>& sizes,
                                   const std::vector<float>& values, std::uint32_t alignment) {
  wire::TensorData tensor;
  tensor.layout.sizes = sizes;
  tensor.layout.strides.resize(sizes.size());
  tensor.layout.alignment = alignment;
  std::int64_t stride = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    tensor.layout.strides[i] = stride;
    stride *= sizes[i] > 0 ? sizes[i] : 1;  // as torch does for empty ones
  }
  if (tensor.layout.elements() != values.size()) {
    throw std::invalid_argument("as many values as the sizes say");
  }
  tensor.bytes.resize(values.size() * sizeof(float));
  if (!values.empty()) {
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  }
  return tensor;
}

std::vector<float> float_elements(const wire::TensorData& tensor) {
  const wire::TensorLayout& layout = tensor.layout;
  if (layout.dtype != wire::DType::kFloat32) {
    throw std::invalid_argument("a tensor of float32");
  }
  std::vector<float> values(layout.elements());
  std::vector<std::int64_t> index(layout.sizes.size(), 0);
  std::size_t at = 0;  // in elements of `bytes`
  for (float& value : values) {
    std::memcpy(&value, tensor.bytes.data() + at * sizeof value, sizeof value);
    for (std::size_t d = index.size(); d-- > 0;) {
      const auto stride = static_cast<std::size_t>(layout.strides[d]);
      if (++index[d] < layout.sizes[d]) {
        at += stride;
        break;
      }
      at -= stride * static_cast<std::size_t>(layout.sizes[d] - 1);
      index[d] = 0;
    }
  }
  return values;
}

}  // namespace drift
