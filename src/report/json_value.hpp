#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/error.hpp"

namespace drift {

/// A JSON value that keeps its numbers' digits: a float32 is read from them, not by way of a
/// double.
struct JsonValue {
  enum class Kind { kNull, kBool, kInteger, kFloat, kText, kArray, kObject };

  Kind kind = Kind::kNull;
  bool truth = false;             ///< kBool
  bool negative = false;          ///< kInteger
  std::uint64_t magnitude = 0;    ///< kInteger
  double number = 0;              ///< kInteger, kFloat
  std::string text;               ///< kText; the digits of a kFloat
  std::vector<std::string> keys;  ///< kObject, in the file's order
  std::vector<JsonValue> items;   ///< of a kArray, or the values of `keys`

  /// The value of a key, or null.
  const JsonValue* find(std::string_view key) const;
};

/// What a kind is called in messages: "text", "a whole number", …
const char* kind_name(JsonValue::Kind kind);

/// Where a value stands: a chain from the file down, told as a JSON pointer when something is
/// wrong.
class Place {
 public:
  explicit Place(const std::string& file) : key_(file) {}
  Place(const Place& parent, const std::string& key) : parent_(&parent), key_(key) {}
  Place(const Place& parent, std::size_t index) : parent_(&parent), key_(std::to_string(index)) {}

  /// An error (usage): `FILE: POINTER: what`.
  Error error(const std::string& what, const std::string& hint = "") const;
  std::string pointer() const;
  const std::string& file() const { return parent_ == nullptr ? key_ : parent_->file(); }

 private:
  const Place* parent_ = nullptr;
  std::string key_;
};

/// An index that item `i` of `parent`'s list holds under `key`: refused where it isn't below
/// `size`. Errors (usage), with the place.
void require_index(const Place& parent, const char* list, std::size_t i, const char* key,
                   std::optional<std::uint64_t> index, std::size_t size);

/// What read_json() hands out as soon as it is complete, so that a report's steps, nearly all of
/// it, never stand in memory as JsonValues.
struct JsonEvents {
  /// An object that is an item of /runs/RUN/steps. It is left out of the value returned.
  std::function<void(std::size_t run, std::size_t index, const JsonValue& step)> on_step;
  /// The text at /schema.
  std::function<void(const std::string&)> on_schema;
};

/// Reads a whole JSON text. Errors (usage) name the file and the line: not JSON, cut short, a
/// number beyond a double, nested too deep; or the JSON pointer: a key that stands twice.
JsonValue read_json(const std::string& file, std::string_view text, const JsonEvents& events);

}  // namespace drift
