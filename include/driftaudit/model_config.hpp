#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

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
  /// Ids of the vocabulary, each of which ends a text, in the file's order; none: no text ends.
  std::vector<std::int32_t> end_of_text;
  bool tied = true;  ///< the output head is the token embedding
  bool scale_attention = true;
  bool scale_by_layer = false;
  /// What the files ask of generate() beyond what is done here, a sentence each.
  std::vector<std::string> notes;

  std::uint64_t parameters() const;
};

/// Reads and checks a config.json and, where it lies beside, generation_config.json, as
/// transformers reads them: a size may stand under either of its two names, one that is left out is
/// GPT-2's own where "model_type" says so, and generation_config.json alone says what ends a text.
/// Errors (usage), naming the key: not a GPT-2, two names of one size that disagree, sizes missing,
/// zero, too large or not divisible, anything that makes transformers compute otherwise than the
/// forward pass here.
ModelConfig read_model_config(const std::filesystem::path& file);

}  // namespace drift
