#pragma once

#include <filesystem>
#include <string>

#include "driftaudit/model_config.hpp"

namespace drift {

/// Reads the weights of a checkpoint and writes them as one canonical float32 file (see
/// runner/weights_format.hpp). `source` is a folder (model.safetensors, its sharded index, or
/// pytorch_model.bin, looked for in that order) or one such file. F16 and BF16 are raised exactly.
/// Names with and without `transformer.`; mask buffers (attn.bias, attn.masked_bias) are ignored.
/// `config.tied` becomes false when the checkpoint has an output head that differs from wte.
/// Returns the dtype that the checkpoint stores ("float32", "float16", "bfloat16", "mixed").
/// Errors (usage) name file and tensor: truncated, lying header, wrong shape, missing or surplus
/// tensor, NaN inside, a pickle that asks for anything but tensors.
std::string write_canonical_weights(const std::filesystem::path& source, ModelConfig& config,
                                    const std::filesystem::path& target);

}  // namespace drift
