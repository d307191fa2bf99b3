#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/tokenizer.hpp"

#include "model/byte_alphabet.hpp"
#include "model/test_data.hpp"

namespace drift {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Bytes 0…255 as ids 0…255, "ab" 256, "abc" 257, the end-of-text marker 258.
json small_vocabulary() {
  json tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens[letter_of_byte(static_cast<unsigned char>(byte))] = byte;
  }
  tokens["ab"] = 256;
  tokens["abc"] = 257;
  tokens["<|endoftext|>"] = 258;
  return tokens;
}

json small_tokenizer() {
  return {{"normalizer", nullptr},
          {"pre_tokenizer",
           {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
          {"post_processor", {{"type", "ByteLevel"}, {"add_prefix_space", true}}},
          {"model",
           {{"type", "BPE"},
            {"dropout", nullptr},
            {"continuing_subword_prefix", ""},
            {"vocab", small_vocabulary()},
            {"merges", {"a b", "ab c"}}}},
          {"added_tokens",
           {{{"id", 258}, {"content", "<|endoftext|>"}, {"special", true}, {"normalized", false}},
            {{"id", 259}, {"content", "<pad pad>"}, {"lstrip", false}, {"normalized", true}}}}};
}

class TokenizerFiles : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    write_file(folder_.path() / name, text);
  }
  Tokenizer read() const { return Tokenizer::from_folder(folder_.path()); }

  void expect_refused(const std::string& file, const std::string& words) const {
    try {
      read();
      FAIL() << "taken, though: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), HasSubstr(file.empty() ? folder_.path().string()
                                                       : (folder_.path() / file).string()));
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  }
  void expect_two_files_refused(const json& vocabulary, const std::string& merges,
                                const std::string& file, const std::string& words) {
    write("vocab.json", vocabulary.dump());
    write("merges.txt", merges);
    expect_refused(file, words);
  }

  TemporaryFolder folder_ = test::scratch_folder();
};

TEST_F(TokenizerFiles, ReadsVocabularyAndMerges) {
  write("vocab.json", small_vocabulary().dump());
  write("merges.txt", "#version: 0.2\na b\r\nab c\n");
  EXPECT_THAT(read().encode("abcab<|endoftext|>"), ElementsAre(257, 256, 258));
  EXPECT_EQ(read().size(), 259u);
}

TEST_F(TokenizerFiles, ReadsAddedTokensBesideThem) {
  write("vocab.json", small_vocabulary().dump());
  write("merges.txt", "#version: 0.2\na b\nab c\n");
  write("added_tokens.json", R"({"<x>": 259, "<xy>z": 260, "<x": 261})");
  EXPECT_THAT(read().encode("<x><xy>z<xy>"), ElementsAre(259, 260, 261, 'y', '>'));
  EXPECT_THAT(read().encode("<|endoftext|>"), ElementsAre(258));
  EXPECT_EQ(read().token_bytes(260), "<xy>z");
}

TEST_F(TokenizerFiles, ReadsATokenizerJsonWithMergesAsTextOrPairs) {
  json file = small_tokenizer();
  write("tokenizer.json", file.dump());
  EXPECT_THAT(read().encode("abc<pad pad><|endoftext|>"), ElementsAre(257, 259, 258));
  EXPECT_EQ(read().token_bytes(259), "<pad pad>");
  EXPECT_THROW(read().token_bytes(260), Error);
  file["model"]["merges"] = json::parse(R"([["a", "b"], ["ab", "c"]])");
  write("tokenizer.json", file.dump());
  EXPECT_THAT(read().encode("abc<pad pad>ab"), ElementsAre(257, 259, 256));
}

TEST_F(TokenizerFiles, PrefersTokenizerJsonWhichHasWhatWasAddedLater) {
  write("vocab.json", small_vocabulary().dump());
  write("merges.txt", "");
  write("tokenizer.json", small_tokenizer().dump());
  EXPECT_THAT(read().encode("abc"), ElementsAre(257));
}

TEST_F(TokenizerFiles, SaysWhatIsMissing) {
  expect_refused("", "vocab.json is missing");
  write("vocab.json", small_vocabulary().dump());
  expect_refused("", "merges.txt is missing");
}

TEST_F(TokenizerFiles, RefusesBadVocabularies) {
  write("merges.txt", "");
  write("vocab.json", "{\"a\": 1");
  expect_refused("vocab.json", "not JSON");
  const auto with = [](const char* token, const json& id) {
    json tokens = small_vocabulary();
    tokens[token] = id;
    return tokens;
  };
  expect_two_files_refused(json::array(), "", "vocab.json", "no tokens");
  expect_two_files_refused(with("ab", 1.5), "", "vocab.json", "\"ab\" has no id");
  expect_two_files_refused(with("ab", -1), "", "vocab.json", "\"ab\" has no id");
  expect_two_files_refused(with("ab", std::int64_t{1} << 40), "", "vocab.json", "\"ab\" has no id");
  expect_two_files_refused(with("ab", 257), "", "vocab.json", "the id 257 belongs to two tokens");
  json tokens = small_vocabulary();
  tokens.erase("q");
  write("vocab.json", tokens.dump());
  EXPECT_THAT(read().encode("ab"), ElementsAre('a', 'b'));
  try {
    read().encode("aqb");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("no token for the byte 0x71"));
  }
}

