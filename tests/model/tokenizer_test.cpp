#include "driftaudit/tokenizer.hpp"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

#include "model/test_data.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Ids = std::vector<std::int32_t>;

const Tokenizer& gpt2() {
  static const Tokenizer tokenizer = Tokenizer::from_folder(test::gpt2_vocabulary_folder());
  return tokenizer;
}

const Tokenizer& mini() {
  static const Tokenizer tokenizer = Tokenizer::from_folder(test::mini_folder());
  return tokenizer;
}

TEST(Tokenizer, GivesTheIdsThatArePublishedForGpt2) {
  EXPECT_THAT(gpt2().encode("Hello world"), ElementsAre(15496, 995));
  EXPECT_THAT(gpt2().encode("Hello, my dog is cute"),
              ElementsAre(15496, 11, 616, 3290, 318, 13779));
  EXPECT_THAT(gpt2().encode("The capital of France is"), ElementsAre(464, 3139, 286, 4881, 318));
  EXPECT_EQ(gpt2().size(), 50257u);
}

TEST(Tokenizer, TakesOneSpaceToTheWordAndLeavesTheOthers) {
  EXPECT_THAT(gpt2().encode("a b"), ElementsAre(64, 275));
  EXPECT_THAT(gpt2().encode("a  b"), ElementsAre(64, 220, 275));
  EXPECT_THAT(gpt2().encode("a\n\nb"), ElementsAre(64, 198, 198, 65));
  EXPECT_THAT(gpt2().encode("a "), ElementsAre(64, 220));
}

TEST(Tokenizer, CutsContractionsOnlyInLowerCase) {
  EXPECT_THAT(gpt2().encode("it's"), ElementsAre(270, 338));
  EXPECT_EQ(gpt2().decode({gpt2().encode("IT'S")[1]}), "'");
}

TEST(Tokenizer, EncodesNothingAsNothing) { EXPECT_THAT(gpt2().encode(""), IsEmpty()); }

TEST(Tokenizer, TakesTheEndOfTextMarkerAsItsId) {
  EXPECT_THAT(gpt2().encode("<|endoftext|>"), ElementsAre(50256));
  EXPECT_THAT(gpt2().encode("Hello<|endoftext|><|endoftext|> world"),
              ElementsAre(15496, 50256, 50256, 995));
  EXPECT_THAT(mini().encode("<|endoftext|>"), ElementsAre(0));
  EXPECT_GT(gpt2().encode("<|endoftext>").size(), 1u);
}

TEST(Tokenizer, GivesBackTheBytesOfAnyText) {
  const std::string text =
      "naïve 日本語 👩‍👩‍👧\t\x01\x7f ́ \xc2\x85x" + std::string(1, '\0');
  for (const Tokenizer* tokenizer : {&gpt2(), &mini()}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

TEST(Tokenizer, TellsTheBytesOfATokenThatIsPartOfACharacter) {
  const Ids ids = gpt2().encode("\xf0\x9f\x92\xa9");
  ASSERT_GT(ids.size(), 1u);
  EXPECT_EQ(gpt2().token_bytes(ids[0])[0], '\xf0');
  EXPECT_EQ(gpt2().token_bytes(220), " ");
  EXPECT_EQ(gpt2().token_bytes(50256), "<|endoftext|>");
}

TEST(Tokenizer, RefusesIdsThatItHasNot) {
  for (const std::int32_t id : {-1, 50257}) {
    try {
      gpt2().token_bytes(id);
      FAIL() << id;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("no such id"));
    }
  }
}

TEST(Tokenizer, RefusesWhatIsNotUtf8AndSaysWhere) {
  for (const std::string bad :
       {"ab\xff", "ab\xc3", "ab\xed\xa0\x80", "ab\xc0\x80", "ab\xf5\x80\x80\x80"}) {
    try {
      gpt2().encode(bad);
      FAIL() << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), HasSubstr("at byte 2"));
    }
  }
}

TEST(Tokenizer, EncodesAWordOfAHundredThousandCharactersInNoTime) {
  std::string word;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    word.push_back(static_cast<char>('a' + (i * i + i / 7) % 26));
  }
  const auto start = std::chrono::steady_clock::now();
  const Ids ids = gpt2().encode(word);
  const Ids spaces = gpt2().encode(std::string(100'000, ' '));
  // A quadratic merge takes minutes; this takes tens of milliseconds.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  EXPECT_EQ(gpt2().decode(ids), word);
  EXPECT_LT(ids.size(), word.size());
  EXPECT_FALSE(spaces.empty());
}

TEST(Tokenizer, FindsManyEndOfTextMarkersInLinearTime) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) {
    text += "<|endoftext|>a";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(gpt2().encode(text).size(), 100'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(Tokenizer, FitsAModelWithMoreIds) {
  Tokenizer tokenizer = Tokenizer::from_folder(test::mini_folder());
  tokenizer.fit_to(4100);
  EXPECT_EQ(tokenizer.size(), 4100u);
  EXPECT_EQ(tokenizer.token_bytes(4099), "");
  EXPECT_THROW(tokenizer.token_bytes(4100), Error);
}

TEST(Tokenizer, RefusesOnlyTextsWithTokensBeyondTheModel) {
  Tokenizer tokenizer = Tokenizer::from_folder(test::gpt2_vocabulary_folder());
  tokenizer.fit_to(50256);
  EXPECT_THAT(tokenizer.encode("Hello world"), ElementsAre(15496, 995));
  try {
    tokenizer.encode("Hello<|endoftext|>");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    EXPECT_STREQ(error.what(),
                 "the token \"<|endoftext|>\" has the id 50256, but the model's ids go from 0 to "
                 "50255");
  }
}

TEST(Tokenizer, ThatIsNoneShowsIdsAndSaysWhyTextsCannotBe) {
  Tokenizer tokenizer = Tokenizer::none(usage_error("vocab.txt: of another kind", "give ids"));
  tokenizer.fit_to(100);
  EXPECT_EQ(tokenizer.decode({5, 99}), "[5][99]");
  EXPECT_THROW(tokenizer.token_bytes(100), Error);
  ASSERT_NE(tokenizer.why_none(), nullptr);
  try {
    tokenizer.encode("a");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "vocab.txt: of another kind");
  }
}

}  // namespace
}  // namespace drift
