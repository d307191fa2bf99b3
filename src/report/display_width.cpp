#include <clocale>
#include <cwchar>
#include <locale.h>

#include "report/utf8.hpp"

namespace drift {
namespace {

/// wcwidth() answers by the thread's locale; the program itself stays in "C".
class Utf8Locale {
 public:
  Utf8Locale() : locale_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ != nullptr) {
      before_ = ::uselocale(locale_);
    }
  }
  ~Utf8Locale() {
    if (locale_ != nullptr) {
      ::uselocale(before_);
      ::freelocale(locale_);
    }
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  ::locale_t locale_;
  ::locale_t before_ = nullptr;
};

constexpr char32_t kJoiner = 0x200d;
constexpr char32_t kEmojiStyle = 0xfe0f;

bool is_skin_tone(char32_t value) { return value >= 0x1f3fb && value <= 0x1f3ff; }

/// Adds up widths code point by code point; needs a Utf8Locale.
class WidthCounter {
 public:
  /// Columns so far, with this code point.
  std::size_t add(char32_t value) {
    if (value == kEmojiStyle && last_ == 1) {  // the character before it becomes an emoji
      ++columns_;
      last_ = 2;
    } else if (!joined_ && !(is_skin_tone(value) && last_ == 2)) {
      const int width = ::wcwidth(static_cast<wchar_t>(value));
      const std::size_t added = width < 0 ? 1 : static_cast<std::size_t>(width);
      columns_ += added;
      last_ = added > 0 ? added : last_;
    }
    joined_ = value == kJoiner;
    return columns_;
  }

 private:
  std::size_t columns_ = 0;
  std::size_t last_ = 0;
  bool joined_ = false;
};

}  // namespace

std::size_t display_width(std::string_view text) {
  const Utf8Locale locale;
  WidthCounter counter;
  std::size_t columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    columns = counter.add(point.value);
    at += point.length;
  }
  return columns;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (width == 0 || display_width(text) <= width) {
    return std::string(text.substr(0, width == 0 ? 0 : text.size()));
  }
  const Utf8Locale locale;
  WidthCounter counter;
  std::size_t end = 0;  // of what fits beside the ellipsis
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    at += point.length;
    if (counter.add(point.value) > width - 1) {
      break;
    }
    end = at;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string shortened_front(std::string_view text, std::size_t width) {
  if (width == 0 || display_width(text) <= width) {
    return std::string(text.substr(0, width == 0 ? 0 : text.size()));
  }
  while (!text.empty() && display_width(text) > width - 1) {
    text.remove_prefix(code_point_at(text, 0).length);
  }
  return "…" + std::string(text);
}

}  // namespace drift
