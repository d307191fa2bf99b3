#include "report/json_value.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/interrupt.hpp"

namespace drift {
namespace {

constexpr std::size_t kMaxDepth = 16;  // a report has 6

/// Builds JsonValues from nlohmann's events, and hands steps out as soon as they are whole.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(const std::string& file, std::string_view text, const JsonEvents& events)
      : file_(file), text_(text), events_(events) {}

  JsonValue root() { return std::move(root_); }

  bool null() override { return add({}); }
  bool boolean(bool value) override {
    JsonValue made;
    made.kind = JsonValue::Kind::kBool;
    made.truth = value;
    return add(std::move(made));
  }
  bool number_integer(number_integer_t value) override {
    const auto bits = static_cast<std::uint64_t>(value);
    return add_integer(value < 0, value < 0 ? 0 - bits : bits, static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return add_integer(false, value, static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t& digits) override {
    JsonValue made;
    made.kind = JsonValue::Kind::kFloat;
    made.number = value;
    made.text = digits;
    return add(std::move(made));
  }
  bool string(string_t& value) override {
    JsonValue made;
    made.kind = JsonValue::Kind::kText;
    made.text = std::move(value);
    if (stack_.size() == 1 && stack_[0].key == "schema") {
      events_.on_schema(made.text);
    }
    return add(std::move(made));
  }
  bool binary(binary_t&) override { return false; }  // not in JSON text

  bool start_object(std::size_t) override { return start(JsonValue::Kind::kObject); }
  bool start_array(std::size_t) override { return start(JsonValue::Kind::kArray); }
  bool end_array() override { return end(); }
  bool end_object() override { return end(); }

  bool key(string_t& key) override {
    Frame& frame = stack_.back();
    frame.key = std::move(key);
    if (!frame.seen.insert(frame.key).second) {
      throw usage_error(
          fmt::format("{}: {}/{}: the key stands twice", file_, pointer(), frame.key));
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const std::size_t end = std::min(position, text_.size());
    const auto line =
        1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    constexpr int kOutOfRange = 406;
    if (error.id == kOutOfRange) {
      throw usage_error(fmt::format("{}: line {}: a number out of range", file_, line));
    }
    if (position >= text_.size()) {
      throw usage_error(fmt::format("{}: line {}: ends too early", file_, line),
                        "the file looks truncated; write it again");
    }
    throw usage_error(fmt::format("{}: line {}: not JSON", file_, line),
                      "a report is what --out writes");
  }

 private:
  struct Frame {
    JsonValue value;
    std::string key;             // an object's, whose value comes next
    std::set<std::string> seen;  // an object's keys
    std::size_t handed_out = 0;  // an array's items that went to on_step
  };

  bool add_integer(bool negative, std::uint64_t magnitude, double number) {
    JsonValue made;
    made.kind = JsonValue::Kind::kInteger;
    made.negative = negative;
    made.magnitude = magnitude;
    made.number = number;
    return add(std::move(made));
  }

  bool start(JsonValue::Kind kind) {
    if (stack_.size() >= kMaxDepth) {
      throw usage_error(fmt::format("{}: {}: nested too deep for a report", file_, pointer()));
    }
    stack_.emplace_back();
    stack_.back().value.kind = kind;
    return true;
  }

  bool end() {
    JsonValue value = std::move(stack_.back().value);
    stack_.pop_back();
    if (value.kind == JsonValue::Kind::kObject && at_steps()) {
      Frame& steps = stack_.back();
      if (steps.handed_out % 1024 == 0) {
        throw_if_interrupted();
      }
      events_.on_step(stack_[1].value.items.size(), steps.handed_out, value);
      ++steps.handed_out;
      return true;
    }
    return add(std::move(value));
  }

  /// Whether what comes next is an item of /runs/N/steps.
  bool at_steps() const {
    using Kind = JsonValue::Kind;
    return stack_.size() == 4 && stack_[0].key == "runs" && stack_[1].value.kind == Kind::kArray &&
           stack_[2].key == "steps" && stack_[3].value.kind == Kind::kArray;
  }

  bool add(JsonValue value) {
    if (stack_.empty()) {
      root_ = std::move(value);
      return true;
    }
    Frame& frame = stack_.back();
    if (frame.value.kind == JsonValue::Kind::kObject) {
      frame.value.keys.push_back(frame.key);
    }
    frame.value.items.push_back(std::move(value));
    return true;
  }

  /// Of the innermost open array or object.
  std::string pointer() const {
    std::string pointer;
    for (std::size_t i = 0; i + 1 < stack_.size(); ++i) {
      const Frame& frame = stack_[i];
      pointer += '/';
      pointer += frame.value.kind == JsonValue::Kind::kObject
                     ? frame.key
                     : std::to_string(frame.value.items.size() + frame.handed_out);
    }
    return pointer;
  }

  const std::string& file_;
  std::string_view text_;
  const JsonEvents& events_;
  std::vector<Frame> stack_;
  JsonValue root_;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto at = std::find(keys.begin(), keys.end(), key);
  return at == keys.end() ? nullptr : &items[static_cast<std::size_t>(at - keys.begin())];
}

const char* kind_name(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
      return "true or false";
    case JsonValue::Kind::kInteger:
      return "a whole number";
    case JsonValue::Kind::kFloat:
      return "a number with a fraction";
    case JsonValue::Kind::kText:
      return "text";
    case JsonValue::Kind::kArray:
      return "an array";
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return "";
}

void require_index(const Place& parent, const char* list, std::size_t i, const char* key,
                   std::optional<std::uint64_t> index, std::size_t size) {
  if (index && *index >= size) {
    const Place list_place(parent, list);
    throw Place(Place(list_place, i), key).error("there is none of that index");
  }
}

std::string Place::pointer() const {
  return parent_ == nullptr ? "" : parent_->pointer() + "/" + key_;
}

Error Place::error(const std::string& what, const std::string& hint) const {
  const std::string at = pointer();
  return usage_error(at.empty() ? fmt::format("{}: {}", file(), what)
                                : fmt::format("{}: {}: {}", file(), at, what),
                     hint);
}

JsonValue read_json(const std::string& file, std::string_view text, const JsonEvents& events) {
  Builder builder(file, text, events);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.root();
}

}  // namespace drift
