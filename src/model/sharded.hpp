#pragma once

#include <filesystem>
#include <vector>

#include "model/checkpoint.hpp"

namespace drift {

/// The tensors of a checkpoint in several files, from its index (model.safetensors.index.json or
/// pytorch_model.bin.index.json). Each shard must hold exactly the tensors that the index lays
/// there. Errors (usage) name index, shard and tensor: a shard that is missing or lies outside the
/// index's folder, a tensor in another shard than said, in none, or in no list.
std::vector<StoredTensor> read_sharded(const std::filesystem::path& index);

}  // namespace drift
