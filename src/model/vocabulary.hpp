#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/bpe.hpp"

namespace drift {

/// What the files of a byte-level BPE tokenizer say, checked.
struct Vocabulary {
  /// A token that is cut out of the text before anything else.
  struct Added {
    std::string text;  ///< never empty
    std::int32_t id;
    bool early;  ///< sought before those that aren't (`normalized` is false)
  };

  std::array<std::int32_t, 256> byte_ids{};
  Merges merges;
  std::vector<Added> added;
  std::vector<std::optional<std::string>> bytes;  ///< of each id; nothing: no such token
};

/// Reads tokenizer.json, or vocab.json and merges.txt (with added_tokens.json if it is there), from
/// a folder. Errors (usage), naming the file and the place: missing, malformed, a tokenizer of
/// another kind, a byte or merge without a token.
Vocabulary read_vocabulary(const std::filesystem::path& folder);

}  // namespace drift
