#include "model/checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

#include "model/lfs_pointer.hpp"
#include "model/safetensors.hpp"
#include "model/sharded.hpp"
#include "model/torch_file.hpp"

namespace drift {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 18;  // elements

}  // namespace

fs::path checkpoint_file(const fs::path& source) {
  if (!fs::is_directory(source)) {
    return source;
  }
  for (const char* name : {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                           "pytorch_model.bin.index.json"}) {
    if (fs::exists(source / name)) {
      return source / name;
    }
  }
  throw usage_error(
      fmt::format("{}: holds no model.safetensors and no pytorch_model.bin", source.string()),
      "name a folder as Hugging Face's save_pretrained writes it, or a weights file");
}

std::uint64_t StoredTensor::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) {
    count *= size;
  }
  return count;
}

bool StoredTensor::contiguous() const {
  std::uint64_t expected = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) {
      return false;
    }
    expected *= shape[i];
  }
  return true;
}

std::vector<std::uint64_t> contiguous_strides(const std::vector<std::uint64_t>& shape) {
  std::vector<std::uint64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * std::max<std::uint64_t>(shape[i], 1);
  }
  return strides;
}

bool count_elements(const std::vector<std::uint64_t>& shape, Dtype dtype, std::uint64_t& elements) {
  // Sizes are bounded one by one even when another is 0: strides are products of them.
  const std::uint64_t limit =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / dtype_size(dtype);
  std::uint64_t bound = 1;
  elements = 1;
  for (const std::uint64_t size : shape) {
    if (size > limit / bound) {
      return false;
    }
    bound *= std::max<std::uint64_t>(size, 1);
    elements *= size;
  }
  return true;
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

std::vector<StoredTensor> open_checkpoint(const fs::path& source) {
  const fs::path file = checkpoint_file(source);
  if (file.extension() == ".json") {
    return read_sharded(file);
  }
  return read_weights_file(file);
}

std::vector<StoredTensor> read_weights_file(const fs::path& file) {
  {
    const MappedFile mapped(file);
    refuse_lfs_pointer(
        {reinterpret_cast<const char*>(mapped.bytes().data()), mapped.bytes().size()},
        file.string());
  }
  return is_safetensors(file) ? read_safetensors(file) : read_torch_file(file);
}

TensorReader::TensorReader(const StoredTensor& tensor)
    : tensor_(tensor),
      storage_(tensor.storage->load()),
      contiguous_(tensor.contiguous()),
      elements_(tensor.elements()),
      index_(tensor.shape.size(), 0) {}

std::span<const float> TensorReader::next() {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kPiece, elements_ - done_));
  const std::uint64_t size = dtype_size(tensor_.dtype);
  const std::span<const std::byte> stored =
      contiguous_ ? storage_.bytes.subspan((tensor_.offset + done_) * size, count * size)
                  : gather(count);
  raised_.resize(count);
  raise_to_float32(tensor_.dtype, stored, raised_);
  done_ += count;
  return raised_;
}

std::span<const std::byte> TensorReader::gather(std::size_t count) {
  const std::size_t size = dtype_size(tensor_.dtype);
  gathered_.resize(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t element = tensor_.offset;
    for (std::size_t d = 0; d < index_.size(); ++d) {
      element += index_[d] * tensor_.strides[d];
    }
    std::memcpy(gathered_.data() + i * size, storage_.bytes.data() + element * size, size);
    for (std::size_t d = index_.size(); d-- > 0;) {
      if (++index_[d] < tensor_.shape[d]) {
        break;
      }
      index_[d] = 0;
    }
  }
  return gathered_;
}

}  // namespace drift
