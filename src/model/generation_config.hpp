#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "model/config_keys.hpp"

namespace drift {

/// What a model's files ask of transformers' generate().
struct GenerationConfig {
  std::vector<std::int32_t> end_of_text;  ///< as in ModelConfig
  std::vector<std::string> notes;         ///< likewise
};

/// Reads generation_config.json in `folder`, or where there is none what `config`, the keys of
/// config.json, says in its place. Ids beyond the vocabulary and negative ones are left out: no
/// text ends in them. Errors (usage), naming file, key and value.
GenerationConfig read_generation_config(const ConfigKeys& config,
                                        const std::filesystem::path& folder,
                                        std::uint32_t vocab_size);

}  // namespace drift
