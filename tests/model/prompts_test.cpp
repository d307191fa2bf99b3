#include "driftaudit/prompts.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/process.hpp"

#include "model/test_data.hpp"
#include "shared/python.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ModelConfig gpt2_sizes() {
  ModelConfig config;
  config.vocab_size = 50257;
  config.n_positions = 1024;
  return config;
}

class Prompts : public ::testing::Test {
 protected:
  PromptSet load(const std::string& name) const {
    return load_prompts(name, tokenizer(), gpt2_sizes());
  }
  static const Tokenizer& tokenizer() {
    static const Tokenizer gpt2 = Tokenizer::from_folder(test::gpt2_vocabulary_folder());
    return gpt2;
  }
  std::string write(const std::string& text, const std::string& name = "mine.txt") const {
    const fs::path file = folder_.path() / name;
    write_file(file, text);
    return file.string();
  }
  std::vector<std::string> texts(const std::string& text, const std::string& name = "mine.txt") {
    std::vector<std::string> result;
    for (const Prompt& prompt : load(write(text, name)).prompts) {
      result.push_back(prompt.text);
    }
    return result;
  }
  void expect_refused(const std::string& text, const std::string& words,
                      const std::string& name = "mine.txt") const {
    const std::string file = write(text, name);
    try {
      load(file);
      FAIL() << "taken, though: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(file + ": " + words));
    }
  }

  test::ScopedEnvironment data_{"DRIFTAUDIT_DATA", test::source_folder().string()};
  TemporaryFolder folder_ = test::scratch_folder();
};

TEST_F(Prompts, OfEightAreTwoShorterThanEightTokensOfGpt2) {
  const PromptSet eight = load("eight");
  EXPECT_EQ(eight.name, "eight");
  ASSERT_EQ(eight.prompts.size(), 8u);
  std::vector<std::size_t> lengths;
  for (const Prompt& prompt : eight.prompts) {
    lengths.push_back(prompt.ids.size());
  }
  EXPECT_EQ(eight.prompts[0].text, "The capital of France is");
  EXPECT_EQ(lengths[0], 5u);
  EXPECT_EQ(eight.prompts[1].text, "Q: What is 17 times 23?\nA:");
  EXPECT_EQ(lengths[1], 11u);
  std::sort(lengths.begin(), lengths.end());
  EXPECT_EQ(lengths[0], 5u);
  EXPECT_EQ(lengths[1], 7u);
  EXPECT_GE(lengths[2], 8u);
}

TEST_F(Prompts, OfAliceAreTwoHundredDistinctOpenings) {
  const PromptSet alice = load("alice-200");
  std::set<std::string> distinct;
  for (const Prompt& prompt : alice.prompts) {
    distinct.insert(prompt.text);
  }
  EXPECT_EQ(alice.prompts.size(), 200u);
  EXPECT_EQ(distinct.size(), 200u);
  EXPECT_EQ(distinct.count("So she set to work"), 1u);
}

TEST_F(Prompts, OfAliceAreWhatTheirScriptCuts) {
  const auto python3 = test::find_python3();
  if (!python3) {
    GTEST_SKIP() << "no python3 of at least 3.8 in PATH to run the script";
  }
  const fs::path folder = test::source_folder() / "prompts";
  const ProcessResult result =
      run_process({{python3->string(), (folder / "alice-200.py").string()}, std::nullopt, {}});
  ASSERT_TRUE(result.end.ok()) << result.err;
  EXPECT_EQ(result.out, read_file(folder / "alice-200.txt"));
}

TEST_F(Prompts, AreOneALineWithEscapes) {
  EXPECT_THAT(texts("one\n\n  \t\r\n# two\r\n \\ttab\\x21\\n\\101\\u00e9\\U0001f600\\\\ \nlast"),
              ElementsAre("one", "# two", " \ttab!\nAé😀\\ ", "last"));
  EXPECT_THAT(texts("\xef\xbb\xbfone\n"), ElementsAre("one"));
  EXPECT_THAT(texts("\\a\\b\\f\\n\\r\\t\\v\\'\\\"\\?\\0\\x20"),
              ElementsAre(std::string("\a\b\f\n\r\t\v'\"?\0 ", 12)));
  EXPECT_THAT(texts("\\xc3\\xa9\n"), ElementsAre("é"));
}

TEST_F(Prompts, CarryTheIdsOfTheirText) {
  const PromptSet set = load(write("Hello world\n"));
  EXPECT_THAT(set.prompts.at(0).ids, ElementsAre(15496, 995));
  EXPECT_EQ(set.name, (folder_.path() / "mine.txt").string());
}

TEST_F(Prompts, AreTextsOrIdsInJson) {
  const std::string json = R"(["Hello\nworld", [15496, 995], {"text": "x"}, {"ids": [50256]}])";
  EXPECT_THAT(texts(json, "mine.json"),
              ElementsAre("Hello\nworld", "Hello world", "x", "<|endoftext|>"));
  EXPECT_THAT(load(write(json, "mine.json")).prompts.at(1).ids, ElementsAre(15496, 995));
}

TEST_F(Prompts, OfIdsThatEndWithinACharacterHaveAPrintableText) {
  const std::int32_t half = tokenizer().encode("💩").at(0);
  const PromptSet set = load(write("[[" + std::to_string(half) + "]]", "mine.json"));
  EXPECT_THAT(set.prompts.at(0).ids, ElementsAre(half));
  EXPECT_NO_THROW(nlohmann::json(set.prompts.at(0).text).dump());
  EXPECT_THAT(set.prompts.at(0).text, HasSubstr("\ufffd"));
}

