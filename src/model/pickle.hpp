#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drift::pickle {

/// A value's place among the values of one pickle.
using Ref = std::uint32_t;

enum class Kind {
  kNone,
  kBool,    ///< number
  kInt,     ///< number
  kBigInt,  ///< text: an integer beyond 64 bits, as written: decimal digits or little-endian bytes
  kFloat,   ///< a number nobody here asks for
  kText,    ///< text: a str, or the bytes of a Python 2 str
  kTuple,   ///< items
  kList,    ///< items
  kDict,    ///< items: key, value, key, value, …
  kGlobal,  ///< number: the rules' name for it
  kObject   ///< number: the rules' name for what a call or a persistent id gave
};

struct Value {
  Kind kind = Kind::kNone;
  std::int64_t number = 0;
  std::string text;
  std::vector<Ref> items;
};

using Values = std::vector<Value>;

/// What a pickle left, and where it ended.
struct Result {
  Values values;
  Ref root = 0;
  std::size_t end = 0;  ///< the byte after its STOP

  const Value& value() const { return values[root]; }
};

/// What a rule doesn't allow, in words that fit after "the pickle ".
struct Refusal {
  std::string what;
};

/// What a reader of pickles allows them to mean; a function refuses by throwing a Refusal, and
/// unpickle() adds where. By default nothing but plain values is allowed.
class Rules {
 public:
  Rules() = default;
  virtual ~Rules() = default;
  Rules(const Rules&) = delete;
  Rules& operator=(const Rules&) = delete;

  /// A number for a global that may be named, nothing for all others.
  virtual std::optional<std::int64_t> global(std::string_view name);
  /// What calling a global gives.
  virtual Value call(std::int64_t global, const Value& arguments, const Values& values);
  virtual Value persistent(const Value& id, const Values& values);
};

/// Runs the pickle that begins at `begin`, in an interpreter that holds plain values only: no
/// opcode imports or calls anything but what `rules` give a meaning. Protocols 0 to 5, the opcodes
/// that state dicts are made of. Memory is bounded by the number of values (2^20) and never taken
/// on a length's word. Errors (usage): "{where}: byte 12: …", counted from `bytes`' first.
Result unpickle(std::span<const std::byte> bytes, std::size_t begin, const std::string& where,
                Rules& rules);

}  // namespace drift::pickle
