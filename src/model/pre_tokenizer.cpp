#include "model/pre_tokenizer.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "model/code_points.hpp"
#include "model/shown.hpp"
#include "model/word_pattern.hpp"

namespace drift {
namespace {

using nlohmann::json;

/// The pattern that GPT-2's encoder was published with, as tokenizer.json files spell it.
constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

json type_of(const json& value) { return value.is_object() ? value.value("type", json()) : json(); }

bool flag(const json& value, const char* key, const PreTokenizer::Refuse& refuse) {
  const json given = value.value(key, json(true));  // the default of `tokenizers`
  if (!given.is_boolean()) {
    refuse(fmt::format("pre_tokenizer.{} is neither true nor false", key));
  }
  return given.get<bool>();
}

void cut_at_string(const std::string& what, std::string_view text, const PreTokenizer::Take& take) {
  while (!text.empty()) {
    const std::size_t found = std::min(text.find(what), text.size());
    if (found > 0) {
      take(text.substr(0, found));
    }
    if (found < text.size()) {
      take(text.substr(found, what.size()));
    }
    text.remove_prefix(std::min(found + what.size(), text.size()));
  }
}

/// Numbers apart from the rest, each digit of its own or all that follow one another together.
void cut_at_numbers(bool each, std::string_view text, const PreTokenizer::Take& take) {
  std::size_t from = 0;
  bool numbers = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = first_code_point(text.substr(at)).bytes;
    const bool number = is_number(text.substr(at, bytes));
    if (at > from && (number != numbers || (number && each))) {
      take(text.substr(from, at - from));
      from = at;
    }
    numbers = number;
    at += bytes;
  }
  if (from < text.size()) {
    take(text.substr(from));
  }
}

}  // namespace

PreTokenizer::PreTokenizer(bool add_prefix_space) : prefix_space_(add_prefix_space) {}

PreTokenizer::PreTokenizer(const json& value, const Refuse& refuse) {
  if (type_of(value) != "Sequence") {
    read_byte_level(value, refuse);
    return;
  }
  plain_ = false;
  const json parts = value.value("pretokenizers", json());
  if (!parts.is_array() || parts.empty()) {
    refuse("pre_tokenizer.pretokenizers isn't a list");
  }
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    read_cut(parts[i], refuse);
  }
  read_byte_level(parts.back(), refuse);
}

void PreTokenizer::read_byte_level(const json& value, const Refuse& refuse) {
  if (type_of(value) != "ByteLevel") {
    refuse(fmt::format("pre_tokenizer {} isn't ByteLevel, nor a Sequence that ends with it",
                       shown(type_of(value).dump(-1, ' ', true))));
  }
  prefix_space_ = flag(value, "add_prefix_space", refuse);
  pattern_ = flag(value, "use_regex", refuse);
}

void PreTokenizer::read_cut(const json& value, const Refuse& refuse) {
  if (type_of(value) == "Digits") {
    const json each = value.value("individual_digits", json(false));
    if (each.is_boolean()) {
      cuts_.emplace_back([each = each.get<bool>()](std::string_view text, const Take& take) {
        cut_at_numbers(each, text, take);
      });
      return;
    }
  }
  const bool split = type_of(value) == "Split" && value.value("behavior", json()) == "Isolated" &&
                     value.value("invert", json(false)) == false &&
                     value.value("pattern", json()).is_object();
  const json string = split ? value["pattern"].value("String", json()) : json();
  if (split && value["pattern"].value("Regex", json()) == kGpt2Pattern) {
    cuts_.emplace_back(for_each_word);
    split_as_gpt2_ = true;
  } else if (string.is_string() && string != "") {
    cuts_.emplace_back([what = string.get<std::string>()](std::string_view text, const Take& take) {
      cut_at_string(what, text, take);
    });
  } else {
    refuse(
        fmt::format("pre_tokenizer {} isn't known in this form", shown(value.dump(-1, ' ', true))));
  }
}

void PreTokenizer::cut(std::string_view text, const Take& take) const { cut_from(0, text, take); }

void PreTokenizer::cut_from(std::size_t step, std::string_view text, const Take& take) const {
  if (step < cuts_.size()) {
    cuts_[step](text, [&](std::string_view piece) { cut_from(step + 1, piece, take); });
    return;
  }
  std::string spaced;
  if (prefix_space_ && text.front() != ' ') {
    spaced = " " + std::string(text);
    text = spaced;
  }
  if (pattern_) {
    for_each_word(text, take);
  } else {
    take(text);
  }
}

}  // namespace drift
