#include "model/vocabulary.hpp"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

#include "model/byte_alphabet.hpp"
#include "model/lfs_pointer.hpp"
#include "model/post_processor.hpp"
#include "model/shown.hpp"
#include "model/tokenizer_settings.hpp"

namespace drift {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxFileBytes = 256u << 20;
constexpr std::int64_t kMaxId = (1 << 24) - 1;
constexpr const char* kOnlyGpt2 =
    "only GPT-2's byte-level BPE is known; prompts may be given as ids";

/// Builds a Vocabulary from the pieces of either format; knows the file for its errors.
class Builder {
 public:
  explicit Builder(fs::path file) : file_(std::move(file)) {
    result_.byte_ids.fill(Vocabulary::kNoToken);
  }

  void from_file(const fs::path& file) { file_ = file; }

  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const {
    throw usage_error(fmt::format("{}: {}", file_.string(), what), hint);
  }
  void refuse(const std::string& what) const { fail(what, kOnlyGpt2); }
  void warn(const std::string& what) {
    std::string warning = fmt::format("{}: {}", file_.string(), what);
    auto& known = result_.warnings;
    if (std::find(known.begin(), known.end(), warning) == known.end()) {
      known.push_back(std::move(warning));
    }
  }

  void read_tokens(const json& tokens) {
    if (!tokens.is_object() || tokens.empty()) {
      fail("no tokens: an object of token to id is expected");
    }
    for (const auto& [letters, id] : tokens.items()) {
      if (!id.is_number_integer() || id < 0 || id > kMaxId) {
        fail(fmt::format("the token \"{}\" has no id between 0 and {}", shown(letters), kMaxId));
      }
      const auto number = id.get<std::int32_t>();
      if (!result_.bytes.emplace(number, bytes_of_letters(letters).value_or(letters)).second) {
        fail(fmt::format("the id {} belongs to two tokens, one is \"{}\"", number, shown(letters)));
      }
      ids_.emplace(letters, number);
      result_.size = std::max(result_.size, static_cast<std::size_t>(number) + 1);
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const auto found = ids_.find(letter_of_byte(static_cast<unsigned char>(byte)));
      if (found != ids_.end()) {
        result_.byte_ids[byte] = found->second;
      }
    }
  }

  void take_whole_words() {
    for (const auto& [letters, id] : ids_) {
      if (auto bytes = bytes_of_letters(letters)) {
        result_.whole_words.emplace(std::move(*bytes), id);
      }
    }
  }

  /// `place` is how an error names the merge: "line 7", "merge 7".
  void read_merge(const std::string& left, const std::string& right, const std::string& place,
                  Merges::Twice twice) {
    const auto id_of = [&](const std::string& token) {
      const auto found = ids_.find(token);
      if (found == ids_.end()) {
        fail(fmt::format("{}: the token \"{}\" isn't in the vocabulary", place, shown(token)),
             "the vocabulary and the merges must come from the same model");
      }
      return found->second;
    };
    const std::int32_t left_id = id_of(left);
    const std::int32_t right_id = id_of(right);
    if (!result_.merges.add(left_id, right_id, id_of(left + right), twice) &&
        twice == Merges::Twice::kFirst) {
      warn(place + " stands there for the second time: transformers 4 takes the first, 5 the last");
    }
  }

  void read_merge(const std::string& pair, const std::string& place, Merges::Twice twice) {
    const auto space = pair.find(' ');
    if (space == 0 || space == std::string::npos || space + 1 == pair.size() ||
        pair.find(' ', space + 1) != std::string::npos) {
      fail(fmt::format("{}: two tokens with one space between them are expected", place));
    }
    read_merge(pair.substr(0, space), pair.substr(space + 1), place, twice);
  }

  /// Adds tokens as `tokenizers` does: one that the vocabulary has keeps its id, a new one gets the
  /// next.
  void add(const AddedToken& token) {
    for (const auto& [id, known] : result_.added.by_id()) {
      if (known == token) {
        return;
      }
    }
    const std::int32_t id = id_of(token.content).value_or(next_id());
    if (id > kMaxId) {
      fail("more tokens than ids");
    }
    const auto [at, is_new] = result_.bytes.emplace(id, token.content);
    if (!is_new && id_of(token.content) != id) {  // ids are missing below the highest
      warn(fmt::format("the added token \"{}\" gets the id {} from transformers, which \"{}\" has",
                       shown(token.content), id, shown(at->second)));
    }
    at->second = token.content;
    result_.added.put(id, token);
    result_.size = std::max(result_.size, static_cast<std::size_t>(id) + 1);
  }

