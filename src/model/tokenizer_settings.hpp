#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/added_tokens.hpp"

namespace drift {

/// A token as a settings file names it: as text, or as an object with flags.
struct NamedToken {
  AddedToken token;
  std::optional<bool> normalized;  ///< none: what isn't special is
  bool object = false;

  AddedToken resolved() const;
};

/// What the files beside a vocabulary say of how it is used: tokenizer_config.json,
/// special_tokens_map.json, added_tokens.json, and tokenizer_class of config.json. Read as
/// transformers 4.57's fast tokenizers read them.
struct TokenizerSettings {
  bool gpt2_class = true;  ///< GPT2Tokenizer, not PreTrainedTokenizerFast
  std::optional<bool> add_prefix_space;
  bool add_bos_token = false;
  bool split_special_tokens = false;
  /// bos_token, eos_token, …; nothing: said to be null.
  std::map<std::string, std::optional<NamedToken>> named;
  std::vector<NamedToken> additional;
  std::map<std::int64_t, NamedToken> added;  ///< by the id that the files give
  /// Objects that stand for a named token of the same content.
  std::map<std::string, NamedToken> known;

  /// In the order in which they are added to those that a tokenizer has: those of the files, then
  /// the special ones.
  std::vector<AddedToken> to_add(const AddedTokens& has, bool from_two_files) const;
  /// The special token of a name, its default included.
  std::optional<NamedToken> special(const std::string& name, bool from_two_files) const;
};

/// `tokenizer_json` is what the folder's tokenizer.json holds, null when there is none. Errors
/// (usage): a file that isn't as expected, a class or a setting that isn't known.
TokenizerSettings read_tokenizer_settings(const std::filesystem::path& folder,
                                          const nlohmann::json& tokenizer_json);

/// A token of "added_tokens" in tokenizer.json or of the like; `refuse` is called for another.
NamedToken token_from(const nlohmann::json& value, const std::string& where);

/// A JSON file, read strictly; null when it isn't there.
nlohmann::json read_tokenizer_json(const std::filesystem::path& file);

}  // namespace drift
