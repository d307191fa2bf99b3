#include "driftaudit/measure.hpp"

#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

constexpr Measure kBits{Measure::Kind::kBits, 0};
constexpr Measure kTokens{Measure::Kind::kTokens, 0};

/// A run whose steps are written as tokens with the digest of their logits: {"1a", "2a"}.
Run run_of(std::uint32_t prompt, const std::vector<std::string>& steps,
           const std::string& mode = "greedy") {
  Run run;
  run.mode = mode;
  run.prompt = prompt;
  run.prompt_ids = std::vector<std::int32_t>(prompt, 7);  // the first prompt is the shortest
  for (const std::string& text : steps) {
    Step step;
    step.token = text[0] - '0';
    step.digest = text.substr(1);
    if (mode == "score") {
      step.given = 5;
    }
    run.steps.push_back(step);
  }
  return run;
}

/// Owns what its answer looks at.
struct Answered {
  std::shared_ptr<Report> report = std::make_shared<Report>();
  Answer answer{report.get(), {}};
};

Answered answer_of(std::vector<Run> runs) {
  Answered answered;
  answered.report->runs = std::move(runs);
  return answered;
}

bool equal(const Answered& a, const Answered& b, const Measure& measure,
           const std::optional<BisectPart>& part = std::nullopt) {
  return equal_answers(a.answer, b.answer, measure, part);
}

TEST(EqualAnswers, ByBitsNeedEveryDigestToBeTheSame) {
  const Answered a = answer_of({run_of(1, {"1a", "2b"}), run_of(2, {"1c"})});
  EXPECT_TRUE(equal(a, a, kBits));
  EXPECT_FALSE(equal(a, answer_of({run_of(1, {"1a", "2b"}), run_of(2, {"1x"})}), kBits));
  EXPECT_TRUE(equal(a, answer_of({run_of(1, {"1a", "2x"}), run_of(2, {"1x"})}), kTokens));
}

TEST(EqualAnswers, ByTokensNeedEveryTokenToBeTheSame) {
  const Answered a = answer_of({run_of(1, {"1a", "2b"})});
  EXPECT_FALSE(equal(a, answer_of({run_of(1, {"1a", "3b"})}), kTokens));
}

TEST(EqualAnswers, LeaveOutWhatFollowsAChangedToken) {
  // A sampler that draws otherwise over the same logits changes no bits.
  const Answered a = answer_of({run_of(1, {"1a", "2b", "3c"}, "sample")});
  const Answered b = answer_of({run_of(1, {"1a", "4b", "3x"}, "sample")});
  EXPECT_TRUE(equal(a, b, kBits));
  EXPECT_FALSE(equal(a, b, kTokens));
}

TEST(EqualAnswers, GoOnPastAnotherTopTokenOfAScoredText) {
  const Answered a = answer_of({run_of(1, {"1a", "2b"}, "score")});
  EXPECT_FALSE(equal(a, answer_of({run_of(1, {"9a", "2x"}, "score")}), kBits));
}

TEST(EqualAnswers, DifferWhereOneEndsEarlier) {
  const Answered a = answer_of({run_of(1, {"1a", "2b"})});
  EXPECT_FALSE(equal(a, answer_of({run_of(1, {"1a"})}), kBits));
  EXPECT_FALSE(equal(answer_of({run_of(1, {"1a"})}), a, kTokens));
}

TEST(EqualAnswers, LookAtNothingButThePart) {
  const Answered whole = answer_of({run_of(1, {"1a"}), run_of(2, {"1a", "2b", "3c"})});
  const Answered part = answer_of({run_of(2, {"1a", "2b"})});
  EXPECT_TRUE(equal(whole, part, kBits, BisectPart{"greedy", 2, 2}));
  EXPECT_TRUE(equal(part, whole, kBits, BisectPart{"greedy", 2, 2}));
  EXPECT_FALSE(
      equal(whole, answer_of({run_of(2, {"1a", "2x"})}), kBits, BisectPart{"greedy", 2, 2}));
}

