#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace drift {

/// GPT-2's byte-level BPE: the ids that the `tokenizers` package gives for the same files.
class Tokenizer {
 public:
  /// From a folder with tokenizer.json, or with vocab.json + merges.txt (and added_tokens.json if
  /// there). Errors (usage), naming the file and the place: missing, malformed, a tokenizer of
  /// another kind than GPT-2's, a merge or byte without a token.
  static Tokenizer from_folder(const std::filesystem::path& folder);

  ~Tokenizer();
  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;

  /// Ids of UTF-8 text; `<|endoftext|>` in it is that marker's id. Errors (usage): not UTF-8.
  std::vector<std::int32_t> encode(std::string_view text) const;
  /// The bytes of one token (may be part of a UTF-8 sequence). Errors (usage): no such id.
  std::string token_bytes(std::int32_t id) const;
  /// The bytes of a sequence.
  std::string decode(const std::vector<std::int32_t>& ids) const;
  std::size_t size() const;  ///< number of ids: the highest + 1

  /// Adds ids that stand for no bytes, up to `size` of them: models are often padded to a round
  /// number of logits.
  void pad_to(std::size_t size);

 private:
  struct Impl;
  explicit Tokenizer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace drift
