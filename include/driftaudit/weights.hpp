#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driftaudit/model_config.hpp"
#include "driftaudit/output_head.hpp"

namespace drift {

/// What a checkpoint was found to hold.
struct CheckpointFacts {
  std::string dtype;  ///< "float32", "float16", "bfloat16", "mixed"
  StoredHead head;
  std::vector<std::string> other_heads;  ///< modules that were left out: "v_head"
};

/// Reads the weights of a checkpoint and writes them as one canonical float32 file (see
/// runner/weights_format.hpp). `source` is a folder (model.safetensors, its sharded index, or
/// pytorch_model.bin, looked for in that order) or one such file. F16 and BF16 are raised exactly.
/// Names may begin with `transformer.`, `model.` and `module.` and hold `_orig_mod.`; mask buffers
/// (attn.bias, attn.masked_bias) that are the causal mask, and heads of other tasks, are left out.
/// `config.tied` becomes whether the written output head is wte: by `choice`, or because the one
/// that the checkpoint stores equals it.
/// Errors (usage) name file and tensor: truncated, lying header, wrong shape, missing or surplus
/// tensor, NaN inside, a pickle that asks for anything but tensors.
CheckpointFacts write_canonical_weights(const std::filesystem::path& source, ModelConfig& config,
                                        const std::filesystem::path& target,
                                        HeadChoice choice = HeadChoice::kConfig);

}  // namespace drift
