// The ids must be those that the `tokenizers` package gives.

#define PCRE2_CODE_UNIT_WIDTH 8
#include <iterator>
#include <pcre2.h>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/process.hpp"
#include "driftaudit/tokenizer.hpp"

#include "model/test_data.hpp"
#include "shared/python.hpp"

namespace drift {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

constexpr char32_t kEnd = 0x110000;

/// Whether this machine's PCRE2 knows the code point.
bool is_assigned_in_pcre2(char32_t c) {
  static pcre2_code* const assigned = [] {
    int error = 0;
    PCRE2_SIZE offset = 0;
    return pcre2_compile(reinterpret_cast<PCRE2_SPTR>("\\P{Cn}"), PCRE2_ZERO_TERMINATED,
                         PCRE2_UTF | PCRE2_UCP | PCRE2_ANCHORED, &error, &offset, nullptr);
  }();
  static pcre2_match_data* const data = pcre2_match_data_create(1, nullptr);
  const std::string text = test::utf8(c);
  return pcre2_match(assigned, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0, data,
                     nullptr) > 0;
}

class TokenizerReference : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto python3 = test::find_python3();
    if (!python3) {
      GTEST_SKIP() << "no python3 of at least 3.8 in PATH to run the tokenizers package";
    }
    python_ = test::test_venv(*python3, "tokenizers", {tests() / "tokenizers.txt"}) / "bin/python";
  }

  static fs::path tests() { return test::source_folder() / "tests/model"; }

  json reference(const std::vector<std::string>& arguments) const {
    const fs::path out = folder_.path() / "out.json";
    Command command{{python_.string(), (tests() / "encode.py").string()}, std::nullopt, {}};
    command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
    command.arguments.push_back(out.string());
    const ProcessResult result = run_process(command);
    if (!result.end.ok()) {
      throw std::runtime_error(result.err);
    }
    return json::parse(read_file(out));
  }

  /// The code points that both sides know.
  std::vector<char32_t> shared_code_points() const {
    std::vector<char32_t> result;
    for (const json& range : reference({"assigned"})) {
      for (char32_t c = range[0]; c <= range[1].get<char32_t>(); ++c) {
        if (is_assigned_in_pcre2(c)) {
          result.push_back(c);
        }
      }
    }
    return result;
  }

  void expect_same(const fs::path& folder, const std::vector<std::string>& texts) const {
    write_file(folder_.path() / "texts.json", json(texts).dump());
    const json expected = reference({folder.string(), (folder_.path() / "texts.json").string()});
    const Tokenizer tokenizer = Tokenizer::from_folder(folder);
    ASSERT_EQ(expected.size(), texts.size());
    int wrong = 0;
    for (std::size_t i = 0; i < texts.size() && wrong < 5; ++i) {
      const Ids ids = tokenizer.encode(texts[i]);
      EXPECT_EQ(ids, expected[i].get<Ids>()) << json(texts[i]).dump(-1, ' ', true);
      EXPECT_EQ(tokenizer.decode(ids), texts[i]);
      wrong += ids != expected[i].get<Ids>();
    }
  }

  fs::path vocabulary() const { return test::source_folder() / "models" / GetParam(); }

  TemporaryFolder folder_ = test::scratch_folder();
  fs::path python_;
};

const std::vector<std::string>& written_texts() {
  static const std::vector<std::string> texts = {
      "",
      " ",
      "  ",
      "\n",
      "The quick brown fox jumps over the lazy dog.",
      "I'm he's we've they'll you'd don't we're 'tis ''s 's'",
      "I'M HE'S WE'VE THEY'LL YOU'D DON'T WE'RE 'S'T'RE 'Ve 'lL",
      "I’m he’s we’ve they’ll you’d don’t ‘quoted’",
      "def f(x):\n\treturn  x**2  # two\n\n\n    if x==1:\r\n\tpass\r",
      "tab\tnewline\nreturn\rform\fvertical\v end   ",
      "a\xc2\x85 b\xc2\xa0 c\xe1\x9a\x80 d\xe1\xa0\x8e e\xe2\x80\x8b f\xe2\x80\xa8 g\xe2\x80\xa9 h",
      "\xe2\x80\x80\xe2\x80\x81\xe2\x80\x8a\xe2\x80\xaf\xe2\x81\x9f\xe3\x80\x80\xef\xbb\xbf x",
      "a\x1c b\x1d c\x1e d\x1f e\x1c\x1d\x1e\x1f f\x01\x02\x7f g\x1b[0m",
      "один два 三 四 ４５ ٣٤ १२ Ⅷ ½ ²³ ① 𝟘𝟙 ໑໒ 1234567890",
      "שלום עולם مرحبا بالعالم \u202eright-to-left\u202c ABC אבג",
      "日本語のテキスト。中文文本，標點「符號」！한국어 텍스트 ไทย ภาษา",
      "e\u0301 n\u0303 a\u0308\u0323 \u0301 \u0301alone क\u094dष ก\u0e33",
      "👍🏽 👩‍👩‍👧‍👦 🇫🇷🇩🇪 "
      "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f "
      "❤️ 1️⃣ 🤷🏿‍♀️",
      "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐍈𐌰 𓀀𓂀 ﷽ ﬁ ǅ ß ẞ İı",
      "<|endoftext|>",
      "a <|endoftext|> b",
      "  <|endoftext|>  <|endoftext|><|endoftext|>\n",
      "<|endoftext|<|endoftext|>|> <|ENDOFTEXT|> <|endoftext",
      "price: $3.50, 50% off!!! (really?) [no] {x} ~`@#^&*_+=|\\/<>",
      "supercalifragilisticexpialidocious antidisestablishmentarianism",
      "http://example.com/a?b=c&d=%20e#f user@example.com 2022-01-31T23:59:59Z",
  };
  return texts;
}

