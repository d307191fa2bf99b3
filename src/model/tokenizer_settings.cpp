#include "model/tokenizer_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

#include "model/shown.hpp"
#include "model/strict_json.hpp"

namespace drift {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxFileBytes = 256u << 20;
constexpr const char* kEndOfText = "<|endoftext|>";
constexpr const char* kAnotherKind =
    "only GPT-2's byte-level BPE is known; prompts may be given as ids";
constexpr std::array kNames{"bos_token", "eos_token", "unk_token", "sep_token",
                            "pad_token", "cls_token", "mask_token"};

std::string dumped(const json& value) { return shown(value.dump(-1, ' ', true)); }

[[noreturn]] void refuse(const fs::path& file, const std::string& what) {
  throw usage_error(fmt::format("{}: {}", file.string(), what), kAnotherKind);
}

bool flag(const json& object, const char* key, bool usual, const std::string& where) {
  const json value = object.value(key, json(usual));
  if (!value.is_boolean()) {
    throw usage_error(
        fmt::format("{}: {} is {}, neither true nor false", where, key, dumped(value)),
        kAnotherKind);
  }
  return value.get<bool>();
}

json read_object(const fs::path& file) {
  json object = read_tokenizer_json(file);
  if (!object.is_null() && !object.is_object()) {
    refuse(file, "an object is expected");
  }
  return object;
}

/// Text, null, or an object that describes a token: `marked` where transformers wants "__type".
std::optional<NamedToken> named_from(const json& value, bool marked, const std::string& where) {
  if (value.is_null()) {
    return std::nullopt;
  }
  if (value.is_string()) {
    NamedToken token;
    token.token.content = value.get<std::string>();
    return token;
  }
  if (marked && (!value.is_object() || value.value("__type", json()) != "AddedToken")) {
    throw usage_error(fmt::format("{} is {}, no token", where, dumped(value)), kAnotherKind);
  }
  return token_from(value, where);
}

void read_class(const fs::path& folder, const json& config, TokenizerSettings& settings) {
  fs::path file = folder / "tokenizer_config.json";
  json name = config.is_null() ? json() : config.value("tokenizer_class", json());
  if (name.is_null() && fs::exists(folder / "config.json")) {
    file = folder / "config.json";
    const json model = read_tokenizer_json(file);
    name = model.is_object() ? model.value("tokenizer_class", json()) : json();
  }
  if (name.is_null() || name == "GPT2Tokenizer" || name == "GPT2TokenizerFast") {
    return;
  }
  if (name != "PreTrainedTokenizerFast" && name != "PreTrainedTokenizer") {
    refuse(file, fmt::format("tokenizer_class is {}", dumped(name)));
  }
  settings.gpt2_class = false;
}

/// Settings under which transformers reads other files, or cuts otherwise.
void refuse_others(const fs::path& file, const json& config, bool one_file) {
  for (const char* key : {"tokenizer_file", "vocab_file", "merges_file"}) {
    const bool harmless = std::string(key) == "tokenizer_file" && !one_file;
    if (config.contains(key) && !harmless) {
      refuse(file, fmt::format("{} names other files to read, or none", key));
    }
  }
  if (config.value("from_slow", json(false)) != false) {
    refuse(file, "from_slow is set");
  }
  for (const char* key : {"init_inputs", "extra_special_tokens"}) {
    const json value = config.value(key, json());
    if (!value.is_null() && !value.empty()) {
      refuse(file, fmt::format("{} is {}", key, dumped(value)));
    }
  }
}

void read_names(const fs::path& file, const json& object, bool marked,
                TokenizerSettings& settings) {
  for (const char* name : kNames) {
    if (object.contains(name)) {
      settings.named.insert_or_assign(
          name, named_from(object[name], marked, fmt::format("{}: {}", file.string(), name)));
    }
  }
  const json additional = object.value("additional_special_tokens", json());
  if (additional.is_null()) {
    return;
  }
  const std::string where = fmt::format("{}: additional_special_tokens", file.string());
  if (!additional.is_array()) {
    throw usage_error(where + " isn't a list", kAnotherKind);
  }
  for (const json& value : additional) {
    const auto token = named_from(value, marked, where);
    if (!token) {
      throw usage_error(where + " holds null", kAnotherKind);
    }
    const auto same = [&](const NamedToken& other) {
      return other.object == token->object && other.token == token->token;
    };
    if (std::none_of(settings.additional.begin(), settings.additional.end(), same)) {
      settings.additional.push_back(*token);
    }
  }
}

void read_config(const fs::path& file, const json& config, bool one_file,
                 TokenizerSettings& settings) {
  refuse_others(file, config, one_file);
  if (config.contains("add_prefix_space")) {
    settings.add_prefix_space = flag(config, "add_prefix_space", false, file.string());
  }
  settings.add_bos_token = flag(config, "add_bos_token", false, file.string());
  settings.split_special_tokens = flag(config, "split_special_tokens", false, file.string());
  read_names(file, config, true, settings);
}

/// "added_tokens_decoder" of tokenizer_config.json, which stands for all the older files.
void read_decoder(const fs::path& file, const json& decoder, TokenizerSettings& settings) {
  if (!decoder.is_object()) {
    refuse(file, "added_tokens_decoder isn't an object");
  }
  for (const auto& [key, value] : decoder.items()) {
    std::int32_t id = -1;
    const auto end = std::from_chars(key.data(), key.data() + key.size(), id).ptr;
    if (id < 0 || std::to_string(id) != key || end != key.data() + key.size()) {
      refuse(file, fmt::format("added_tokens_decoder: \"{}\" is no id", shown(key)));
    }
    const NamedToken token =
        token_from(value, fmt::format("{}: added_tokens_decoder.{}", file.string(), key));
    settings.added.emplace(id, token);
    settings.known.insert_or_assign(token.token.content, token);
  }
}

/// The objects of special_tokens_map.json, alone or in a list, are special whatever they say.
void mark_special(json& value) {
  if (value.is_array()) {
    std::for_each(value.begin(), value.end(), mark_special);
  } else if (value.is_object()) {
    value["special"] = true;
  }
}

/// The files of before there was "added_tokens_decoder".
void read_older(const fs::path& folder, const json& tokenizer_json, TokenizerSettings& settings) {
  if (const json map = read_object(folder / "special_tokens_map.json"); !map.is_null()) {
    json special = map;
    for (auto& value : special) {
      mark_special(value);
    }
    read_names(folder / "special_tokens_map.json", special, false, settings);
  }
  std::set<std::string> special;
  for (const auto& [name, token] : settings.named) {
    if (token) {
      special.insert(token->token.content);
    }
  }
  for (const NamedToken& token : settings.additional) {
    special.insert(token.token.content);
  }
  const fs::path file = folder / "added_tokens.json";
  json added = read_object(file);
  if (added.is_null()) {
    added = json::object();
  }
  for (const auto& [content, id] : added.items()) {
    if (!id.is_number_integer() || id < 0 || id > (1 << 24) || content.empty()) {
      refuse(file, fmt::format("\"{}\" is {}: a token and its id are expected", shown(content),
                               dumped(id)));
    }
    NamedToken token;
    token.token.content = content;
    token.token.special = special.count(content) > 0;
    token.object = true;
    settings.added.insert_or_assign(id.get<std::int64_t>(), token);
  }
  const json of_file =
      tokenizer_json.is_object() ? tokenizer_json.value("added_tokens", json()) : json();
  if (!of_file.is_array()) {
    return;
  }
  for (const json& value : of_file) {
    const NamedToken token =
        token_from(value, (folder / "tokenizer.json").string() + ": added_tokens");
    const json id = value.value("id", json());
    if (!id.is_number_integer() || id < 0 || id > (1 << 24)) {
      refuse(folder / "tokenizer.json",
             fmt::format("the added token \"{}\" has no id", shown(token.token.content)));
    }
    settings.added.insert_or_assign(id.get<std::int64_t>(), token);
    settings.known.insert_or_assign(token.token.content, token);
  }
}

}  // namespace

