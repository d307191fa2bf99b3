#include "model/normalizer.hpp"

#include <optional>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/code_points.hpp"
#include "model/shown.hpp"

namespace drift {
namespace {

using nlohmann::json;

/// Where, from U+0000 on, a form leaves every text as it is.
std::optional<char32_t> unchanged_below(const std::string& type) {
  if (type == "NFC" || type == "StripAccents") {
    return 0x300;  // the first combining mark
  }
  if (type == "NFD") {
    return 0xc0;  // À is A and a mark
  }
  if (type == "NFKC" || type == "NFKD") {
    return 0xa0;  // the no-break space is a space
  }
  return std::nullopt;
}

template <typename Take>
void for_each_code_point(std::string_view text, const std::string& type, char32_t limit,
                         const Take& take) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = first_code_point(text.substr(at));
    if (c.value >= limit) {
      throw usage_error(
          fmt::format("the tokenizer's normalizer {} isn't known here for U+{:04X}, at byte {}",
                      type, static_cast<std::uint32_t>(c.value), at),
          "give the prompt as ids");
    }
    take(c);
    at += c.bytes;
  }
}

std::string lowercase(const std::string& text) {
  std::string result;
  for_each_code_point(text, "Lowercase", 0x100, [&](CodePoint c) {
    const bool latin1 = c.value >= 0xc0 && c.value <= 0xde && c.value != 0xd7;
    const bool upper = (c.value >= 'A' && c.value <= 'Z') || latin1;
    append_utf8(upper ? c.value + 0x20 : c.value, result);
  });
  return result;
}

std::string replaced(const std::string& text, const std::string& what, const std::string& by) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = text.find(what, at);
    result += text.substr(at, found - at);
    if (found == std::string::npos) {
      break;
    }
    result += by;
    at = found + what.size();
  }
  return result;
}

std::string stripped(std::string_view text, bool left, bool right) {
  text.remove_prefix(left ? leading_space(text) : 0);
  text.remove_suffix(right ? trailing_space(text) : 0);
  return std::string(text);
}

}  // namespace

Normalizer::Normalizer(const json& value, const Refuse& refuse) {
  if (!value.is_null()) {
    add(value, refuse);
  }
}

void Normalizer::add(const json& value, const Refuse& refuse) {
  const json type = value.is_object() ? value.value("type", json()) : json();
  if (!type.is_string()) {
    refuse("normalizer has no type");
  }
  const auto name = type.get<std::string>();
  const auto text_at = [&](const char* key) {
    const json text = value.value(key, json());
    if (!text.is_string() || text.get_ref<const std::string&>().empty()) {
      refuse(fmt::format("normalizer {}: {} isn't text", name, key));
    }
    return text.get<std::string>();
  };
  if (name == "Sequence" && value.value("normalizers", json()).is_array()) {
    for (const json& part : value["normalizers"]) {
      add(part, refuse);
    }
  } else if (const auto limit = unchanged_below(name)) {
    steps_.emplace_back([name, limit](const std::string& text) {
      for_each_code_point(text, name, *limit, [](CodePoint) {});
      return text;
    });
  } else if (name == "Lowercase") {
    steps_.emplace_back(lowercase);
  } else if (name == "Prepend") {
    steps_.emplace_back([before = text_at("prepend")](const std::string& text) {
      return text.empty() ? text : before + text;
    });
  } else if (name == "Replace" && value.value("pattern", json()).is_object() &&
             value["pattern"].value("String", json()).is_string() &&
             value["pattern"]["String"] != "" && value.value("content", json()).is_string()) {
    steps_.emplace_back([what = value["pattern"]["String"].get<std::string>(),
                         by = value["content"].get<std::string>()](const std::string& text) {
      return replaced(text, what, by);
    });
  } else if (name == "Strip" && value.value("strip_left", json()).is_boolean() &&
             value.value("strip_right", json()).is_boolean()) {
    steps_.emplace_back([left = value["strip_left"].get<bool>(),
                         right = value["strip_right"].get<bool>()](const std::string& text) {
      return stripped(text, left, right);
    });
  } else {
    refuse(fmt::format("normalizer {} isn't known in this form", shown(value.dump(-1, ' ', true))));
  }
}

std::string Normalizer::apply(std::string_view text) const {
  std::string result(text);
  for (const Step& step : steps_) {
    result = step(result);
  }
  return result;
}

}  // namespace drift
