#pragma once

// From JSON values to what the report's structs hold, by the keys that report_fields.hpp lists.
// Each take() reads one type; what it can't read is an error (usage) with the JSON pointer.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include <fmt/core.h>

#include "driftaudit/report.hpp"

#include "report/json_value.hpp"
#include "report/report_fields.hpp"
#include "report/utf8.hpp"

namespace drift {

[[noreturn]] inline void wrong_kind(const Place& place, const JsonValue& value,
                                    const char* expected) {
  throw place.error(fmt::format("{} where {} is expected", kind_name(value.kind), expected));
}

inline const JsonValue& expect(const Place& place, const JsonValue& value, JsonValue::Kind kind) {
  if (value.kind != kind) {
    wrong_kind(place, value, kind_name(kind));
  }
  return value;
}

template <class T>
void take_object(const Place& place, const JsonValue& value, T& object);

inline void take(const Place& place, const JsonValue& value, bool& to) {
  to = expect(place, value, JsonValue::Kind::kBool).truth;
}

/// All of a report's integers count or name something: none is negative.
template <class T>
requires std::integral<T>
void take(const Place& place, const JsonValue& value, T& to) {
  expect(place, value, JsonValue::Kind::kInteger);
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  if (value.negative || value.magnitude > largest) {
    throw place.error(fmt::format("a number outside 0 to {}", largest));
  }
  to = static_cast<T>(value.magnitude);
}

template <class T>
T parsed(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::kInteger) {
    const auto magnitude = static_cast<T>(value.magnitude);
    return value.negative ? -magnitude : magnitude;
  }
  if constexpr (std::is_same_v<T, float>) {
    return std::strtof(value.text.c_str(), nullptr);
  } else {
    return value.number;
  }
}

template <class T>
requires std::floating_point<T>
void take(const Place& place, const JsonValue& value, T& to) {
  if (value.kind == JsonValue::Kind::kText) {
    if (value.text != "nan" && value.text != "inf" && value.text != "-inf") {
      throw place.error(R"(text that isn't "nan", "inf" or "-inf" where a number is expected)");
    }
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    to = value.text == "nan"   ? std::numeric_limits<T>::quiet_NaN()
         : value.text == "inf" ? kInfinity
                               : -kInfinity;
    return;
  }
  if (value.kind != JsonValue::Kind::kInteger && value.kind != JsonValue::Kind::kFloat) {
    wrong_kind(place, value, "a number");
  }
  to = parsed<T>(value);
  if (!std::isfinite(to)) {
    throw place.error("a number out of range");
  }
}

inline void take(const Place& place, const JsonValue& value, std::string& to) {
  to = unescape_bytes(expect(place, value, JsonValue::Kind::kText).text);
}

template <class T>
requires std::is_enum_v<T>
void take(const Place& place, const JsonValue& value, T& to) {
  const auto& names = names_of(T{});
  const auto at =
      std::find(names.begin(), names.end(), expect(place, value, JsonValue::Kind::kText).text);
  if (at == names.end()) {
    throw place.error(fmt::format("unknown value \"{}\"", visible(value.text)));
  }
  to = static_cast<T>(at - names.begin());
}

inline void take(const Place& place, const JsonValue& value, TokenLogit& to) {
  if (expect(place, value, JsonValue::Kind::kArray).items.size() != 2) {
    throw place.error("not a pair of id and logit");
  }
  take(Place(place, 0), value.items[0], to.id);
  take(Place(place, 1), value.items[1], to.logit);
}

template <class T>
requires std::is_class_v<T>
void take(const Place& place, const JsonValue& value, T& to) { take_object(place, value, to); }

template <class T>
void take(const Place& place, const JsonValue& value, std::optional<T>& to) {
  if (value.kind == JsonValue::Kind::kNull) {
    to.reset();
  } else {
    take(place, value, to.emplace());
  }
}

template <class T>
void take(const Place& place, const JsonValue& value, std::vector<T>& to) {
  expect(place, value, JsonValue::Kind::kArray);
  to.resize(value.items.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    take(Place(place, i), value.items[i], to[i]);
  }
}

template <class T>
void take(const Place& place, const JsonValue& value, std::map<std::string, T>& to) {
  expect(place, value, JsonValue::Kind::kObject);
  for (std::size_t i = 0; i < value.keys.size(); ++i) {
    take(Place(place, value.keys[i]), value.items[i], to[unescape_bytes(value.keys[i])]);
  }
}

