#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driftaudit/error.hpp"

namespace drift {

/// GPT-2's byte-level BPE: the ids that AutoTokenizer of transformers 4.57 (the fast tokenizer)
/// gives for the same files.
class Tokenizer {
 public:
  /// From a folder with tokenizer.json, or with vocab.json + merges.txt, and with what lies beside
  /// them: tokenizer_config.json, special_tokens_map.json, added_tokens.json. Errors (usage),
  /// naming the file and the place: missing, malformed, a tokenizer of another kind than GPT-2's, a
  /// setting that isn't known, a merge without a token.
  static Tokenizer from_folder(const std::filesystem::path& folder);

  /// Of a model whose prompts must be given as ids: encode() throws `why`, each id's bytes are its
  /// number in brackets.
  static Tokenizer none(const Error& why);
  const Error* why_none() const;  ///< null: there is one

  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  /// Ids of UTF-8 text, added tokens in it and begin and end tokens around it included. Errors
  /// (usage): not UTF-8; a byte without a token; what a normaliser isn't known for; a token beyond
  /// the model's ids.
  std::vector<std::int32_t> encode(std::string_view text) const;
  /// The bytes of one token (may be part of a UTF-8 sequence). Errors (usage): no such id.
  std::string token_bytes(std::int32_t id) const;
  /// The bytes of a sequence.
  std::string decode(const std::vector<std::int32_t>& ids) const;
  /// Number of ids: the highest + 1, of the tokenizer or of the model that it was fitted to.
  std::size_t size() const;
  /// Where releases of transformers give other ids for these files.
  const std::vector<std::string>& warnings() const;

  /// Says how many ids the model has: those without a token stand for no bytes (models are often
  /// padded to a round number of logits), and texts with a token beyond them are refused.
  void fit_to(std::size_t size);

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace drift
