#include "tensors.hpp"

#include <cstring>
#include <memory>
#include <stdexcept>

#include "digest.hpp"

namespace drift::runner {
namespace {

constexpr std::uint64_t kLine = 64;  // what TensorLayout::alignment counts modulo

wire::DType dtype_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return wire::DType::kFloat32;
    case at::kLong:
      return wire::DType::kInt64;
    case at::kBool:
      return wire::DType::kBool;
    default:
      throw std::runtime_error(std::string("a tensor of type ") + tensor.dtype().name().data() +
                               " can't be recorded");
  }
}

}  // namespace

at::ScalarType scalar_type_of(wire::DType dtype) {
  switch (dtype) {
    case wire::DType::kFloat32:
      return at::kFloat;
    case wire::DType::kInt64:
      return at::kLong;
    case wire::DType::kBool:
      return at::kBool;
    case wire::DType::kBFloat16:
      return at::kBFloat16;
    case wire::DType::kFloat16:
      return at::kHalf;
  }
  throw std::runtime_error("a tensor of unknown type");
}

const char* dtype_name(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "float32";
    case at::kBFloat16:
      return "bfloat16";
    case at::kHalf:
      return "float16";
    default:
      return c10::toString(type);
  }
}

wire::TensorLayout layout_of(const at::Tensor& tensor) {
  wire::TensorLayout layout;
  layout.dtype = dtype_of(tensor);
  layout.sizes = tensor.sizes().vec();
  layout.strides = tensor.strides().vec();
  layout.storage_offset = static_cast<std::uint64_t>(tensor.storage_offset());
  const auto first = reinterpret_cast<std::uintptr_t>(tensor.data_ptr());
  const std::uint64_t before = layout.storage_offset * wire::element_bytes(layout.dtype);
  layout.alignment = tensor.numel() == 0 ? 0 : static_cast<std::uint32_t>((first - before) % kLine);
  return layout;
}

std::string bytes_of(const at::Tensor& tensor) {
  const wire::TensorLayout layout = layout_of(tensor);
  const std::size_t size = layout.extent() * wire::element_bytes(layout.dtype);
  return size == 0 ? "" : std::string(static_cast<const char*>(tensor.data_ptr()), size);
}

std::uint64_t digest_of(const at::Tensor& tensor) {
  const at::Tensor in_order = tensor.contiguous();
  const auto count = static_cast<std::uint64_t>(in_order.numel());
  return murmur64a(in_order.data_ptr(), count * wire::element_bytes(dtype_of(tensor)));
}

at::Tensor tensor_from(const wire::TensorData& data) {
  const wire::TensorLayout& layout = data.layout;
  const std::uint64_t element = wire::element_bytes(layout.dtype);
  const std::uint64_t before = layout.storage_offset * element;
  // Not initialised: what lies before the first element is never read.
  char* const memory = new char[before + data.bytes.size() + 2 * kLine];
  const std::uint64_t misplaced = reinterpret_cast<std::uintptr_t>(memory) % kLine;
  char* const storage = memory + (kLine - misplaced) + layout.alignment;
  if (!data.bytes.empty()) {
    std::memcpy(storage + before, data.bytes.data(), data.bytes.size());
  }
  const auto elements = static_cast<std::int64_t>(layout.storage_offset + layout.extent());
  return at::from_blob(
             storage, {elements}, [memory](void*) { delete[] memory; },
             at::TensorOptions(scalar_type_of(layout.dtype)))
      .as_strided(layout.sizes, layout.strides, static_cast<std::int64_t>(layout.storage_offset));
}

}  // namespace drift::runner
