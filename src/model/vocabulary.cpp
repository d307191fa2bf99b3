#include "model/vocabulary.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

#include "model/byte_alphabet.hpp"

namespace drift {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxFileBytes = 256u << 20;
constexpr std::int64_t kMaxId = (1 << 24) - 1;
constexpr const char* kEndOfText = "<|endoftext|>";
constexpr const char* kOnlyGpt2 = "only GPT-2's byte-level BPE is known";

json read_json(const fs::path& file) {
  const std::string text = read_file(file, kMaxFileBytes);
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    throw usage_error(fmt::format("{}: not JSON: error at byte {}", file.string(), error.byte),
                      "the file may be damaged; fetch or copy it again");
  } catch (const json::exception&) {
    throw usage_error(fmt::format("{}: a number that is too large", file.string()),
                      "the file may be damaged; fetch or copy it again");
  }
}

/// Builds a Vocabulary from the pieces of either format; knows the file for its errors.
class Builder {
 public:
  explicit Builder(fs::path file) : file_(std::move(file)) {}

  void from_file(const fs::path& file) { file_ = file; }

  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const {
    throw usage_error(fmt::format("{}: {}", file_.string(), what), hint);
  }

  void read_tokens(const json& tokens) {
    if (!tokens.is_object() || tokens.empty()) {
      fail("no tokens: an object of token to id is expected");
    }
    for (const auto& [letters, id] : tokens.items()) {
      const std::int32_t number = checked_id(id, letters);
      name_id(number, bytes_of_letters(letters).value_or(letters), letters);
      ids_.emplace(letters, number);
    }
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::string& letter = letter_of_byte(static_cast<unsigned char>(byte));
      const auto found = ids_.find(letter);
      if (found == ids_.end()) {
        fail(fmt::format("byte {:#04x} has no token (\"{}\")", byte, letter), kOnlyGpt2);
      }
      result_.byte_ids[byte] = found->second;
    }
  }

  /// `place` is how an error names the merge: "line 7", "merge 7".
  void read_merge(const std::string& left, const std::string& right, const std::string& place) {
    const auto id_of = [&](const std::string& token) {
      const auto found = ids_.find(token);
      if (found == ids_.end()) {
        fail(fmt::format("{}: the token \"{}\" isn't in the vocabulary", place, token),
             "the vocabulary and the merges must come from the same model");
      }
      return found->second;
    };
    const std::int32_t left_id = id_of(left);
    const std::int32_t right_id = id_of(right);
    result_.merges.add(left_id, right_id, id_of(left + right));
  }

  void read_merge(const std::string& pair, const std::string& place) {
    const auto space = pair.find(' ');
    if (space == 0 || space == std::string::npos || space + 1 == pair.size() ||
        pair.find(' ', space + 1) != std::string::npos) {
      fail(fmt::format("{}: two tokens with one space between them are expected", place));
    }
    read_merge(pair.substr(0, space), pair.substr(space + 1), place);
  }

  void add(const std::string& text, const json& id, bool early) {
    if (text.empty()) {
      fail("an added token is empty");
    }
    const std::int32_t number = checked_id(id, text);
    const auto known = ids_.find(text);
    if (known == ids_.end()) {
      name_id(number, text, text);
    } else if (known->second != number) {
      fail(fmt::format("the added token \"{}\" has the id {}, but {} in the vocabulary", text,
                       number, known->second));
    }
    ids_.emplace(text, number);
    result_.bytes[static_cast<std::size_t>(number)] = text;
    result_.added.push_back({text, number, early});
  }

  void add_end_of_text() {
    const auto found = ids_.find(kEndOfText);
    if (found != ids_.end()) {
      result_.added.push_back({kEndOfText, found->second, true});
    }
  }

  Vocabulary take() { return std::move(result_); }

 private:
  std::int32_t checked_id(const json& id, const std::string& token) const {
    if (!id.is_number_integer() || id < 0 || id > kMaxId) {
      fail(fmt::format("the token \"{}\" has no id between 0 and {}", token, kMaxId));
    }
    return id.get<std::int32_t>();
  }

  void name_id(std::int32_t id, std::string bytes, const std::string& token) {
    const auto index = static_cast<std::size_t>(id);
    if (index >= result_.bytes.size()) {
      result_.bytes.resize(index + 1);
    }
    if (result_.bytes[index]) {
      fail(fmt::format("the id {} belongs to two tokens, one is \"{}\"", id, token));
    }
    result_.bytes[index] = std::move(bytes);
  }

  fs::path file_;
  Vocabulary result_;
  std::unordered_map<std::string, std::int32_t> ids_;
};

void read_merges_file(const fs::path& file, Builder& builder) {
  const std::string text = read_file(file, kMaxFileBytes);
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
    if (!line.starts_with("#version")) {
      builder.read_merge(line, fmt::format("line {}", number));
    }
  }
}

