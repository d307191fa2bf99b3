#include "cli/sided.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(SidedEnvironment, GoesToBothSidesWithoutAPrefix) {
  const Sided sided = parse_sided_environment({"X=1", "*:Y=2"});
  EXPECT_THAT(sided.of[0], ElementsAre(Pair("X", "1"), Pair("Y", "2")));
  EXPECT_EQ(sided.of[0], sided.of[1]);
}

TEST(SidedEnvironment, GoesToTheSideThatItNames) {
  const Sided sided = parse_sided_environment({"X=1", "B:X=2"});
  EXPECT_THAT(sided.of[0], ElementsAre(Pair("X", "1")));
  EXPECT_THAT(sided.of[1], ElementsAre(Pair("X", "2")));
}

TEST(SidedEnvironment, KeepsColonsAndEqualsInValues) {
  EXPECT_THAT(parse_sided_environment({"A:X=a:b=c"}).of[0], ElementsAre(Pair("X", "a:b=c")));
}

TEST(SidedEnvironment, TakesAnEmptyValue) {
  EXPECT_THAT(parse_sided_environment({"X="}).of[1], ElementsAre(Pair("X", "")));
}

TEST(SidedEnvironment, RefusesWhatIsNotAnAssignment) {
  for (const char* text : {"X", "=1", "A:=1", "1X=2", "C:X=1", "A B=1", ""}) {
    EXPECT_THROW(parse_sided_environment({text}), Error) << text;
  }
}

TEST(SidedThreads, IsOneWhereNothingIsSaid) {
  EXPECT_THAT(parse_sided_threads({}), ElementsAre(1U, 1U));
  EXPECT_THAT(parse_sided_threads({"B:4"}), ElementsAre(1U, 4U));
  EXPECT_THAT(parse_sided_threads({"3", "A:2"}), ElementsAre(2U, 3U));
}

TEST(SidedThreads, RefusesWhatIsNotACount) {
  for (const char* text : {"0", "-1", "x", "2x", "1025", "A:", ""}) {
    EXPECT_THROW(parse_sided_threads({text}), Error) << text;
  }
}

TEST(SidedConditions, AreTheUsualOnesWhereNothingIsSaid) {
  EXPECT_THAT(parse_sided_conditions({}), ElementsAre(Conditions{}, Conditions{}));
}

TEST(SidedConditions, GoToTheSideThatTheyName) {
  const auto conditions =
      parse_sided_conditions({"denormals=flush", "B:alignment=16", "A:memory-limit=1G"});
  EXPECT_EQ(conditions.at(0), (Conditions{1, std::uint64_t{1} << 30U, 64, true}));
  EXPECT_EQ(conditions.at(1), (Conditions{1, 0, 16, true}));
}

TEST(SidedConditions, RefuseWhatIsNone) {
  for (const char* text :
       {"", "alignment", "alignment=3", "B:threads=2", "dtype=float32", "C:alignment=4"}) {
    EXPECT_THROW(parse_sided_conditions({text}), Error) << text;
  }
}

TEST(SidedAttention, IsAutoWhereNothingIsSaid) {
  EXPECT_THAT(parse_sided_attention({}), ElementsAre(std::nullopt, std::nullopt));
  EXPECT_THAT(parse_sided_attention({"sdpa", "A:auto"}),
              ElementsAre(std::nullopt, Attention::kSdpa));
}

TEST(SidedAttention, GoesToTheSideThatItNames) {
  EXPECT_THAT(parse_sided_attention({"*:sdpa", "A:eager"}),
              ElementsAre(Attention::kEager, Attention::kSdpa));
  EXPECT_THAT(parse_sided_attention({"A:eager", "sdpa"}),
              ElementsAre(Attention::kSdpa, Attention::kSdpa));
}

TEST(SidedAttention, RefusesWhatIsNone) {
  for (const char* text : {"", "A:", "SDPA", "flash", "C:eager", "eager "}) {
    EXPECT_THROW(parse_sided_attention({text}), Error) << text;
  }
}

}  // namespace
}  // namespace drift