/// Texts put together from pieces that meet at random: what no list of whole sentences covers.
std::vector<std::string> random_texts(const std::vector<char32_t>& code_points) {
  const std::vector<std::string> pieces = {" ",      "  ",
                                           "   ",    "\n",
                                           "\t",     "\r\n",
                                           "\u00a0", "\u2003",
                                           "\u3000", "\u0085",
                                           "\u180e", "\x1c",
                                           "'s",     "'t",
                                           "'ll",    "'RE",
                                           "’s",     "'",
                                           "\"",     ".",
                                           ",",      "...",
                                           "-",      "the",
                                           "The",    "ing",
                                           "x",      "qu",
                                           "é",      "\u0301",
                                           "7",      "42",
                                           "٣",      "½",
                                           "日",     "本",
                                           "안녕",   "ש",
                                           "م",      "👍",
                                           "🏽",   "\u200d",
                                           "\ufe0f", "🇫",
                                           "🇷",      "<|endoftext|>",
                                           "<|",     "|>",
                                           "\x01"};
  std::mt19937 random(20220101);
  std::vector<std::string> texts;
  for (int i = 0; i < 4000; ++i) {
    std::string text;
    for (std::size_t length = random() % 24; length > 0; --length) {
      const bool any = random() % 4 == 0;
      text += any ? test::utf8(code_points[random() % code_points.size()])
                  : pieces[random() % pieces.size()];
    }
    texts.push_back(text);
  }
  return texts;
}

TEST_P(TokenizerReference, AgreesOnWrittenTexts) { expect_same(vocabulary(), written_texts()); }

TEST_P(TokenizerReference, AgreesOnEveryWhitespaceBetweenEverything) {
  std::vector<std::string> texts;
  for (const char32_t c : std::u32string(
           U"\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\u00a0\u1680\u180e\u2000\u2001\u2002\u2003\u2004\u2005"
           U"\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u2028\u2029\u202f\u205f\u2060\u3000"
           U"\ufeff")) {
    const std::string s = test::utf8(c);
    for (const std::string before : {"", "a", "1", "!", " ", "\n"}) {
      for (const std::string after : {"", "b", "2", "?", " ", "\n"}) {
        texts.push_back(before + s + after);
        texts.push_back(before + s + s + s + after);
        texts.push_back(before + " " + s + " " + after + "b");
      }
    }
  }
  expect_same(vocabulary(), texts);
}

TEST_P(TokenizerReference, AgreesOnEveryCodePointThatBothKnow) {
  const std::vector<char32_t> code_points = shared_code_points();
  ASSERT_GT(code_points.size(), 250'000u);  // Unicode 12: 137,929 and 137,468 of private use
  std::vector<std::string> texts(1);
  for (const char32_t c : code_points) {
    const bool one_of_many = c >= 0xf0000 && c % 64 != 0;  // planes of private use
    if (!one_of_many) {
      texts.back() += "a" + test::utf8(c) + " " + test::utf8(c) + "1" + test::utf8(c);
    }
    if (texts.back().size() > 600) {
      texts.emplace_back();
    }
  }
  expect_same(vocabulary(), texts);
}

TEST_P(TokenizerReference, AgreesOnTextsPutTogetherAtRandom) {
  expect_same(vocabulary(), random_texts(shared_code_points()));
}

TEST_P(TokenizerReference, AgreesOnLongWords) {
  std::mt19937 random(7);
  std::string letters;
  for (int i = 0; i < 20'000; ++i) {
    letters.push_back("etaoinshrdlu"[random() % 12]);
  }
  expect_same(vocabulary(), {letters, std::string(5000, 'a'), std::string(5000, ' '),
                             std::string(5001, '='), std::string(3000, '\n') + "x"});
}

TEST_P(TokenizerReference, AgreesOnTheSameTokenizerAsOneFile) {
  json merges = json::array();
  const std::string text = read_file(vocabulary() / "merges.txt");
  std::size_t at = text.find('\n') + 1;  // past "#version"
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    merges.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  const json tokens = json::parse(read_file(vocabulary() / "vocab.json"));
  const auto added = [](const std::string& content, const json& id, bool normalized) {
    return json{
        {"id", id},        {"content", content},       {"single_word", false}, {"lstrip", false},
        {"rstrip", false}, {"normalized", normalized}, {"special", normalized}};
  };
  const std::size_t next = tokens.size();
  const json file = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens",
       {added("<|endoftext|>", tokens["<|endoftext|>"], true), added("<|end", next, false),
        added("text|> ", next + 1, false), added("<|endof", next + 2, true)}},
      {"normalizer", nullptr},
      {"pre_tokenizer",
       {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
      {"post_processor",
       {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", false}}},
      {"decoder", {{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}}},
      {"model",
       {{"type", "BPE"},
        {"dropout", nullptr},
        {"unk_token", nullptr},
        {"continuing_subword_prefix", ""},
        {"end_of_word_suffix", ""},
        {"fuse_unk", false},
        {"vocab", tokens},
        {"merges", merges}}}};
  write_file(folder_.path() / "tokenizer.json", file.dump());
  std::vector<std::string> texts = written_texts();
  texts.push_back("x<|endoftext|> <|endof<|endtext|>  y <|endoftext|>text|> ");
  expect_same(folder_.path(), texts);
}

INSTANTIATE_TEST_SUITE_P(OfVocabulary, TokenizerReference, ::testing::Values("mini", "gpt2-vocab"),
                         [](const auto& tested) {
                           return std::string(tested.param) == "mini" ? "Mini" : "Gpt2";
                         });

}  // namespace
}  // namespace drift
