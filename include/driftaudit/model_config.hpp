#pragma once

#include <cstdint>
#include <filesystem>

namespace drift {

/// The sizes and switches of a GPT-2, from its config.json.
struct ModelConfig {
  std::uint32_t n_embd = 0;
  std::uint32_t n_head = 0;
  std::uint32_t n_layer = 0;
  std::uint32_t n_positions = 0;
  std::uint32_t vocab_size = 0;
  std::uint32_t n_inner = 0;  ///< 4 × n_embd unless the file says otherwise
  double layer_norm_epsilon = 1e-5;
  std::int32_t end_of_text = -1;  ///< -1: none
  bool tied = true;               ///< the output head is the token embedding
  bool scale_attention = true;
  bool scale_by_layer = false;

  std::uint64_t parameters() const;
};

/// Reads and checks a config.json. Errors (usage), naming the key: not a GPT-2, sizes missing,
/// zero, too large or not divisible, an activation or a switch that the forward pass doesn't know.
ModelConfig read_model_config(const std::filesystem::path& file);

}  // namespace drift
