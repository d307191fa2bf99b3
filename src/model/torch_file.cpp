#include "model/torch_file.hpp"

#include <string_view>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

namespace drift {

std::vector<StoredTensor> read_torch_file(const fs::path& file) {
  const MappedFile mapped(file);
  const std::string_view bytes(reinterpret_cast<const char*>(mapped.bytes().data()),
                               mapped.bytes().size());
  if (bytes.starts_with("PK")) {
    return read_torch_zip(file);
  }
  // The magic number in protocols 2 and up, or in 1; any other pickle is refused by its contents.
  if (bytes.starts_with('\x80') || bytes.starts_with("L1195")) {
    return read_torch_legacy(file);
  }
  throw usage_error(
      fmt::format("{}: neither safetensors nor either of torch's formats", file.string()),
      "name a model's folder, or its model.safetensors or pytorch_model.bin");
}

}  // namespace drift
