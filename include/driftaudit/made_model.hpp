#pragma once

#include <cstdint>
#include <filesystem>

#include "driftaudit/progress.hpp"

namespace drift {

/// The sizes of a made checkpoint.
enum class MadePreset {
  kGpt2Small,  ///< GPT-2 small's: 12 layers, 12 heads, width 768, 1024 positions, 50,257 tokens
  kTiny,       ///< 2 layers, 2 heads, width 32, 128 positions, mini's 4096 tokens: for tests
};

/// How a checkpoint's weights are stored.
enum class CheckpointFormat {
  kSafetensors,  ///< model.safetensors
  kTorchZip,     ///< pytorch_model.bin as torch writes it since 1.6: a zip
  kTorchLegacy,  ///< pytorch_model.bin as torch wrote it before: a stream of pickles
};

enum class MadeDtype { kFloat32, kFloat16, kBfloat16 };

struct MadeModelOptions {
  MadePreset preset = MadePreset::kTiny;
  std::uint64_t seed = 1;
  CheckpointFormat format = CheckpointFormat::kSafetensors;
  MadeDtype dtype = MadeDtype::kFloat32;
};

/// Writes a made GPT-2 (config.json, weights, vocab.json, merges.txt) as the new folder `folder`,
/// whole or not at all. The weights are noise, scaled so that the answers depend on the prompt and
/// the gaps between logits are of a trained model's size. Equal options give equal bytes on every
/// machine: they come from integers alone. Errors (usage): the folder exists and isn't empty;
/// or the new one can't be written.
void make_model(const std::filesystem::path& folder, const MadeModelOptions& options,
                Progress& progress);

}  // namespace drift