TEST(EqualAnswers, RefuseAnAnswerToAnotherPart) {
  const Answered whole = answer_of({run_of(1, {"1a"}), run_of(2, {"1a"})});
  EXPECT_THROW(equal(whole, answer_of({run_of(1, {"1a"})}), kBits, BisectPart{"greedy", 2, 1}),
               Error);
}

/// Answers of one step whose logits are given; their digests tell them apart.
Answered logits_of(const std::vector<float>& logits, const std::string& digest) {
  Answered answer = answer_of({run_of(1, {"1" + digest})});
  answer.answer.logits = [logits](std::size_t, std::size_t) { return logits; };
  return answer;
}

TEST(EqualAnswers, ByLogitsMayDifferByTheMostAndNotByMore) {
  const Measure half{Measure::Kind::kLogits, 0.5};
  const Answered a = logits_of({1.0F, -2.0F, 3.0F}, "a");
  EXPECT_TRUE(equal(a, logits_of({1.5F, -2.5F, 3.0F}, "b"), half));
  EXPECT_FALSE(equal(a, logits_of({1.0F, -2.0F, 3.50001F}, "b"), half));
}

TEST(EqualAnswers, ByLogitsDifferWhereOneIsNoNumber) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Measure any{Measure::Kind::kLogits, 1e30};
  const Answered a = logits_of({1.0F, kInfinity}, "a");
  EXPECT_FALSE(equal(a, logits_of({kNan, kInfinity}, "b"), any));
  EXPECT_FALSE(equal(a, logits_of({1.0F, 1.0F}, "b"), any));
  EXPECT_TRUE(equal(a, logits_of({2.0F, kInfinity}, "b"), any)) << "the same infinity";
}

TEST(CheapestPart, HasTheFewestStepsThenTheShortestPrompt) {
  const Answered a = answer_of({run_of(1, {"1a", "1a", "1a"}), run_of(3, {"1a", "1a", "1a"}),
                                run_of(2, {"1a", "1a", "1a"}), run_of(4, {"1a", "1a", "1a"})});
  const Answered b = answer_of({run_of(1, {"1a", "1a", "1x"}), run_of(3, {"1a", "1x", "1x"}),
                                run_of(2, {"1a", "1x", "1a"}), run_of(4, {"1a", "1a", "1a"})});
  const BisectPart part = cheapest_part(a.answer, b.answer, kBits);
  EXPECT_EQ(part.mode, "greedy");
  EXPECT_EQ(part.prompt, 2U);
  EXPECT_EQ(part.steps, 2U);
  EXPECT_FALSE(equal(a, b, kBits, part));
}

TEST(CheapestPart, DependsOnTheMeasure) {
  const Answered a = answer_of({run_of(1, {"1a", "2a", "3a"})});
  const Answered b = answer_of({run_of(1, {"1x", "2x", "4x"})});
  EXPECT_EQ(cheapest_part(a.answer, b.answer, kBits).steps, 1U);
  EXPECT_EQ(cheapest_part(a.answer, b.answer, kTokens).steps, 3U);
}

TEST(CheapestPart, CutsNoScoredText) {
  const Answered a = answer_of({run_of(1, {"1a", "1a", "1a"}, "score"), run_of(2, {"1a", "1a"})});
  const Answered b = answer_of({run_of(1, {"1x", "1a", "1a"}, "score"), run_of(2, {"1a", "1x"})});
  const BisectPart part = cheapest_part(a.answer, b.answer, kBits);
  EXPECT_EQ(part.mode, "greedy") << "two steps against a text of three";
  EXPECT_EQ(part.steps, 2U);
}

TEST(AnswerDigest, TellsTokensAndBitsApart) {
  const std::string digest = answer_digest(*answer_of({run_of(1, {"1a", "2b"})}).report);
  EXPECT_EQ(digest.size(), 32U);
  EXPECT_EQ(digest, answer_digest(*answer_of({run_of(1, {"1a", "2b"})}).report));
  EXPECT_NE(digest, answer_digest(*answer_of({run_of(1, {"1a", "2x"})}).report));
  EXPECT_NE(digest, answer_digest(*answer_of({run_of(1, {"1a", "3b"})}).report));
  EXPECT_NE(digest, answer_digest(*answer_of({run_of(2, {"1a", "2b"})}).report));
}

}  // namespace
}  // namespace drift
