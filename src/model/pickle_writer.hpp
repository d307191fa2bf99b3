#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drift::pickle {

/// Writes a pickle of protocol 2, one opcode a call.
class Writer {
 public:
  Writer() : bytes_("\x80\x02") {}

  Writer& global(std::string_view module, std::string_view name);
  Writer& text(std::string_view value);
  Writer& integer(std::uint64_t value);
  /// An integer beyond 64 bits, as little-endian two's complement of at most 255 bytes.
  Writer& long_integer(std::string_view little_endian);
  Writer& boolean(bool value) { return opcode(value ? '\x88' : '\x89'); }
  Writer& none() { return opcode('N'); }
  Writer& mark() { return opcode('('); }
  Writer& empty_tuple() { return opcode(')'); }
  Writer& empty_dict() { return opcode('}'); }
  Writer& empty_list() { return opcode(']'); }
  Writer& tuple() { return opcode('t'); }         ///< of all since the mark
  Writer& append_items() { return opcode('e'); }  ///< all since the mark, to a list
  Writer& set_items() { return opcode('u'); }     ///< all since the mark, in a dict
  Writer& reduce() { return opcode('R'); }        ///< calls with a tuple of arguments
  Writer& build() { return opcode('b'); }         ///< gives a state
  Writer& persistent_id() { return opcode('Q'); }
  Writer& opcode(char code);
  Writer& integers(const std::vector<std::uint64_t>& values);  ///< a tuple of them

  /// The whole pickle.
  std::string finish() { return opcode('.').bytes_; }

 private:
  template <class T>
  void number(T value);

  std::string bytes_;
};

}  // namespace drift::pickle
