#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace drift {

/// How a text is cut into the words within which byte pairs merge: tokenizer.json's ByteLevel,
/// alone or as the last of a Sequence after Digits and Splits.
class PreTokenizer {
 public:
  using Refuse = std::function<void(const std::string&)>;  ///< throws
  using Take = std::function<void(std::string_view)>;

  /// GPT-2's: its pattern for words, with a space before a text that begins with none if asked.
  explicit PreTokenizer(bool add_prefix_space = false);
  /// From the value of "pre_tokenizer"; calls `refuse` for one that isn't known.
  PreTokenizer(const nlohmann::json& value, const Refuse& refuse);

  /// Gives the words of UTF-8 text. A view lives only through its call.
  void cut(std::string_view text, const Take& take) const;

  /// Whether it is ByteLevel alone, which transformers sets `add_prefix_space` of.
  bool plain() const { return plain_; }
  bool adds_space() const { return prefix_space_; }
  /// Whether words are cut as GPT-2 cuts them.
  bool gpt2_words() const { return pattern_ ? cuts_.empty() : cuts_.size() == 1 && split_as_gpt2_; }
  void add_space(bool add) { prefix_space_ = add; }

 private:
  using Cut = std::function<void(std::string_view, const Take&)>;
  void read_byte_level(const nlohmann::json& value, const Refuse& refuse);
  void read_cut(const nlohmann::json& value, const Refuse& refuse);
  void cut_from(std::size_t step, std::string_view text, const Take& take) const;

  std::vector<Cut> cuts_;  // before ByteLevel
  bool plain_ = true;
  bool prefix_space_ = false;
  bool pattern_ = true;         // use_regex
  bool split_as_gpt2_ = false;  // some Split
};

}  // namespace drift