  std::optional<std::int32_t> id_of(const std::string& content) const {
    if (const auto added = result_.added.find(content)) {
      return added;
    }
    const auto found = ids_.find(content);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  bool in_vocabulary(const std::string& content) const { return ids_.count(content) > 0; }

  /// Warns of a token that gets another id than the file gives it.
  bool keeps_id(const std::string& content, std::int64_t id) {
    const auto given = id_of(content);
    if (given && *given != id) {
      warn(fmt::format("the added token \"{}\" has the id {}, but transformers gives it {}",
                       shown(content), id, *given));
      return false;
    }
    return true;
  }

  Vocabulary& result() { return result_; }

 private:
  std::int32_t next_id() const {
    const auto count = static_cast<std::int32_t>(ids_.size());
    const auto& added = result_.added.by_id();
    return added.empty() ? count : std::max(count, added.rbegin()->first + 1);
  }

  fs::path file_;
  Vocabulary result_;
  std::unordered_map<std::string, std::int32_t> ids_;  // of the model, not of added tokens
};

/// As transformers 4 reads it: all lines between the first, whatever it holds, and the last line
/// feed.
void read_merges_file(const fs::path& file, Builder& builder) {
  const std::string text = read_file(file, kMaxFileBytes);
  refuse_lfs_pointer(text, file.string());
  builder.from_file(file);
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (number == 1 && line.starts_with("#version")) {
      continue;
    }
    if (number > 1 && end < text.size()) {
      builder.read_merge(line, fmt::format("line {}", number), Merges::Twice::kFirst);
    } else {
      builder.warn(fmt::format("line {} is skipped, as transformers 4 does ({}); 5 reads it",
                               number,
                               number == 1 ? "it isn't \"#version\"" : "no line feed ends it"));
    }
  }
}

/// A key that is absent, null, or has the value that GPT-2's tokenizer has.
void require(const json& object, const char* key, const json& expected, const char* where,
             const Builder& builder) {
  const auto found = object.find(key);
  if (found != object.end() && !found->is_null() && *found != expected) {
    builder.refuse(fmt::format("{}.{} is {}", where, key, shown(found->dump(-1, ' ', true))));
  }
}

void read_model(const json& model, Builder& builder) {
  require(model, "type", "BPE", "model", builder);
  require(model, "dropout", 0.0, "model", builder);
  require(model, "continuing_subword_prefix", "", "model", builder);
  require(model, "end_of_word_suffix", "", "model", builder);
  builder.read_tokens(model.value("vocab", json()));
  const json merges = model.value("merges", json());
  if (!merges.is_array()) {
    builder.fail("model.merges isn't a list");
  }
  std::size_t number = 0;
  for (const json& merge : merges) {
    const std::string place = fmt::format("merge {}", ++number);
    if (merge.is_string()) {
      builder.read_merge(merge.get<std::string>(), place, Merges::Twice::kLast);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      builder.read_merge(merge[0].get<std::string>(), merge[1].get<std::string>(), place,
                         Merges::Twice::kLast);
    } else {
      builder.fail(fmt::format("{}: neither \"a b\" nor [\"a\", \"b\"]", place));
    }
  }
  if (const json whole = model.value("ignore_merges", json(false)); whole == true) {
    builder.take_whole_words();
  } else if (whole != false && !whole.is_null()) {
    builder.refuse("model.ignore_merges is neither true nor false");
  }
}

/// What transformers 5 leaves out where the class is GPT-2's, of which it takes the vocabulary and
/// the merges alone.
void warn_of_transformers_5(const json& model, const TokenizerSettings& settings,
                            Builder& builder) {
  const Vocabulary& vocabulary = builder.result();
  if (!settings.gpt2_class) {
    return;
  }
  const auto warn = [&](const std::string& what) {
    builder.warn(fmt::format(
        "{} is applied, as by transformers 4.57; 5 leaves it out where the class is GPT2Tokenizer",
        what));
  };
  if (!vocabulary.normalizer.empty()) {
    warn("normalizer");
  }
  const bool spaced =
      !vocabulary.pre_tokenizer.plain() &&
      vocabulary.pre_tokenizer.adds_space() != settings.add_prefix_space.value_or(false);
  if (!vocabulary.pre_tokenizer.gpt2_words() || spaced) {
    warn("pre_tokenizer");
  }
  if (model.value("ignore_merges", json(false)) == true) {
    warn("model.ignore_merges");
  }
}

Vocabulary read_one_file(const fs::path& file, const json& whole) {
  Builder builder(file);
  const auto refuse = [&](const std::string& what) { builder.refuse(what); };
  if (!whole.is_object() || !whole.value("model", json()).is_object()) {
    builder.refuse("not a tokenizer: it has no model");
  }
  const json& model = whole["model"];
  require(model, "type", "BPE", "model", builder);
  const TokenizerSettings settings = read_tokenizer_settings(file.parent_path(), whole);
  Vocabulary& vocabulary = builder.result();
  vocabulary.normalizer = Normalizer(whole.value("normalizer", json()), refuse);
  PreTokenizer words(whole.value("pre_tokenizer", json()), refuse);
  Surrounding surrounding = read_post_processor(whole.value("post_processor", json()), refuse);
  read_model(model, builder);
  const json added = whole.value("added_tokens", json::array());
  if (!added.is_array() && !added.is_null()) {
    builder.refuse("added_tokens isn't a list");
  }
  for (const json& value : added) {
    const NamedToken token = token_from(value, file.string() + ": added_tokens");
    builder.add(token.resolved());
    const json id = value.value("id", json());
    if (!id.is_number_integer() || id < 0 || id > kMaxId) {
      builder.refuse(fmt::format("the added token \"{}\" has no id between 0 and {}",
                                 shown(token.token.content), kMaxId));
    }
  }
  for (const AddedToken& token : settings.to_add(vocabulary.added, false)) {
    builder.add(token);
  }
  for (const json& value : added) {
    builder.keeps_id(value["content"].get<std::string>(), value["id"].get<std::int64_t>());
  }
  for (const auto& [id, token] : settings.added) {
    builder.keeps_id(token.token.content, id);
  }
  if (words.plain()) {
    if (words.adds_space() && !settings.gpt2_class && !settings.add_prefix_space) {
      builder.warn(
          "pre_tokenizer.add_prefix_space is true, which transformers 4.57 sets to false "
          "where tokenizer_config.json doesn't say so; earlier ones and 5 keep it");
    }
    words.add_space(settings.add_prefix_space.value_or(false));
  }
  vocabulary.pre_tokenizer = std::move(words);
  vocabulary.before = std::move(surrounding.before);
  vocabulary.after = std::move(surrounding.after);
  warn_of_transformers_5(model, settings, builder);
  if (const auto same = vocabulary.added.prepare(
          [&](const std::string& text) { return vocabulary.normalizer.apply(text); },
          settings.split_special_tokens)) {
    builder.refuse(fmt::format("the added tokens \"{}\" and \"{}\" become the same text",
                               shown(same->first), shown(same->second)));
  }
  return std::move(vocabulary);
}

Vocabulary read_two_files(const fs::path& folder) {
  const fs::path file = folder / "vocab.json";
  Builder builder(file);
  const TokenizerSettings settings = read_tokenizer_settings(folder, nullptr);
  if (!settings.gpt2_class) {
    builder.refuse("PreTrainedTokenizerFast needs a tokenizer.json, and there is none");
  }
  builder.read_tokens(read_tokenizer_json(file));
  read_merges_file(folder / "merges.txt", builder);
  builder.from_file(file);
  Vocabulary& vocabulary = builder.result();
  for (const AddedToken& token : settings.to_add(vocabulary.added, true)) {
    builder.add(token);
  }
  bool ids_kept = true;
  for (const auto& [id, token] : settings.added) {
    ids_kept = builder.keeps_id(token.token.content, id) && ids_kept;
  }
  if (settings.add_bos_token) {
    builder.from_file(folder / "tokenizer_config.json");
    const auto begin = settings.special("bos_token", true);
    if (!begin || (!ids_kept && !builder.in_vocabulary(begin->token.content))) {
      builder.refuse("add_bos_token is true, and bos_token has no id of its own");
    }
    vocabulary.before = {builder.id_of(begin->token.content).value()};
  }
  vocabulary.pre_tokenizer = PreTokenizer(settings.add_prefix_space.value_or(false));
  vocabulary.added.prepare([](const std::string& text) { return text; },
                           settings.split_special_tokens);
  return std::move(vocabulary);
}

}  // namespace

Vocabulary read_vocabulary(const fs::path& folder) {
  // tokenizer.json first: when both are there it alone has the tokens that were added later.
  if (const json whole = read_tokenizer_json(folder / "tokenizer.json"); !whole.is_null()) {
    try {
      return read_one_file(folder / "tokenizer.json", whole);
    } catch (const json::exception&) {  // a value of another type where nobody looks
      throw usage_error(fmt::format("{}: not as expected", (folder / "tokenizer.json").string()),
                        kOnlyGpt2);
    }
  }
  for (const char* name : {"vocab.json", "merges.txt"}) {
    if (fs::exists(folder / name)) {
      continue;
    }
    for (const char* other : {"tokenizer.model", "spiece.model", "sentencepiece.bpe.model",
                              "vocab.txt", "tekken.json", "vocab.bpe"}) {
      if (fs::exists(folder / other)) {
        throw usage_error(fmt::format("{}: a tokenizer of another kind", (folder / other).string()),
                          kOnlyGpt2);
      }
    }
    throw usage_error(fmt::format("{}: no tokenizer: {} is missing", folder.string(), name),
                      "put tokenizer.json, or vocab.json and merges.txt there; or give prompts as "
                      "ids");
  }
  return read_two_files(folder);
}

}  // namespace drift