AddedToken NamedToken::resolved() const {
  AddedToken made = token;
  made.normalized = normalized.value_or(!made.special);
  return made;
}

NamedToken token_from(const json& value, const std::string& where) {
  if (!value.is_object() || !value.value("content", json()).is_string() || value["content"] == "") {
    throw usage_error(fmt::format("{}: {} is no token", where, dumped(value)), kAnotherKind);
  }
  NamedToken named;
  named.object = true;
  named.token.content = value["content"].get<std::string>();
  const std::string place =
      fmt::format("{}: the added token \"{}\"", where, shown(named.token.content));
  named.token.single_word = flag(value, "single_word", false, place);
  named.token.lstrip = flag(value, "lstrip", false, place);
  named.token.rstrip = flag(value, "rstrip", false, place);
  named.token.special = flag(value, "special", false, place);
  if (value.contains("normalized")) {
    named.normalized = flag(value, "normalized", false, place);
  }
  return named;
}

json read_tokenizer_json(const fs::path& file) {
  if (!fs::exists(file)) {
    return nullptr;
  }
  try {
    return parse_strict_json(read_file(file, kMaxFileBytes), file.string());
  } catch (const Error& error) {
    if (error.status() == Status::kUsage && error.hint().empty()) {
      throw usage_error(error.what(), "the file may be damaged; fetch or copy it again");
    }
    throw;
  }
}

