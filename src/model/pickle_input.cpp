#include "model/pickle_input.hpp"

#include <charconv>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/shown.hpp"

namespace drift::pickle {
namespace {

constexpr std::size_t kMaxText = std::size_t{1} << 16;

}  // namespace

unsigned char Input::opcode() {
  opcode_at_ = at_;
  return number<unsigned char>();
}

std::span<const std::byte> Input::take(std::uint64_t size) {
  if (size > bytes_.size() - at_) {
    fail("the pickle ends in the middle", "the file looks truncated; fetch or copy it again");
  }
  const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(size));
  at_ += taken.size();
  return taken;
}

std::string Input::text(std::uint64_t size) {
  if (size > kMaxText) {
    damaged(fmt::format("a text of {} bytes, too long for a state dict", size));
  }
  const auto taken = take(size);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}

std::string Input::line() {
  std::string result;
  for (char c = number<char>(); c != '\n'; c = number<char>()) {
    if (result.size() == kMaxText) {
      damaged("a line too long for a state dict");
    }
    result += c;
  }
  return result;
}

std::int64_t Input::line_number() { return parse_number(line()); }

std::int64_t Input::parse_number(std::string_view digits) const {
  std::int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end) {
    damaged(fmt::format("\"{}\" is no number", shown(digits)));
  }
  return value;
}

void Input::fail(const std::string& what, const std::string& hint) const {
  throw usage_error(fmt::format("{}: byte {}: {}", where_, opcode_at_, what), hint);
}

void Input::damaged(const std::string& what) const {
  fail(what, "the file is damaged or no pickle of a state dict");
}

}  // namespace drift::pickle
