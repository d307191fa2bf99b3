#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace drift {

/// A token that is cut out of the text before anything else.
struct AddedToken {
  std::string content;       ///< never empty
  bool single_word = false;  ///< not where a word goes on before or after it
  bool lstrip = false;       ///< takes the white space before it along
  bool rstrip = false;       ///< and that after it
  bool normalized = false;   ///< sought in the normalised text, after those that aren't
  bool special = false;

  bool operator==(const AddedToken&) const = default;
};

/// The added tokens of a tokenizer and where a text holds them, as in the `tokenizers` package:
/// the leftmost, and of those that start at the same place the longest.
class AddedTokens {
 public:
  using Between = std::function<void(std::string_view)>;
  using Token = std::function<void(std::int32_t)>;

  /// Adds a token, or sets what is known of the one of this id.
  void put(std::int32_t id, const AddedToken& token);
  std::optional<std::int32_t> find(const std::string& content) const;
  const std::map<std::int32_t, AddedToken>& by_id() const { return by_id_; }

  /// Makes ready to cut: `normalised` is what a token's text becomes; `split_special` leaves the
  /// special ones in the text. Gives two tokens that become the same text, if there are.
  std::optional<std::pair<std::string, std::string>> prepare(
      const std::function<std::string(const std::string&)>& normalised, bool split_special);

  /// Cuts the tokens that are (not) normalised out of a text, in order.
  void cut(std::string_view text, bool normalized, const Token& token,
           const Between& between) const;

 private:
  struct Sought {
    std::string text;
    AddedToken token;
    std::int32_t id;
  };

  std::map<std::int32_t, AddedToken> by_id_;
  std::unordered_map<std::string, std::int32_t> ids_;
  std::vector<Sought> sought_[2];  // by `normalized`
  bool split_special_ = false;
};

}  // namespace drift
