#include "driftaudit/attention.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/transformers_calls.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;

struct AutoCase {
  std::vector<AttentionFacts> builds;
  Attention kind;
  const char* why;
};

TEST(AutoAttention, IsWhatTransformersDoByDefaultWhereAllBuildsCan) {
  const std::string by_default = "the default of transformers with these builds";
  for (const AutoCase& c : std::vector<AutoCase>{
           {{{"2.5.1", ""}, {"2.9.1", ""}}, Attention::kSdpa, by_default.c_str()},
           {{{"2.1.1+cu121", ""}}, Attention::kSdpa, by_default.c_str()},
           {{{"2.10.0", "5.0.0"}, {"2.8.0", "4.57.1"}}, Attention::kSdpa, by_default.c_str()},
           {{{"2.8.0", "4.42.0"}, {"2.8.0", ""}}, Attention::kSdpa, by_default.c_str()},
           {{{"2.1.0", ""}, {"2.9.1", ""}}, Attention::kEager, "torch 2.1.0 has no other"},
           {{{"2.9.1", ""}, {"1.13.1+cu117", ""}}, Attention::kEager, "torch 1.13.1+cu117 has no"},
           {{{"unknown", ""}, {"2.9.1", ""}}, Attention::kEager, "torch unknown"},
           {{{"2.8.0", "4.41.2"}, {"2.8.0", ""}},
            Attention::kEager,
            "transformers 4.41.2 computes"},
           {{{"2.8.0", ""}, {"2.8.0", "4.9.0"}}, Attention::kEager, "transformers 4.9.0"},
           // What isn't there doesn't count.
           {{{"", ""}, {"2.8.0", ""}}, Attention::kSdpa, by_default.c_str()},
           {{{"", ""}}, Attention::kEager, "no build is there"}}) {
    const AutoAttention chosen = auto_attention(c.builds);
    EXPECT_EQ(chosen.kind, c.kind) << c.why;
    EXPECT_THAT(chosen.why, HasSubstr(c.why));
  }
}

TEST(AutoAttention, GoesByTheNumbersOfAVersion) {
  for (const char* version :
       {"2.1.1", "2.1.1rc2", "2.1.1.dev0", "2.1.2+cpu", "2.2", "2.10.0a0", "3"}) {
    EXPECT_TRUE(has_sdpa(version)) << version;
  }
  for (const char* version : {"2.1.0", "2.1", "2.0.1+cu118", "1.13.1", "unknown", "", "v3", "2."}) {
    EXPECT_FALSE(has_sdpa(version)) << version;
  }
}

TEST(ScoreScale, IsThatOfTheOwnTransformersElseOfTheOthers) {
  const AttentionFacts four{"2.8.0", "4.57.1"};
  const AttentionFacts five{"2.8.0", "5.4.0"};
  const AttentionFacts before{"2.8.0", "5.3.9"};
  EXPECT_EQ(score_scale(before, {before, five}), ScoreScale::kDivide);
  const AttentionFacts none{"2.8.0", ""};
  EXPECT_EQ(score_scale(four, {four, five}), ScoreScale::kDivide);
  EXPECT_EQ(score_scale(five, {four, five}), ScoreScale::kMultiply);
  EXPECT_EQ(score_scale(none, {none, five}), ScoreScale::kMultiply);
  EXPECT_EQ(score_scale(none, {none, five, five}), ScoreScale::kMultiply);
  EXPECT_EQ(score_scale(none, {four, none}), ScoreScale::kDivide);
  EXPECT_EQ(score_scale(none, {none, none}), ScoreScale::kDivide);
  EXPECT_EQ(score_scale(none, {four, none, five}), ScoreScale::kDivide) << "they don't agree";
}

TEST(FollowedTransformers, AreTheOwnElseThoseOfTheOthersWhereTheyComputeAlike) {
  const auto followed = [](const std::string& own, const std::vector<std::string>& others) {
    std::vector<AttentionFacts> builds{{"2.8.0", own}};
    for (const std::string& other : others) {
      builds.push_back({"2.8.0", other});
    }
    return followed_transformers(builds[0], builds);
  };
  EXPECT_EQ(followed("4.57.1", {"5.4.0"}), "4.57.1");
  EXPECT_EQ(followed("", {"4.57.1"}), "4.57.1");
  EXPECT_EQ(followed("", {"", "4.57.1", "4.53.0"}), "4.57.1");
  EXPECT_EQ(followed("", {"4.57.1", "5.4.0"}), "");
  EXPECT_EQ(followed("", {"4.57.1", "4.52.4"}), "");
  EXPECT_EQ(followed("", {""}), "");
}

TEST(AsksLastPosition, SinceTransformers453) {
  const auto asks = [](Attention kind, std::optional<std::string> transformers) {
    return asks_last_position({kind, {}, {}, std::move(transformers)});
  };
  EXPECT_FALSE(asks(Attention::kEager, "4.52.4"));
  EXPECT_FALSE(asks(Attention::kSdpa, "4.42.0"));
  EXPECT_TRUE(asks(Attention::kEager, "4.53.0"));
  EXPECT_TRUE(asks(Attention::kSdpa, "5.4.0"));
  EXPECT_FALSE(asks(Attention::kEager, std::nullopt)) << "as before there was a choice";
  EXPECT_TRUE(asks(Attention::kSdpa, std::nullopt));
}

TEST(ScoreScale, ShowsWhereTheRootOfTheWidthIsNoPowerOfTwo) {
  for (const std::uint32_t width : {8U, 2U, 32U, 80U, 96U, 128U, 0U}) {
    EXPECT_TRUE(scale_shows(width)) << width;
  }
  for (const std::uint32_t width : {1U, 4U, 16U, 64U, 256U}) {
    EXPECT_FALSE(scale_shows(width)) << width;
  }
}

TEST(AttentionWords, NameTheScaleThatIsNotTheUsualOne) {
  EXPECT_EQ(attention_words({}), "eager");
  EXPECT_EQ(attention_words({Attention::kSdpa, ScoreScale::kMultiply, {}, {}}), "sdpa");
  EXPECT_EQ(attention_words({Attention::kEager, ScoreScale::kMultiply, {}, {}}, " attention"),
            "eager attention (scaled as transformers 5.4)");
}

}  // namespace
}  // namespace drift
