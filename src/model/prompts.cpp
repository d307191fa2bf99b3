#include "driftaudit/prompts.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/paths.hpp"

#include "model/escapes.hpp"
#include "model/strict_json.hpp"
#include "model/word_pattern.hpp"

namespace drift {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxFileBytes = 64u << 20;

/// Turns texts and ids into prompts; knows the file for its errors, `place` is where in it.
class Reader {
 public:
  Reader(std::string file, const Tokenizer& tokenizer, const ModelConfig& config)
      : file_(std::move(file)), tokenizer_(tokenizer), config_(config) {}

  [[noreturn]] void fail(const std::string& place, const std::string& what,
                         const std::string& hint = "") const {
    throw usage_error(fmt::format("{}: {}{}{}", file_, place, place.empty() ? "" : ": ", what),
                      hint);
  }

  void add_text(const std::string& place, std::string text) {
    if (const auto at = invalid_utf8_at(text)) {
      fail(place, fmt::format("not UTF-8: invalid at byte {} of the prompt", *at));
    }
    add(place, text, encoded(place, text));
  }

  void add_ids(const std::string& place, const json& list) {
    std::vector<std::int32_t> ids;
    const auto limit = static_cast<std::int64_t>(config_.vocab_size);
    for (const json& id : list) {
      if (!id.is_number_integer()) {
        fail(place, fmt::format("{} is no id", id.dump(-1, ' ', true)));
      }
      if (id < 0 || id >= limit) {
        fail(place, fmt::format("id {} is outside the vocabulary", id.dump()),
             fmt::format("the model's ids go from 0 to {}", limit - 1));
      }
      ids.push_back(id.get<std::int32_t>());
    }
    // Ids may end within a character; a report's text must be UTF-8 all the same.
    const std::string shown =
        json(tokenizer_.decode(ids)).dump(-1, ' ', false, json::error_handler_t::replace);
    add(place, json::parse(shown).get<std::string>(), std::move(ids));
  }

  std::vector<Prompt> take() {
    if (prompts_.empty()) {
      fail("", "no prompts in it",
           "one prompt a line is expected, or a JSON array in a .json file");
    }
    return std::move(prompts_);
  }

 private:
  std::vector<std::int32_t> encoded(const std::string& place, const std::string& text) const {
    if (const Error* none = tokenizer_.why_none()) {
      throw *none;
    }
    try {
      return tokenizer_.encode(text);
    } catch (const Error& error) {
      if (error.status() != Status::kUsage) {
        throw;
      }
      fail(place, error.what(), error.hint());
    }
  }

  void add(const std::string& place, std::string text, std::vector<std::int32_t> ids) {
    if (ids.empty()) {
      fail(place, "the prompt is empty");
    }
    if (ids.size() > config_.n_positions) {
      fail(place,
           fmt::format("the prompt has {} tokens, more than the model's context of {}", ids.size(),
                       config_.n_positions),
           "shorten it, or take a model with a longer context");
    }
    prompts_.push_back({std::move(text), std::move(ids)});
  }

  std::string file_;
  const Tokenizer& tokenizer_;
  const ModelConfig& config_;
  std::vector<Prompt> prompts_;
};

std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

void read_lines(std::string_view text, Reader& reader) {
  text = without_byte_order_mark(text);
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string place = fmt::format("line {}", ++number);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (line.find_first_not_of(" \t") == std::string_view::npos) {
      continue;
    }
    if (const auto at = invalid_utf8_at(line)) {
      reader.fail(place, fmt::format("not UTF-8: invalid at byte {} of the line", *at),
                  "save the file as UTF-8");
    }
    std::string prompt;
    try {
      prompt = unescape(line);
    } catch (const Error& error) {
      reader.fail(place, error.what(), error.hint());
    }
    reader.add_text(place, std::move(prompt));
  }
}

void read_object(const std::string& place, const json& object, Reader& reader) {
  const json text = object.value("text", json());
  const json ids = object.value("ids", json());
  if (object.size() != 1 || !(text.is_string() || ids.is_array())) {
    reader.fail(place, "an object with either \"text\" or \"ids\" is expected");
  }
  if (text.is_string()) {
    reader.add_text(place, text.get<std::string>());
  } else {
    reader.add_ids(place, ids);
  }
}

void read_json(const std::string& file, std::string_view text, Reader& reader) {
  text = without_byte_order_mark(text);
  json list;
  try {
    list = parse_strict_json(text, file);
  } catch (const Error& error) {
    throw usage_error(error.what(), "a JSON file of prompts is an array of texts or lists of ids");
  }
  if (!list.is_array()) {
    reader.fail("", "not a JSON array of prompts");
  }
  std::size_t number = 0;
  for (const json& prompt : list) {
    const std::string place = fmt::format("prompt {}", ++number);
    if (prompt.is_string()) {
      reader.add_text(place, prompt.get<std::string>());
    } else if (prompt.is_array()) {
      reader.add_ids(place, prompt);
    } else if (prompt.is_object()) {
      read_object(place, prompt, reader);
    } else {
      reader.fail(place, "neither a text nor a list of ids");
    }
  }
}

/// The file of a prompt set by its name or path.
fs::path find_prompts(const std::string& name) {
  const fs::path shipped = data_folder() / "prompts";
  if (!name.empty() && name.find('/') == std::string::npos &&
      fs::exists(shipped / (name + ".txt"))) {
    return shipped / (name + ".txt");
  }
  std::error_code unreachable;  // too long a name, a loop of links
  if (fs::exists(name, unreachable)) {
    return name;
  }
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(shipped)) {
    if (entry.path().extension() == ".txt") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  throw usage_error(fmt::format("{}: no such prompt set or file", name.empty() ? "\"\"" : name),
                    fmt::format("the sets are: {}", fmt::join(names, ", ")));
}

}  // namespace

PromptSet load_prompts(const std::string& name, const Tokenizer& tokenizer,
                       const ModelConfig& config) {
  const fs::path file = find_prompts(name);
  const std::string text = read_file(file, kMaxFileBytes);
  Reader reader(file.string(), tokenizer, config);
  if (file.extension() == ".json") {
    read_json(file.string(), text, reader);
  } else {
    read_lines(text, reader);
  }
  return {name, reader.take()};
}

}  // namespace drift