inline bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Visits fields() and reads them; done() refuses keys that none asked for.
class FieldReader {
 public:
  FieldReader(const Place& place, const JsonValue& object)
      : place_(place), object_(expect(place, object, JsonValue::Kind::kObject)) {}

  template <class T>
  void operator()(const char* key, T& to) {
    take(Place(place_, key), required(key), to);
  }
  template <class T>
  void if_set(const char* key, std::optional<T>& to) {
    if (const JsonValue* value = find(key)) {
      take(Place(place_, key), *value, to.emplace());
    }
  }
  void if_set(const char* key, std::map<std::string, double>& to) {
    if (const JsonValue* value = find(key)) {
      take(Place(place_, key), *value, to);
    }
  }
  template <class T>
  void if_any(const char* key, std::vector<T>& to) {
    if_there(key, to);
  }
  void if_not_zero(const char* key, std::uint64_t& to) { if_there(key, to); }
  void if_above_one(const char* key, std::uint32_t& to) {
    if (find(key) != nullptr) {
      from_one(key, to);
    }
  }
  template <class T>
  void unless(T /*usual: what it holds already*/, const char* key, T& to) {
    if_there(key, to);
  }
  /// A value that keeps its default when the key is left out.
  template <class T>
  void if_there(const char* key, T& to) {
    if (const JsonValue* value = find(key)) {
      take(Place(place_, key), *value, to);
    }
  }
  void from_one(const char* key, std::uint32_t& to) {
    (*this)(key, to);
    if (to == 0) {
      throw Place(place_, key).error("0 where counting begins at 1");
    }
  }
  void digest(const char* key, std::string& to) {
    (*this)(key, to);
    if (!is_hex(to, 32)) {
      throw Place(place_, key).error("not 32 hexadecimal digits");
    }
  }
  void digest(const char* key, std::optional<std::string>& to) {
    (*this)(key, to);
    if (to && !is_hex(*to, 32)) {
      throw Place(place_, key).error("not 32 hexadecimal digits");
    }
  }
  void hex_if_set(const char* key, std::optional<std::uint64_t>& to) {
    const JsonValue* value = find(key);
    if (value == nullptr) {
      return;
    }
    const std::string& text = expect(Place(place_, key), *value, JsonValue::Kind::kText).text;
    if (!is_hex(text, 16)) {
      throw Place(place_, key).error("not 16 hexadecimal digits");
    }
    std::from_chars(text.data(), text.data() + text.size(), to.emplace(), 16);
  }
  /// Of a step that is read otherwise; reports of before checksums have none.
  void checksum(const char* key, const Step& step) {
    std::optional<std::uint64_t> written;
    hex_if_set(key, written);
    if (written && *written != step_checksum(step)) {
      throw place_.error("the step's figures contradict its checksum",
                         "the report was edited or damaged; write it again");
    }
  }
  void one_of(const char* key, std::string& to, std::initializer_list<const char*> names) {
    (*this)(key, to);
    if (std::find(names.begin(), names.end(), to) == names.end()) {
      throw Place(place_, key).error(fmt::format("unknown value \"{}\"", visible(to)));
    }
  }
  void one_of_if_there(const char* key, std::string& to, std::initializer_list<const char*> names) {
    if (object_.find(key) != nullptr) {
      one_of(key, to, names);
    } else {
      find(key);
    }
  }
  void side(const char* key, char& to) {
    std::string name;
    one_of(key, name, {"A", "B"});
    to = name[0];
  }

  /// The value of a key that may be left out, or null.
  const JsonValue* find(const char* key) {
    asked_.emplace_back(key);
    return object_.find(key);
  }

  const JsonValue& required(const char* key) {
    const JsonValue* value = find(key);
    if (value == nullptr) {
      throw Place(place_, key).error("missing");
    }
    return *value;
  }

  void done() const {
    for (const std::string& key : object_.keys) {
      if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
        throw Place(place_, visible(key))
            .error("no such key in driftaudit/1", "a newer driftaudit may have written the report");
      }
    }
  }

 private:
  const Place& place_;
  const JsonValue& object_;
  std::vector<std::string_view> asked_;
};

template <class T>
void take_object(const Place& place, const JsonValue& value, T& object) {
  FieldReader reader(place, value);
  fields(reader, object);
  reader.done();
}

}  // namespace drift
