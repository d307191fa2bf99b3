// What lies beside a vocabulary. The ids are those of transformers 4.25.1.

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/tokenizer.hpp"

#include "model/byte_alphabet.hpp"
#include "model/code_points.hpp"
#include "model/test_data.hpp"

namespace drift {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Ids = std::vector<std::int32_t>;
using Expected = std::map<std::string, Ids>;

const std::vector<std::pair<std::string, std::string>> kMerges = {
    {"t", "h"}, {"th", "e"}, {"Ġ", "the"}, {"i", "n"}};

/// `first`, the letters of the bytes in their order of Unicode, and the merges.
json vocabulary(std::vector<std::string> tokens) {
  std::map<char32_t, std::string> letters;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string letter = letter_of_byte(static_cast<unsigned char>(byte));
    letters.emplace(first_code_point(letter).value, letter);
  }
  for (const auto& [code_point, letter] : letters) {
    tokens.push_back(letter);
  }
  for (const auto& [left, right] : kMerges) {
    tokens.push_back(left + right);
  }
  json result;
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    result[tokens[id]] = id;
  }
  return result;
}

class TokenizerSettings : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    write_file(folder_.path() / name, text);
  }
  void write_two_files(const std::vector<std::string>& first) const {
    write("vocab.json", vocabulary(first).dump());
    std::string merges = "#version: 0.2\n";
    for (const auto& [left, right] : kMerges) {
      merges += left + " " + right + "\n";
    }
    write("merges.txt", merges);
  }
  void write_one_file() const {
    json merges = json::array();
    for (const auto& [left, right] : kMerges) {
      merges.push_back(left + " " + right);
    }
    const json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
    const json file = {
        {"added_tokens",
         {{{"id", 0}, {"content", "<|endoftext|>"}, {"normalized", false}, {"special", true}}}},
        {"pre_tokenizer", byte_level},
        {"post_processor", byte_level},
        {"model", {{"type", "BPE"}, {"vocab", vocabulary({"<|endoftext|>"})}, {"merges", merges}}}};
    write("tokenizer.json", file.dump());
  }
  Tokenizer read() const { return Tokenizer::from_folder(folder_.path()); }
  void expect(const Expected& expected) const {
    const Tokenizer tokenizer = read();
    for (const auto& [text, ids] : expected) {
      EXPECT_EQ(tokenizer.encode(text), ids) << text;
    }
  }
  void expect_refused(const std::string& config, const std::string& words) const {
    write("tokenizer_config.json", config);
    try {
      read();
      FAIL() << "taken, though: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), HasSubstr((folder_.path() / "tokenizer_config.json").string()));
      EXPECT_THAT(error.what(), HasSubstr(words));
      EXPECT_THAT(error.hint(), HasSubstr("prompts may be given as ids"));
    }
  }

  TemporaryFolder folder_ = test::scratch_folder();
};

TEST_F(TokenizerSettings, PutABeginTokenBeforeTexts) {
  write_two_files({"<|endoftext|>"});
  write("tokenizer_config.json",
        R"({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true,
            "bos_token": "<|endoftext|>"})");
  expect({{"the thin hat", {0, 258, 221, 257, 260, 221, 72, 65, 84}},
          {"<s>the hat</s>", {0, 28, 83, 30, 258, 221, 72, 65, 84, 28, 15, 83, 30}},
          {"a<|pad|>b", {0, 65, 28, 92, 80, 65, 68, 92, 30, 66}},
          {" the  thin\nhat", {0, 259, 221, 221, 257, 260, 199, 72, 65, 84}}});
}

TEST_F(TokenizerSettings, NameSpecialTokensThatTextsMayHold) {
  write_two_files({"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  const std::string names =
      R"("bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>")";
  write("special_tokens_map.json", "{" + names + "}");
  write("tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer", )" + names + "}");
  expect({{"the thin hat", {262, 225, 261, 264, 225, 76, 69, 88}},
          {"<s>the hat</s>", {0, 262, 225, 76, 69, 88, 2}},
          {"a<|pad|>b", {69, 32, 96, 84, 69, 72, 96, 34, 70}},
          {" the  thin\nhat", {263, 225, 225, 261, 264, 203, 76, 69, 88}}});
}

TEST_F(TokenizerSettings, AddATokenBeyondTheVocabulary) {
  write_two_files({"<|endoftext|>"});
  write("added_tokens.json", R"({"<|pad|>": 261})");
  write("special_tokens_map.json", R"({"pad_token": "<|pad|>"})");
  expect({{"the thin hat", {258, 221, 257, 260, 221, 72, 65, 84}},
          {"<s>the hat</s>", {28, 83, 30, 258, 221, 72, 65, 84, 28, 15, 83, 30}},
          {"a<|pad|>b", {65, 261, 66}},
          {" the  thin\nhat", {259, 221, 221, 257, 260, 199, 72, 65, 84}}});
}

TEST_F(TokenizerSettings, SayWhatAnAddedTokenTakesAlongAndWhereItStandsAlone) {
  write_two_files({"<|endoftext|>"});
  write("special_tokens_map.json",
        R"({"additional_special_tokens": [
            {"content": "<mask>", "lstrip": true, "rstrip": true, "normalized": false},
            {"content": "<word>", "single_word": true, "normalized": false}]})");
  expect({{"a <mask> b", {65, 261, 66}},
          {"a\n <mask><mask> ", {65, 261, 261}},
          {"a<word>", {65, 28, 87, 79, 82, 68, 30}},
          {"a <word>!", {65, 221, 262, 1}},
          {"<word>b <word>", {28, 87, 79, 82, 68, 30, 66, 221, 262}}});
}

TEST_F(TokenizerSettings, PutASpaceBeforeTextsThoughTokenizerJsonDoesNot) {
  write_one_file();
  write("tokenizer_config.json",
        R"({"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": true})");
  expect({{"the thin hat", {259, 221, 257, 260, 221, 72, 65, 84}},
          {"<s>the hat</s>", {221, 28, 83, 30, 258, 221, 72, 65, 84, 28, 15, 83, 30}},
          {"a<|pad|>b", {221, 65, 28, 92, 80, 65, 68, 92, 30, 66}},
          {" the  thin\nhat", {259, 221, 221, 257, 260, 199, 72, 65, 84}}});
}

TEST_F(TokenizerSettings, ThatAreNotKnownAreRefusedByName) {
  write_one_file();
  expect_refused(R"({"tokenizer_class": "LlamaTokenizer"})", "\"LlamaTokenizer\"");
  expect_refused(R"({"tokenizer_file": "/elsewhere/tokenizer.json"})", "tokenizer_file");
  expect_refused(R"({"from_slow": true})", "from_slow");
  expect_refused(R"({"extra_special_tokens": {"image_token": "<i>"}})", "extra_special_tokens");
  expect_refused(R"({"add_prefix_space": "yes"})", "add_prefix_space is \"yes\"");
  expect_refused(R"({"bos_token": {"content": "<s>"}})", "bos_token");
  expect_refused(R"({"added_tokens_decoder": {"x": {"content": "<s>"}}})", "\"x\" is no id");
  expect_refused(R"({"added_tokens_decoder": {"1": {"content": 1}}})", "is no token");
}

}  // namespace
}  // namespace drift
