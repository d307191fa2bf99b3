#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "driftaudit/model_config.hpp"
#include "driftaudit/output_head.hpp"

#include "model/checkpoint.hpp"
#include "runner/weights_format.hpp"

namespace drift {

/// The tensors of a GPT-2's checkpoint, under GPT-2's own names.
struct Gpt2Tensors {
  std::map<std::string, StoredTensor> by_name;  ///< without masks and other heads
  std::vector<std::string> other_heads;         ///< modules that a language model has no use for
};

/// Sorts a checkpoint's tensors. Errors (usage): two of one name; a stored mask that isn't the
/// causal one, with which older releases of transformers compute.
Gpt2Tensors gpt2_tensors(std::vector<StoredTensor> stored);

/// Every tensor of `list` is there with its shape and a dtype that float32 holds exactly, and no
/// other but an output head. Errors (usage) name the tensor: one that is missing with the prefix
/// under which it would have been found, one that is stored transposed as such.
void check_tensors(const Gpt2Tensors& tensors, const std::vector<weights::Tensor>& list,
                   const std::filesystem::path& source);

/// What the checkpoint holds of an output head. Errors (usage): of another shape or dtype.
StoredHead stored_head(const Gpt2Tensors& tensors, const ModelConfig& config);

/// The name of a tensor, with its file, as messages begin.
std::string where(const StoredTensor& tensor);

/// "[3, 17]" of a row-major position.
std::string position_text(std::uint64_t position, const std::vector<std::uint64_t>& shape);

}  // namespace drift
