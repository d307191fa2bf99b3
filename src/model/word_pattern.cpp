#include "model/word_pattern.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <memory>
#include <pcre2.h>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "model/code_points.hpp"

namespace drift {
namespace {

// Unicode's White_Space, which is what `tokenizers` means by \s. PCRE2's own \s also takes U+180E.
#define DRIFT_SPACES                                                                          \
  R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f})" \
  R"(\x{3000})"

constexpr const char* kWords =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^)" DRIFT_SPACES
    R"(\p{L}\p{N}]+|[)" DRIFT_SPACES R"(]+(?![^)" DRIFT_SPACES R"(])|[)" DRIFT_SPACES R"(]+)";

#undef DRIFT_SPACES

// Alphabetic, marks, digits, connectors and joiners. What is alphabetic without being a letter, a
// mark or a number's letter are the circled and squared letters.
constexpr const char* kWordCharacter =
    R"([\p{L}\p{Nl}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}\x{24b6}-\x{24e9}\x{1f130}-\x{1f149})"
    R"(\x{1f150}-\x{1f169}\x{1f170}-\x{1f189}])";

struct FreePcre {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
using Code = std::unique_ptr<pcre2_code, FreePcre>;
using MatchData = std::unique_ptr<pcre2_match_data, FreePcre>;

PCRE2_SPTR code_units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

Code compile(std::string_view pattern) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  Code code(pcre2_compile(code_units(pattern), pattern.size(), PCRE2_UTF | PCRE2_UCP, &error,
                          &offset, nullptr));
  if (code == nullptr) {
    throw trouble(fmt::format("pcre2 {}: no pattern for words: error {} at {}",
                              PCRE2_MAJOR * 100 + PCRE2_MINOR, error, offset),
                  "install a PCRE2 that is built with Unicode support");
  }
  // Only faster: without it (hardened kernels, other processors) pcre2_match interprets.
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
  return code;
}

MatchData match_data(const Code& code) {
  MatchData data(pcre2_match_data_create_from_pattern(code.get(), nullptr));
  if (data == nullptr) {
    throw std::bad_alloc();
  }
  return data;
}

bool matches(const Code& pattern, std::string_view text) {
  const MatchData data = match_data(pattern);
  return pcre2_match(pattern.get(), code_units(text), text.size(), 0,
                     PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED, data.get(), nullptr) >= 0;
}

}  // namespace

std::optional<std::size_t> invalid_utf8_at(std::string_view text) {
  // PCRE2 checks a subject before it matches, so matching nothing is its check.
  static const Code nothing = compile("");
  const MatchData data = match_data(nothing);
  const int found = pcre2_match(nothing.get(), code_units(text), text.size(), 0,
                                PCRE2_ANCHORED | PCRE2_NO_JIT, data.get(), nullptr);
  if (found >= 0) {
    return std::nullopt;
  }
  return pcre2_get_startchar(data.get());
}

void for_each_word(std::string_view text, const std::function<void(std::string_view)>& take) {
  static const Code pattern = compile(kWords);
  const MatchData data = match_data(pattern);
  std::size_t at = 0;
  while (at < text.size()) {
    const int found = pcre2_match(pattern.get(), code_units(text), text.size(), at,
                                  PCRE2_NO_UTF_CHECK, data.get(), nullptr);
    const PCRE2_SIZE* span = pcre2_get_ovector_pointer(data.get());
    if (found < 0 || span[0] != at || span[1] <= at) {  // every character is in some alternative
      throw trouble(fmt::format("pcre2: error {} at byte {} of a text", found, at));
    }
    take(text.substr(at, span[1] - at));
    at = span[1];
  }
}

bool is_number(std::string_view character) {
  static const Code pattern = compile(R"(\p{N})");
  return matches(pattern, character);
}

bool is_word_character(char32_t c) {
  static const Code pattern = compile(kWordCharacter);
  std::string text;
  append_utf8(c, text);
  return matches(pattern, text);
}

}  // namespace drift
