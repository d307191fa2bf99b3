#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace drift::pickle {

/// The bytes of a pickle, read one by one, and where its errors are said to be.
class Input {
 public:
  Input(std::span<const std::byte> bytes, std::size_t begin, std::string where)
      : bytes_(bytes), at_(begin), where_(std::move(where)) {}

  std::size_t at() const { return at_; }
  unsigned char opcode();

  std::span<const std::byte> take(std::uint64_t size);
  std::string text(std::uint64_t size);
  /// Up to the next newline, which is taken too.
  std::string line();
  std::int64_t line_number();

  template <class T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  /// Errors (usage) name the byte of the opcode that was read last.
  [[noreturn]] void fail(const std::string& what, const std::string& hint) const;
  [[noreturn]] void damaged(const std::string& what) const;
  std::int64_t parse_number(std::string_view digits) const;

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_;
  std::size_t opcode_at_ = 0;
  std::string where_;
};

}  // namespace drift::pickle
