#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/rescore.hpp"

#include "model/test_data.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr const char* kSound =
    R"({"request_id": "a", "prompt_ids": [464, 3139], "token_ids": [318, 257], "logprobs": [-0.5, 0]})";

class LogprobsFile : public ::testing::Test {
 protected:
  std::vector<DecodedRequest> read(const std::string& text) const {
    const fs::path file = folder_.path() / "served.jsonl";
    write_file(file, text);
    ModelConfig config;
    config.vocab_size = 50257;
    config.n_positions = 4;
    static const Tokenizer tokenizer = Tokenizer::from_folder(test::gpt2_vocabulary_folder());
    return read_logprobs(file, tokenizer, config);
  }

  /// What reading says of a text; it must refuse it.
  std::string refusal(const std::string& text) const {
    try {
      read(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_FALSE(error.hint().empty());
      return error.what();
    }
    ADD_FAILURE() << "taken: " << text;
    return "";
  }

  /// A sound line with one part replaced.
  static std::string with(const std::string& from, const std::string& to) {
    std::string line = kSound;
    line.replace(line.find(from), from.size(), to);
    return line;
  }

 private:
  TemporaryFolder folder_ = test::scratch_folder();
};

TEST_F(LogprobsFile, HasARequestALine) {
  const auto requests = read(std::string(kSound) + "\n" + with("\"a\"", "17") + "\n");
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].mode, "given");
  EXPECT_EQ(requests[0].request_id, "a");
  EXPECT_EQ(requests[0].prompt_text, "The capital");
  EXPECT_THAT(requests[0].prompt_ids, ElementsAre(464, 3139));
  EXPECT_THAT(requests[0].tokens, ElementsAre(318, 257));
  EXPECT_THAT(requests[0].logprobs, ElementsAre(-0.5, 0.0));
  EXPECT_EQ(requests[1].request_id, "17");
  EXPECT_EQ(requests[1].prompt, 2U);
}

TEST_F(LogprobsFile, MayEndWithoutANewline) { EXPECT_EQ(read(kSound).size(), 1U); }

TEST_F(LogprobsFile, MayGoOneTokenBeyondTheContext) {
  EXPECT_EQ(read(with("[464, 3139]", "[464, 3139, 11]")).size(), 1U);
  EXPECT_THAT(refusal(with("[464, 3139]", "[464, 3139, 11, 11]")),
              HasSubstr("have 6 tokens, where the model's context takes 4"));
}

TEST_F(LogprobsFile, NamesTheLineOfWhatIsWrong) {
  EXPECT_THAT(refusal(std::string(kSound) + "\n{\n"), HasSubstr("served.jsonl: line 2: not JSON"));
  EXPECT_THAT(refusal(std::string(kSound) + "\n\n" + with("\"a\"", "\"b\"")),
              EndsWith("line 2: empty"));
}

TEST_F(LogprobsFile, IsNotEmpty) { EXPECT_THAT(refusal(""), HasSubstr("holds no request")); }

TEST_F(LogprobsFile, RefusesKeysThatAreMissingOrUnknown) {
  EXPECT_THAT(refusal(with("\"logprobs\"", "\"log_probs\"")),
              EndsWith("line 1: \"logprobs\" is missing"));
  EXPECT_THAT(refusal(with("{", "{\"model\": \"x\", ")), HasSubstr("a key other than"));
  EXPECT_THAT(refusal(with("{", "{\"request_id\": \"x\", ")), HasSubstr("twice"));
  EXPECT_THAT(refusal("[1]"), EndsWith("not an object"));
}

TEST_F(LogprobsFile, RefusesIdsThatTheModelDoesNotHave) {
  EXPECT_THAT(refusal(with("3139", "50257")),
              HasSubstr("\"prompt_ids\"[1] is 50257, no id of the model's 50257 tokens"));
  EXPECT_THAT(refusal(with("257", "-1")), HasSubstr("\"token_ids\"[1] is -1"));
  EXPECT_THAT(refusal(with("257", "1.5")), HasSubstr("\"token_ids\"[1] is 1.5"));
  EXPECT_THAT(refusal(with("257", "\"is\"")), HasSubstr("\"token_ids\"[1] is no number"));
  EXPECT_THAT(refusal(with("257", "18446744073709551616")), HasSubstr("\"token_ids\"[1]"));
}

TEST_F(LogprobsFile, RefusesListsThatAreEmptyOrOfOtherLengths) {
  EXPECT_THAT(refusal(with("[464, 3139]", "[]")), HasSubstr("\"prompt_ids\" is no list"));
  EXPECT_THAT(refusal(with("[464, 3139]", "464")), HasSubstr("\"prompt_ids\" is no list"));
  EXPECT_THAT(refusal(with("[-0.5, 0]", "[-0.5]")), HasSubstr("1 log-probabilities for 2 tokens"));
}

TEST_F(LogprobsFile, RefusesWhatIsNoLogProbability) {
  EXPECT_THAT(refusal(with("-0.5", "0.25")), HasSubstr("\"logprobs\"[0] is 0.25"));
  EXPECT_THAT(refusal(with("-0.5", "null")), HasSubstr("\"logprobs\"[0] is no number"));
  EXPECT_THAT(refusal(with("-0.5", "\"nan\"")), HasSubstr("\"logprobs\"[0] is no number"));
  EXPECT_THAT(refusal(with("-0.5", "NaN")), HasSubstr("not JSON"));
  EXPECT_THAT(refusal(with("-0.5", "-1e999")), HasSubstr("too large"));
}

TEST_F(LogprobsFile, RefusesARequestThatStandsTwice) {
  EXPECT_THAT(refusal(std::string(kSound) + "\n" + kSound),
              HasSubstr("line 2: its request_id stands on an earlier line too"));
  EXPECT_THAT(refusal(with("\"a\"", "\"\"")), HasSubstr("neither text nor a whole number"));
  EXPECT_THAT(refusal(with("\"a\"", "1.5")), HasSubstr("neither text nor a whole number"));
}

TEST_F(LogprobsFile, SaysWhatNumbersAboveZeroLookLike) {
  const auto hint = [&](const std::string& logprobs) {
    try {
      read(with("[-0.5, 0]", logprobs));
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("a log-probability is at most 0"));
      return error.hint();
    }
    return std::string("taken");
  };
  EXPECT_THAT(hint("[0.5, 0.25]"), HasSubstr("natural logarithm of probabilities"));
  EXPECT_THAT(hint("[0.5, 2.25]"), HasSubstr("not their negatives"));
  EXPECT_THAT(hint("[0.5, -2.25]"), HasSubstr("a line is {"));
}

}  // namespace
}  // namespace drift
