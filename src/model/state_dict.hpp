#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/checkpoint.hpp"
#include "model/dtype.hpp"

namespace drift {

/// A storage that a pickle names but doesn't hold.
struct PickledStorage {
  Dtype dtype = Dtype::kFloat32;
  std::uint64_t elements = 0;
};

/// A tensor of a pickled state dict: a view of a named storage, within its bounds.
struct PickledTensor {
  std::string name;
  std::string storage;  ///< key in StateDict::storages
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> strides;
  std::uint64_t offset = 0;
};

struct StateDict {
  std::vector<PickledTensor> tensors;  ///< names are unique
  std::map<std::string, PickledStorage> storages;
  std::size_t end = 0;  ///< the byte after the pickle
};

/// Reads the pickle at `begin` as torch writes a state dict: a dict from names to tensors, or a
/// dict whose "state_dict", "model", "model_state_dict" or "module" is one. Errors (usage) begin
/// with `where`.
StateDict read_state_dict(std::span<const std::byte> bytes, std::size_t begin,
                          const std::string& where);

/// The tensors of the dict, which lies in `file`, over the storages that it names: one for each
/// key, of the size that it says.
std::vector<StoredTensor> stored_tensors(
    const StateDict& state, const std::map<std::string, std::shared_ptr<const Storage>>& storages,
    const std::filesystem::path& file);

}  // namespace drift
