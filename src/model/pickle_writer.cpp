#include "model/pickle_writer.hpp"

namespace drift::pickle {

template <class T>
void Writer::number(T value) {
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
}

Writer& Writer::opcode(char code) {
  bytes_ += code;
  return *this;
}

Writer& Writer::global(std::string_view module, std::string_view name) {
  bytes_ += 'c';
  bytes_.append(module).append("\n").append(name).append("\n");
  return *this;
}

Writer& Writer::text(std::string_view value) {
  bytes_ += 'X';
  number(static_cast<std::uint32_t>(value.size()));
  bytes_.append(value);
  return *this;
}

Writer& Writer::integer(std::uint64_t value) {
  if (value <= 0xFF) {
    bytes_ += 'K';
    number(static_cast<std::uint8_t>(value));
  } else if (value <= 0xFFFF) {
    bytes_ += 'M';
    number(static_cast<std::uint16_t>(value));
  } else if (value <= 0x7FFFFFFF) {
    bytes_ += 'J';
    number(static_cast<std::uint32_t>(value));
  } else {
    bytes_ += "\x8a\x09";  // nine bytes: a 64-bit value and its sign
    number(value);
    bytes_ += '\0';
  }
  return *this;
}

Writer& Writer::long_integer(std::string_view little_endian) {
  bytes_ += '\x8a';
  number(static_cast<std::uint8_t>(little_endian.size()));
  bytes_.append(little_endian);
  return *this;
}

Writer& Writer::integers(const std::vector<std::uint64_t>& values) {
  mark();
  for (const std::uint64_t value : values) {
    integer(value);
  }
  return tuple();
}

}  // namespace drift::pickle