TEST_F(TokenizerFiles, RefusesBadMergesAndNamesTheLine) {
  const json tokens = small_vocabulary();
  const std::string head = "#version: 0.2\na b\n";
  expect_two_files_refused(tokens, head + "ab\n", "merges.txt", "line 3: two tokens");
  expect_two_files_refused(tokens, head + "a b c\n", "merges.txt", "line 3: two tokens");
  expect_two_files_refused(tokens, head + "\n", "merges.txt", "line 3: two tokens");
  expect_two_files_refused(tokens, head + "abx c\n", "merges.txt", "line 3: the token \"abx\"");
  expect_two_files_refused(tokens, head + "b a\n", "merges.txt", "line 3: the token \"ba\"");
}

TEST_F(TokenizerFiles, RefusesTokenizersOfAnotherKind) {
  const auto refuse = [&](const std::function<void(json&)>& change, const std::string& words) {
    json file = small_tokenizer();
    change(file);
    write("tokenizer.json", file.dump());
    expect_refused("tokenizer.json", words);
  };
  refuse([](json& file) { file["pre_tokenizer"]["type"] = "Metaspace"; }, "pre_tokenizer");
  refuse([](json& file) { file["pre_tokenizer"] = nullptr; }, "pre_tokenizer");
  refuse([](json& file) { file["normalizer"] = {{"type", "Precompiled"}}; }, "Precompiled");
  refuse([](json& file) { file["normalizer"] = "NFC"; }, "normalizer has no type");
  refuse([](json& file) { file["post_processor"]["type"] = "Whatever"; }, "Whatever");
  refuse([](json& file) { file["post_processor"]["type"] = "TemplateProcessing"; },
         "post_processor.single");
  refuse([](json& file) { file["model"]["type"] = "WordPiece"; }, "model.type");
  refuse([](json& file) { file["model"]["dropout"] = 0.1; }, "model.dropout");
  refuse([](json& file) { file["model"]["continuing_subword_prefix"] = "##"; }, "prefix");
  refuse([](json& file) { file["model"]["end_of_word_suffix"] = "</w>"; }, "suffix");
  refuse([](json& file) { file["model"].erase("vocab"); }, "no tokens");
  refuse([](json& file) { file["model"]["merges"] = "a b"; }, "model.merges");
  refuse([](json& file) { file["model"]["merges"] = {"a b", 7}; }, "merge 2");
  refuse([](json& file) { file.erase("model"); }, "no model");
  refuse([](json& file) { file = json::array(); }, "no model");
  refuse([](json& file) { file["added_tokens"][1]["lstrip"] = 3; }, "lstrip");
  refuse([](json& file) { file["added_tokens"][1]["content"] = ""; }, "is no token");
  refuse([](json& file) { file["added_tokens"][1] = 3; }, "added_tokens");
}

TEST_F(TokenizerFiles, GivesIdsAsTransformersDoesAndWarnsOfOthersInAFile) {
  json file = small_tokenizer();
  file["added_tokens"][1]["id"] = 300;
  write("tokenizer.json", file.dump());
  EXPECT_THAT(read().encode("<pad pad>"), ElementsAre(259));
  EXPECT_THAT(read().warnings(),
              ::testing::ElementsAre(
                  HasSubstr("\"<pad pad>\" has the id 300, but transformers gives it 259")));
}

TEST_F(TokenizerFiles, KnowsNormalisersWhereTheyNeedNoTable) {
  json file = small_tokenizer();
  const auto ids = [&](const json& normalizer, const std::string& text) {
    file["normalizer"] = normalizer;
    write("tokenizer.json", file.dump());
    return read().decode(read().encode(text));
  };
  EXPECT_EQ(ids({{"type", "Lowercase"}}, "ABÀÞ×ß é"), "abàþ×ß é");
  EXPECT_EQ(ids({{"type", "NFC"}}, "\u02ff é"), "\u02ff é");
  for (const char* type : {"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents"}) {
    try {
      ids({{"type", type}}, "ab e\u0301");
      FAIL() << type;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string(type) + " isn't known here for U+0301"));
    }
  }
}

TEST_F(TokenizerFiles, NamesATokenizerOfAnotherKind) {
  write("tokenizer.model", "");
  expect_refused("tokenizer.model", "a tokenizer of another kind");
  write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer"})");
  write("vocab.json", small_vocabulary().dump());
  write("merges.txt", "#version: 0.2\n");
  expect_refused("tokenizer_config.json", "tokenizer_class is \"LlamaTokenizer\"");
}

TEST_F(TokenizerFiles, TakesLittleMemoryForAHighId) {
  json tokens = small_vocabulary();
  tokens["high"] = (1 << 24) - 1;
  write("vocab.json", tokens.dump());
  write("merges.txt", "#version: 0.2\n");
  EXPECT_EQ(read().size(), std::size_t{1} << 24);
  EXPECT_EQ(read().token_bytes((1 << 24) - 1), "high");
}

TEST_F(TokenizerFiles, RefusesAKeyThatStandsTwiceAndWhatIsNestedDeep) {
  write("merges.txt", "#version: 0.2\n");
  write("vocab.json", R"({"a": 1, "a": 2})");
  expect_refused("vocab.json", "stands there twice");
  write("vocab.json", std::string(100'000, '['));
  expect_refused("vocab.json", "nested deeper");
  write("vocab.json", R"({"a": 1e999})");
  expect_refused("vocab.json", "a number that is too large");
}

}  // namespace
}  // namespace drift
