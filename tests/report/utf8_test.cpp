#include "report/utf8.hpp"

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(EscapeInvalid, LeavesTextAlone) {
  EXPECT_EQ(escape_invalid("a\nb\\n é 漢 😀"), "a\nb\\n é 漢 😀");
}

TEST(EscapeInvalid, EscapesEachByteThatIsNoUtf8) {
  EXPECT_EQ(escape_invalid("a\xff"
                           "b"),
            "a\\xffb");
  EXPECT_EQ(escape_invalid("\xe2\x80"), "\\xe2\\x80");                    // cut short
  EXPECT_EQ(escape_invalid("\xc0\xaf"), "\\xc0\\xaf");                    // not the shortest form
  EXPECT_EQ(escape_invalid("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(escape_invalid("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
}

TEST(EscapeUnprintable, EscapesControlsToo) {
  EXPECT_EQ(escape_unprintable("a\n\x1b\x7f\xc2\x85é"), "a\\x0a\\x1b\\x7f\\xc2\\x85é");
}

TEST(UnescapeBytes, GivesBackAllBytes) {
  std::string bytes;
  for (int high = 0; high < 256; ++high) {
    for (const int low : {0, 10, 0x41, 0x5c, 0x78, 0x80, 0xbf, 0xc3, 0xe2, 0xff}) {
      bytes += static_cast<char>(high);
      bytes += static_cast<char>(low);
    }
  }
  bytes += R"(\x41 \\x41 \x \)";
  EXPECT_EQ(unescape_bytes(escape_invalid(bytes)), bytes);
  EXPECT_EQ(unescape_bytes(escape_unprintable(bytes)), bytes);
}

TEST(Visible, ShowsWhatWouldDisturbATerminal) {
  EXPECT_EQ(visible("A:\n\t\r\x1b[31m\xff é"), "A:\\n\\t\\r\\x1b[31m\\xff é");
  EXPECT_EQ(visible("\u202e\u2028"), "\\u202e\\u2028");
  EXPECT_EQ(visible("\u0085"), "\\x85");
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("é"), 1U);
  EXPECT_EQ(display_width("e\u0301"), 1U);  // a combining acute
  EXPECT_EQ(display_width("漢字"), 4U);
  EXPECT_EQ(display_width("ｱ"), 1U);  // half width
  EXPECT_EQ(display_width("…"), 1U);
}

TEST(DisplayWidth, TakesEmojiSequencesAsOne) {
  EXPECT_EQ(display_width("😀"), 2U);
  EXPECT_EQ(display_width("👍🏽"), 2U);      // with a skin tone
  EXPECT_EQ(display_width("👩\u200d💻"), 2U);      // joined
  EXPECT_EQ(display_width("\u2764\ufe0f"), 2U);  // a heart in emoji style
}

TEST(Shortened, CutsAtCharactersByColumns) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abcde…");
  EXPECT_EQ(shortened("漢字漢字", 6), "漢字…");
  EXPECT_EQ(shortened("abc", 0), "");
  EXPECT_EQ(shortened("abc", 1), "…");
}

TEST(ShortenedFront, KeepsTheEnd) {
  EXPECT_EQ(shortened_front("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened_front("abcdefg", 6), "…cdefg");
  EXPECT_EQ(shortened_front("漢字漢字", 6), "…漢字");
  EXPECT_EQ(shortened_front("abc", 0), "");
}

}  // namespace
}  // namespace drift
