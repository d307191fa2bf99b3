#pragma once

// From what the report's structs hold to JSON, by the keys that report_fields.hpp lists: the other
// direction of field_reader.hpp. Each append() writes one type.

#include <cmath>
#include <concepts>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driftaudit/report.hpp"

#include "report/report_fields.hpp"
#include "report/utf8.hpp"

namespace drift {

template <class T>
void append_object(std::string& out, const T& object);

inline void append(std::string& out, bool value) { out += value ? "true" : "false"; }

template <class T>
requires std::integral<T>
void append(std::string& out, T value) { fmt::format_to(std::back_inserter(out), "{}", value); }

/// The shortest digits that read back to the same number of its own type.
template <class T>
requires std::floating_point<T>
void append(std::string& out, T value) {
  if (std::isnan(value)) {
    out += "\"nan\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"inf\"" : "\"-inf\"";
  } else if (value == 0) {  // as an integer, -0 would lose its sign
    out += std::signbit(value) ? "-0.0" : "0";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

inline void append_text(std::string& out, const std::string& utf8) {
  out += nlohmann::json(utf8).dump();
}

inline void append(std::string& out, const std::string& bytes) {
  append_text(out, escape_invalid(bytes));
}

template <class T>
requires std::is_enum_v<T>
void append(std::string& out, T value) {
  append_text(out, names_of(value).at(static_cast<std::size_t>(value)));
}

inline void append(std::string& out, const TokenLogit& entry) {
  fmt::format_to(std::back_inserter(out), "[{},", entry.id);
  append(out, entry.logit);
  out += ']';
}

template <class T>
requires requires(std::string& out, const T& object) {
  append_object(out, object);
} && std::is_class_v<T>
void append(std::string& out, const T& object) { append_object(out, object); }

template <class T>
void append(std::string& out, const std::optional<T>& value) {
  if (value) {
    append(out, *value);
  } else {
    out += "null";
  }
}

template <class T>
void append(std::string& out, const std::vector<T>& values) {
  out += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    out += i > 0 ? "," : "";
    append(out, values[i]);
  }
  out += ']';
}

template <class T>
void append(std::string& out, const std::map<std::string, T>& entries) {
  out += '{';
  const char* comma = "";
  for (const auto& [key, value] : entries) {
    out += std::exchange(comma, ",");
    append(out, key);
    out += ':';
    append(out, value);
  }
  out += '}';
}

/// Visits fields() and writes them.
class FieldWriter {
 public:
  explicit FieldWriter(std::string& out) : out_(out) {}

  template <class T>
  void operator()(const char* key, const T& value) {
    begin(key);
    append(out_, value);
  }
  template <class T>
  void if_set(const char* key, const std::optional<T>& value) {
    if (value) {
      (*this)(key, *value);
    }
  }
  void if_set(const char* key, const std::map<std::string, double>& entries) {
    if (!entries.empty()) {
      (*this)(key, entries);
    }
  }
  template <class T>
  void if_any(const char* key, const std::vector<T>& values) {
    if (!values.empty()) {
      (*this)(key, values);
    }
  }
  void if_not_zero(const char* key, std::uint64_t count) {
    if (count != 0) {
      (*this)(key, count);
    }
  }
  void if_above_one(const char* key, std::uint32_t count) {
    if (count > 1) {
      (*this)(key, count);
    }
  }
  template <class T>
  void unless(const T& usual, const char* key, const T& value) {
    if (value != usual) {
      (*this)(key, value);
    }
  }
  void from_one(const char* key, std::uint32_t count) { (*this)(key, count); }
  void digest(const char* key, const std::string& digits) { (*this)(key, digits); }
  void digest(const char* key, const std::optional<std::string>& digits) { (*this)(key, digits); }
  void hex_if_set(const char* key, const std::optional<std::uint64_t>& value) {
    if (value) {
      (*this)(key, fmt::format("{:016x}", *value));
    }
  }
  void checksum(const char* key, const Step& step) {
    (*this)(key, fmt::format("{:016x}", step_checksum(step)));
  }
  void one_of(const char* key, const std::string& name, std::initializer_list<const char*>) {
    (*this)(key, name);
  }
  void one_of_if_there(const char* key, const std::string& name,
                       std::initializer_list<const char*> names) {
    if (!name.empty()) {
      one_of(key, name, names);
    }
  }
  void side(const char* key, char side) { (*this)(key, std::string(1, side)); }

  void begin(const char* key) {
    out_ += std::exchange(comma_, ",");
    out_ += '"';
    out_ += key;
    out_ += "\":";
  }

 private:
  std::string& out_;
  const char* comma_ = "";
};

template <class T>
void append_object(std::string& out, const T& object) {
  out += '{';
  FieldWriter writer(out);
  fields(writer, object);
  out += '}';
}

}  // namespace drift