TEST_F(Prompts, MayFillTheContextButNotMore) {
  const auto ids = [](int count) {
    std::string text = "[[1";
    for (int i = 1; i < count; ++i) {
      text += ",1";
    }
    return text + "]]";
  };
  EXPECT_EQ(load(write(ids(1024), "mine.json")).prompts.at(0).ids.size(), 1024u);
  expect_refused(ids(1025), "prompt 1: the prompt has 1025 tokens, more than the model's context",
                 "mine.json");
}

TEST_F(Prompts, WithoutAPromptAreRefused) {
  expect_refused("", "no prompts");
  expect_refused("\n \r\n", "no prompts");
  expect_refused("[]", "no prompts", "mine.json");
  expect_refused("[\"a\", \"\"]", "prompt 2: the prompt is empty", "mine.json");
  expect_refused("[[]]", "prompt 1: the prompt is empty", "mine.json");
}

TEST_F(Prompts, ThatAreNotUtf8AreRefusedWithTheirLine) {
  expect_refused("good\nb\xe9zier\n", "line 2: not UTF-8: invalid at byte 1 of the line");
  expect_refused("\\xff\n", "line 1: not UTF-8: invalid at byte 0 of the prompt");
  expect_refused("\\ud800\n", "line 1: not UTF-8");
  expect_refused("[\"a\",\n\"\xff\"]", "not JSON at byte", "mine.json");
}

TEST_F(Prompts, WithBadEscapesAreRefusedWithTheirLine) {
  for (const std::string bad : {"\\q", "\\", "\\x4", "\\xg0", "\\u12", "\\U00110000", "\\400"}) {
    expect_refused("good\n" + bad, "line 2: \"\\");
  }
}

TEST_F(Prompts, OfJsonThatHoldsSomethingElseAreRefused) {
  expect_refused("[\"a\"", "not JSON", "mine.json");
  expect_refused("[1e999]", "holds a number that is too large", "mine.json");
  expect_refused(std::string(100'000, '['), "nested deeper", "mine.json");
  expect_refused(R"([{"ids": [1], "ids": [2]}])", "the key \"ids\" stands there twice",
                 "mine.json");
  expect_refused("{}", "not a JSON array", "mine.json");
  expect_refused("[\"a\", 3]", "prompt 2: neither", "mine.json");
  expect_refused("[{}]", "prompt 1: an object", "mine.json");
  expect_refused(R"([{"text": 3}])", "prompt 1: an object", "mine.json");
  expect_refused(R"([{"text": "a", "ids": [1]}])", "prompt 1: an object", "mine.json");
  expect_refused("[[1.5]]", "prompt 1: 1.5 is no id", "mine.json");
  expect_refused("[[\"a\"]]", "prompt 1: \"a\" is no id", "mine.json");
}

TEST_F(Prompts, WithIdsOutsideTheVocabularyAreRefused) {
  expect_refused("[[1], [1, 50257]]", "prompt 2: id 50257 is outside the vocabulary", "mine.json");
  expect_refused("[[-1]]", "prompt 1: id -1 is outside the vocabulary", "mine.json");
  expect_refused("[[18446744073709551615]]", "prompt 1: id 18446744073709551615 is outside",
                 "mine.json");
}

TEST_F(Prompts, AsIdsNeedNoTokenizer) {
  Tokenizer none = Tokenizer::none(usage_error("m/vocab.txt: of another kind", "give ids"));
  none.fit_to(50257);
  const std::string ids = write("[[15496, 995], {\"ids\": [50256]}]", "mine.json");
  const PromptSet set = load_prompts(ids, none, gpt2_sizes());
  EXPECT_THAT(set.prompts.at(0).ids, ElementsAre(15496, 995));
  EXPECT_EQ(set.prompts.at(0).text, "[15496][995]");
  for (const std::string& text : {write("Hello\n"), write("[\"Hello\"]", "text.json")}) {
    try {
      load_prompts(text, none, gpt2_sizes());
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_STREQ(error.what(), "m/vocab.txt: of another kind");
    }
  }
}

TEST_F(Prompts, WithTokensBeyondTheModelAreRefusedAlone) {
  Tokenizer extended = Tokenizer::from_folder(test::gpt2_vocabulary_folder());
  extended.fit_to(50256);
  ModelConfig sizes = gpt2_sizes();
  sizes.vocab_size = 50256;
  EXPECT_EQ(load_prompts(write("Hello world\n"), extended, sizes).prompts.size(), 1u);
  const std::string file = write("Hello\nworld<|endoftext|>\n");
  try {
    load_prompts(file, extended, sizes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr(file + ": line 2: the token \"<|endoftext|>\" has the id 50256"));
  }
}

TEST_F(Prompts, ThatDoNotExistAreRefusedWithTheNamesThatDo) {
  for (const std::string name : {"nine", "", "/nowhere/eight"}) {
    try {
      load(name);
      FAIL() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("no such prompt set or file"));
      EXPECT_EQ(error.hint(), "the sets are: alice-200, eight");
    }
  }
  EXPECT_THROW(load(folder_.path().string()), Error);
}

}  // namespace
}  // namespace drift
