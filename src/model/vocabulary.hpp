#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/added_tokens.hpp"
#include "model/bpe.hpp"
#include "model/normalizer.hpp"
#include "model/pre_tokenizer.hpp"

namespace drift {

/// What the files of a byte-level BPE tokenizer say, checked.
struct Vocabulary {
  static constexpr std::int32_t kNoToken = -1;

  std::array<std::int32_t, 256> byte_ids{};  ///< kNoToken: none
  Merges merges;
  /// Words that are a token whatever the merges say, by their bytes (`ignore_merges`).
  std::unordered_map<std::string, std::int32_t> whole_words;
  AddedTokens added;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::vector<std::int32_t> before;  ///< put before every text
  std::vector<std::int32_t> after;
  std::unordered_map<std::int32_t, std::string> bytes;  ///< of each token
  std::size_t size = 0;                                 ///< the highest id + 1
  /// Where releases of transformers give other ids.
  std::vector<std::string> warnings;
};

/// Reads tokenizer.json, or vocab.json and merges.txt, from a folder, and what the files beside
/// them say, as AutoTokenizer of transformers 4.57 does (the fast one). Errors (usage), naming the
/// file and the place: missing, malformed, a tokenizer of another kind, a setting that isn't known.
Vocabulary read_vocabulary(const std::filesystem::path& folder);

}  // namespace drift