std::optional<NamedToken> TokenizerSettings::special(const std::string& name,
                                                     bool from_two_files) const {
  const auto found = named.find(name);
  std::optional<NamedToken> token;
  if (found != named.end()) {
    token = found->second;
    if (token && known.count(token->token.content) > 0) {
      token = known.at(token->token.content);
    }
  } else if (gpt2_class && (name == "bos_token" || name == "eos_token" || name == "unk_token")) {
    token.emplace().token.content = kEndOfText;
  }
  // Without a tokenizer.json transformers makes objects of these four on the way.
  const bool made = name != "sep_token" && name != "cls_token" && name != "mask_token";
  if (token && !token->object && from_two_files && made) {
    token->object = true;
    token->normalized = true;
  }
  return token;
}

std::vector<AddedToken> TokenizerSettings::to_add(const AddedTokens& has,
                                                  bool from_two_files) const {
  std::vector<NamedToken> specials;
  std::set<std::string> special_contents;
  const auto take = [&](const NamedToken& token) {
    if (special_contents.insert(token.token.content).second) {
      specials.push_back(token);
    }
  };
  for (const char* name : kNames) {
    if (const auto token = special(name, from_two_files)) {
      take(*token);
    }
  }
  std::for_each(additional.begin(), additional.end(), take);

  std::vector<NamedToken> result;
  std::set<std::string> contents;
  for (const auto& [id, token] : has.by_id()) {
    contents.insert(token.content);
  }
  for (const auto& [id, token] : added) {
    const auto same = [&](const auto& other) { return other.second == token.resolved(); };
    if (std::none_of(has.by_id().begin(), has.by_id().end(), same)) {
      result.push_back(token);
    }
  }
  const std::size_t of_files = result.size();
  for (std::size_t i = 0; i < of_files; ++i) {
    contents.insert(result[i].token.content);
  }
  for (const NamedToken& token : specials) {
    const auto same = [&](const NamedToken& other) { return other.resolved() == token.resolved(); };
    const auto end = result.begin() + static_cast<std::ptrdiff_t>(of_files);
    const bool there = token.object ? std::any_of(result.begin(), end, same)
                                    : contents.count(token.token.content) > 0;
    if (!there) {
      result.push_back(token);
    }
  }
  std::vector<AddedToken> tokens;
  for (NamedToken& token : result) {
    token.token.special =
        (token.object && token.token.special) || special_contents.count(token.token.content) > 0;
    tokens.push_back(token.resolved());
  }
  return tokens;
}

TokenizerSettings read_tokenizer_settings(const fs::path& folder, const json& tokenizer_json) {
  TokenizerSettings settings;
  const fs::path file = folder / "tokenizer_config.json";
  const json config = read_object(file);
  read_class(folder, config, settings);
  if (!config.is_null()) {
    read_config(file, config, !tokenizer_json.is_null(), settings);
  }
  if (config.is_object() && config.contains("added_tokens_decoder")) {
    read_decoder(file, config["added_tokens_decoder"], settings);
  } else {
    read_older(folder, tokenizer_json, settings);
  }
  return settings;
}

}  // namespace drift
