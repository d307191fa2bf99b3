// The ids must be those that AutoTokenizer of transformers gives for the same folder, or the folder
// is refused by name.

#include <algorithm>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/tokenizer.hpp"

#include "model/test_data.hpp"
#include "shared/python.hpp"

namespace drift {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Ids = std::vector<std::int32_t>;

/// Cases of tokenizer_grid.py that are refused, and how the refusal names what isn't known.
const std::map<std::string, std::string> kRefused = {
    {"class Roberta", "tokenizer_class is \"RobertaTokenizer\""},
    {"class unknown", "tokenizer_class is \"OurTokenizer\""},
    {"normalizer Bert", "BertNormalizer"},
    {"normalizer Nmt", "Nmt"},
    {"normalizer Replace regex", "Regex"},
    {"one dropout", "model.dropout"},
    {"one subword prefix", "model.continuing_subword_prefix"},
    {"one word suffix", "model.end_of_word_suffix"},
    {"pre Metaspace", "Metaspace"},
    {"pre Split other", "Split"},
    {"pre Whitespace", "Whitespace"},
    {"pre none", "pre_tokenizer null"},
};

/// Cases for which transformers 5 gives other ids than 4.57, and what the warning names.
const std::map<std::string, std::string> kWarned = {
    {"ids missing", "gets the id"},
    {"merge twice", "second time"},
    {"no last newline", "no line feed ends it"},
    {"no version line", "isn't \"#version\""},
    {"added with gap", "transformers gives it"},
    {"normalizer Lowercase", "normalizer"},
    {"normalizer Lowercase and added", "normalizer"},
    {"normalizer NFC", "normalizer"},
    {"normalizer NFD", "normalizer"},
    {"normalizer NFKC", "normalizer"},
    {"normalizer NFKD", "normalizer"},
    {"normalizer Prepend", "normalizer"},
    {"normalizer Replace", "normalizer"},
    {"normalizer Sequence", "normalizer"},
    {"normalizer Strip", "normalizer"},
    {"normalizer StripAccents", "normalizer"},
    {"one ignore merges", "ignore_merges"},
    {"one ignore merges, few", "ignore_merges"},
    {"one no regex", "pre_tokenizer"},
    {"one no regex prefix", "pre_tokenizer"},
    {"one prefix in file, class fast", "add_prefix_space"},
    {"pre Digits", "pre_tokenizer"},
    {"pre Split string", "pre_tokenizer"},
};

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// A case of the grid. Texts that a normaliser isn't known for may be refused, none else.
void expect_same(const fs::path& folder, const std::string& name, const json& texts,
                 const json& expected) {
  SCOPED_TRACE(name);
  const Tokenizer tokenizer = Tokenizer::from_folder(folder);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto text = texts[i].get<std::string>();
    try {
      EXPECT_EQ(tokenizer.encode(text), expected.at(i).get<Ids>()) << texts[i].dump(-1, ' ', true);
    } catch (const Error& error) {
      EXPECT_TRUE(name.starts_with("normalizer") && !is_ascii(text)) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("normalizer"));
    }
  }
  const auto warned = kWarned.find(name);
  if (warned == kWarned.end()) {
    EXPECT_TRUE(tokenizer.warnings().empty()) << tokenizer.warnings().front();
  } else {
    EXPECT_THAT(tokenizer.warnings(), ::testing::Contains(HasSubstr(warned->second)));
  }
}

void expect_refused(const fs::path& folder, const std::string& name, const std::string& words) {
  SCOPED_TRACE(name);
  try {
    Tokenizer::from_folder(folder);
    FAIL() << "taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    EXPECT_THAT(error.what(), HasSubstr(folder.string()));
    EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

TEST(TokenizerGrid, GivesTransformersIdsOrRefusesByName) {
  const auto python3 = test::find_python3();
  const bool new_enough =
      python3 &&
      run_process({{python3->string(), "-c", "import sys; sys.exit(sys.version_info < (3, 9))"},
                   std::nullopt,
                   {}})
          .end.ok();
  if (!new_enough) {
    GTEST_SKIP() << "no python3 of at least 3.9 in PATH to run transformers";
  }
  const fs::path tests = test::source_folder() / "tests/model";
  const fs::path venv = test::test_venv(*python3, "tokenizer-grid", {tests / "transformers.txt"});
  const TemporaryFolder folder = test::scratch_folder();
  const ProcessResult result =
      run_process({{(venv / "bin/python").string(), (tests / "tokenizer_grid.py").string(),
                    folder.path().string()},
                   std::nullopt,
                   {}});
  ASSERT_TRUE(result.end.ok()) << result.err;
  const json grid = json::parse(read_file(folder.path() / "grid.json"));
  std::size_t refused = 0;
  for (const json& item : grid["cases"]) {
    const auto name = item["name"].get<std::string>();
    const auto known = kRefused.find(name);
    if (known != kRefused.end()) {
      expect_refused(folder.path() / name, name, known->second);
      ++refused;
    } else {
      ASSERT_FALSE(item["ids"].is_null()) << name << ": " << result.err;
      expect_same(folder.path() / name, name, grid["texts"], item["ids"]);
    }
  }
  EXPECT_EQ(refused, kRefused.size());
  EXPECT_GT(grid["cases"].size(), 80u);
}

}  // namespace
}  // namespace drift