Vocabulary read_two_files(const fs::path& folder) {
  const fs::path vocabulary = folder / "vocab.json";
  Builder builder(vocabulary);
  builder.read_tokens(read_json(vocabulary));
  read_merges_file(folder / "merges.txt", builder);
  const fs::path added = folder / "added_tokens.json";
  builder.from_file(vocabulary);
  if (!fs::exists(added)) {
    builder.add_end_of_text();
    return builder.take();
  }
  const json tokens = read_json(added);
  if (!tokens.contains(kEndOfText)) {
    builder.add_end_of_text();
  }
  builder.from_file(added);
  if (!tokens.is_object()) {
    builder.fail("an object of token to id is expected");
  }
  for (const auto& [text, id] : tokens.items()) {
    builder.add(text, id, true);
  }
  return builder.take();
}

/// A key that is absent, null, or has the value that GPT-2's tokenizer has.
void require(const json& object, const char* key, const json& expected, const char* where,
             const Builder& builder) {
  const auto found = object.find(key);
  if (found != object.end() && !found->is_null() && *found != expected) {
    builder.fail(fmt::format("{}.{} is {}", where, key, found->dump()), kOnlyGpt2);
  }
}

void require_gpt2(const json& file, const json& model, const Builder& builder) {
  require(file, "normalizer", nullptr, "tokenizer", builder);
  require(model, "type", "BPE", "model", builder);
  require(model, "dropout", 0.0, "model", builder);
  require(model, "continuing_subword_prefix", "", "model", builder);
  require(model, "end_of_word_suffix", "", "model", builder);
  require(model, "byte_fallback", false, "model", builder);
  require(model, "ignore_merges", false, "model", builder);
  const json words = file.value("pre_tokenizer", json());
  if (!words.is_object() || words.value("type", json()) != "ByteLevel") {
    builder.fail("pre_tokenizer isn't ByteLevel", kOnlyGpt2);
  }
  // Both default to true in the `tokenizers` package.
  if (words.value("add_prefix_space", json(true)) != false) {
    builder.fail("pre_tokenizer.add_prefix_space isn't false", kOnlyGpt2);
  }
  require(words, "use_regex", true, "pre_tokenizer", builder);
  const json after = file.value("post_processor", json());
  if (!after.is_null() && (!after.is_object() || after.value("type", json()) != "ByteLevel")) {
    builder.fail("post_processor isn't ByteLevel: it may add tokens of its own", kOnlyGpt2);
  }
}

void read_added_token(const json& token, Builder& builder) {
  if (!token.is_object() || !token.value("content", json()).is_string()) {
    builder.fail("added_tokens holds something else than tokens");
  }
  const auto text = token["content"].get<std::string>();
  for (const char* key : {"single_word", "lstrip", "rstrip"}) {
    require(token, key, false, fmt::format("the added token \"{}\"", text).c_str(), builder);
  }
  builder.add(text, token.value("id", json()), token.value("normalized", json(false)) != true);
}

Vocabulary read_one_file(const fs::path& file) {
  const json whole = read_json(file);
  Builder builder(file);
  if (!whole.is_object() || !whole.value("model", json()).is_object()) {
    builder.fail("not a tokenizer: it has no model", kOnlyGpt2);
  }
  const json& model = whole["model"];
  require_gpt2(whole, model, builder);
  builder.read_tokens(model.value("vocab", json()));
  const json merges = model.value("merges", json());
  if (!merges.is_array()) {
    builder.fail("model.merges isn't a list");
  }
  std::size_t number = 0;
  for (const json& merge : merges) {
    const std::string place = fmt::format("merge {}", ++number);
    if (merge.is_string()) {
      builder.read_merge(merge.get<std::string>(), place);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      builder.read_merge(merge[0].get<std::string>(), merge[1].get<std::string>(), place);
    } else {
      builder.fail(fmt::format("{}: neither \"a b\" nor [\"a\", \"b\"]", place));
    }
  }
  const json added = whole.value("added_tokens", json::array());
  for (const json& token : added) {
    read_added_token(token, builder);
  }
  return builder.take();
}

}  // namespace

Vocabulary read_vocabulary(const fs::path& folder) {
  // tokenizer.json first: when both are there it alone has the tokens that were added later.
  if (fs::exists(folder / "tokenizer.json")) {
    return read_one_file(folder / "tokenizer.json");
  }
  for (const char* name : {"vocab.json", "merges.txt"}) {
    if (!fs::exists(folder / name)) {
      throw usage_error(fmt::format("{}: no tokenizer: {} is missing", folder.string(), name),
                        "a model's folder needs tokenizer.json, or vocab.json and merges.txt");
    }
  }
  return read_two_files(folder);
}

}  // namespace drift
