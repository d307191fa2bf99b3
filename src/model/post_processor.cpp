#include "model/post_processor.hpp"

#include <fmt/core.h>

#include "model/shown.hpp"

namespace drift {
namespace {

using nlohmann::json;
using Refuse = std::function<void(const std::string&)>;

std::int32_t id_from(const json& value, const Refuse& refuse) {
  if (!value.is_number_integer() || value < 0 || value > (1 << 24)) {
    refuse(fmt::format("post_processor: {} is no id", shown(value.dump(-1, ' ', true))));
  }
  return value.get<std::int32_t>();
}

/// A pair of a token and its id.
std::int32_t marker(const json& processor, const char* key, const Refuse& refuse) {
  const json pair = processor.value(key, json());
  if (!pair.is_array() || pair.size() != 2) {
    refuse(fmt::format("post_processor.{} isn't a token and its id", key));
  }
  return id_from(pair[1], refuse);
}

void read_template(const json& processor, const Refuse& refuse, Surrounding& surrounding) {
  const json single = processor.value("single", json());
  const json tokens = processor.value("special_tokens", json::object());
  if (!single.is_array() || !tokens.is_object()) {
    refuse("post_processor.single isn't a list");
  }
  std::vector<std::int32_t> before;
  std::vector<std::int32_t> after;
  bool seen = false;
  for (const json& piece : single) {
    if (piece.is_object() && piece.size() == 1 && piece.contains("Sequence") && !seen) {
      seen = true;
      continue;
    }
    const json special = piece.is_object() ? piece.value("SpecialToken", json()) : json();
    const json name = special.is_object() ? special.value("id", json()) : json();
    const json ids = name.is_string() && tokens.contains(name.get<std::string>())
                         ? tokens[name.get<std::string>()].value("ids", json())
                         : json();
    if (!ids.is_array()) {
      refuse(
          fmt::format("post_processor.single: {} isn't known", shown(piece.dump(-1, ' ', true))));
    }
    for (const json& id : ids) {
      (seen ? after : before).push_back(id_from(id, refuse));
    }
  }
  if (!seen) {
    refuse("post_processor.single leaves the text out");
  }
  surrounding.before.insert(surrounding.before.begin(), before.begin(), before.end());
  surrounding.after.insert(surrounding.after.end(), after.begin(), after.end());
}

void read(const json& value, const Refuse& refuse, Surrounding& surrounding) {
  const json type = value.is_object() ? value.value("type", json()) : json();
  if (type == "ByteLevel") {
    return;
  }
  if (type == "RobertaProcessing" || type == "BertProcessing") {
    surrounding.before.insert(surrounding.before.begin(), marker(value, "cls", refuse));
    surrounding.after.push_back(marker(value, "sep", refuse));
  } else if (type == "TemplateProcessing") {
    read_template(value, refuse, surrounding);
  } else if (type == "Sequence" && value.value("processors", json()).is_array()) {
    for (const json& part : value["processors"]) {
      read(part, refuse, surrounding);
    }
  } else {
    refuse(fmt::format("post_processor {} isn't known", shown(type.dump(-1, ' ', true))));
  }
}

}  // namespace

Surrounding read_post_processor(const json& value, const Refuse& refuse) {
  Surrounding surrounding;
  if (!value.is_null()) {
    read(value, refuse, surrounding);
  }
  return surrounding;
}

}  // namespace drift
