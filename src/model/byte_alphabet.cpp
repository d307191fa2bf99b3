#include "model/byte_alphabet.hpp"

#include <array>
#include <unordered_map>

namespace drift {
namespace {

struct Alphabet {
  std::array<std::string, 256> letters;
  std::unordered_map<std::string, char> bytes;

  Alphabet() {
    unsigned next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
      letters[byte] = utf8(printable ? byte : next++);
      bytes.emplace(letters[byte], static_cast<char>(byte));
    }
  }

  /// Enough for this alphabet, which ends below U+0800.
  static std::string utf8(unsigned code_point) {
    if (code_point < 0x80) {
      return std::string(1, static_cast<char>(code_point));
    }
    return {static_cast<char>(0xc0 | (code_point >> 6)),
            static_cast<char>(0x80 | (code_point & 0x3f))};
  }
};

const Alphabet& alphabet() {
  static const Alphabet the_alphabet;
  return the_alphabet;
}

}  // namespace

const std::string& letter_of_byte(unsigned char byte) { return alphabet().letters.at(byte); }

std::optional<std::string> bytes_of_letters(std::string_view letters) {
  std::string result;
  while (!letters.empty()) {
    const std::size_t length = static_cast<unsigned char>(letters[0]) < 0x80 ? 1 : 2;
    const auto found = alphabet().bytes.find(std::string(letters.substr(0, length)));
    if (found == alphabet().bytes.end()) {
      return std::nullopt;
    }
    result.push_back(found->second);
    letters.remove_prefix(length);
  }
  return result;
}

}  // namespace drift
