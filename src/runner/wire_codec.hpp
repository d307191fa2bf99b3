#pragma once

// How a payload is put together and taken apart. Integers and floats are little-endian, as on every
// machine that a libtorch wheel exists for; a string or a vector is its length as u64 and its
// elements. Needs the standard library alone; valid C++17 and C++20.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace drift::wire {

/// No payload is longer, in bytes.
inline constexpr std::uint64_t kMaxPayload = std::uint64_t{1} << 30;

/// Builds a payload.
class Writer {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
    append(&value, sizeof value);
  }
  void text(const std::string& value) {
    number<std::uint64_t>(value.size());
    append(value.data(), value.size());
  }
  template <class T>
  void numbers(const std::vector<T>& values) {
    number<std::uint64_t>(values.size());
    append(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  void maybe(const std::optional<T>& value) {
    number<std::uint8_t>(value.has_value() ? 1 : 0);
    number<T>(value.value_or(T{}));
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void append(const void* data, std::size_t size) {
    if (size > 0) {
      bytes_.append(static_cast<const char*>(data), size);
    }
  }
  std::string bytes_;
};

/// Takes a payload apart; throws std::runtime_error when it is too short or too long.
class Reader {
 public:
  Reader(const char* data, std::size_t size) : at_(data), left_(size) {}
  explicit Reader(const std::string& bytes) : Reader(bytes.data(), bytes.size()) {}

  template <class T>
  T number() {
    T value;
    take(&value, sizeof value);
    return value;
  }
  std::string text() {
    std::string value(length(1), '\0');
    take(value.data(), value.size());
    return value;
  }
  template <class T>
  std::vector<T> numbers() {
    std::vector<T> values(length(sizeof(T)));
    take(values.data(), values.size() * sizeof(T));
    return values;
  }
  template <class T>
  std::optional<T> maybe() {
    const bool present = number<std::uint8_t>() != 0;
    const T value = number<T>();
    return present ? std::optional<T>(value) : std::nullopt;
  }
  void end() const {
    if (left_ != 0) {
      throw std::runtime_error("frame longer than its contents");
    }
  }

 private:
  std::size_t length(std::size_t element) {
    const auto count = number<std::uint64_t>();
    if (count > left_ / element) {
      throw std::runtime_error("frame shorter than its contents");
    }
    return static_cast<std::size_t>(count);
  }
  void take(void* to, std::size_t size) {
    if (size > left_) {
      throw std::runtime_error("frame shorter than its contents");
    }
    if (size > 0) {
      std::memcpy(to, at_, size);
    }
    at_ += size;
    left_ -= size;
  }
  const char* at_;
  std::size_t left_;
};

/// A list of structures.
template <class T>
void put(Writer& w, const std::vector<T>& list) {
  w.number<std::uint64_t>(list.size());
  for (const T& element : list) {
    put(w, element);
  }
}

template <class T>
void get(Reader& r, std::vector<T>& list) {
  const auto count = r.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    get(r, list.emplace_back());
  }
}

inline void put(Writer& w, const std::string& text) { w.text(text); }
inline void get(Reader& r, std::string& text) { text = r.text(); }

template <class T>
void put(Writer& w, const std::optional<T>& value) {
  w.number<std::uint8_t>(value ? 1 : 0);
  if (value) {
    put(w, *value);
  }
}

template <class T>
void get(Reader& r, std::optional<T>& value) {
  if (r.number<std::uint8_t>() != 0) {
    get(r, value.emplace());
  }
}

}  // namespace drift::wire
