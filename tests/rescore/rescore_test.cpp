#include "driftaudit/rescore.hpp"

#include <array>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// What this made model says of a token: a figure of everything before it.
double made_logprob(const std::vector<std::int32_t>& ids, std::size_t at) {
  double sum = 0;
  for (std::size_t i = 0; i <= at; ++i) {
    sum = std::fmod(31 * sum + ids[i], 997);
  }
  return -1 - sum / 100;
}

std::vector<std::vector<TokenScore>> made_scorer(const std::vector<ScoredText>& texts) {
  std::vector<std::vector<TokenScore>> scores;
  for (const ScoredText& text : texts) {
    scores.emplace_back();
    for (std::size_t at = text.first; at < text.ids.size(); ++at) {
      scores.back().push_back({made_logprob(text.ids, at), 1, 0});
    }
  }
  return scores;
}

/// An answer of so many tokens, decoded soundly.
DecodedRequest sound_request(std::uint32_t prompt, std::uint32_t tokens) {
  DecodedRequest request;
  request.mode = "greedy";
  request.prompt = prompt;
  request.prompt_ids = {static_cast<std::int32_t>(prompt), 7};
  std::vector<std::int32_t> ids = request.prompt_ids;
  for (std::uint32_t i = 0; i < tokens; ++i) {
    request.tokens.push_back(static_cast<std::int32_t>(10 * prompt + i));
    ids.push_back(request.tokens.back());
    request.logprobs.push_back(made_logprob(ids, ids.size() - 1));
  }
  return request;
}

std::vector<DecodedRequest> sound_requests(std::uint32_t count, std::uint32_t tokens = 20) {
  std::vector<DecodedRequest> requests;
  for (std::uint32_t prompt = 1; prompt <= count; ++prompt) {
    requests.push_back(sound_request(prompt, tokens));
  }
  return requests;
}

RescoreRecord record_of(const std::vector<DecodedRequest>& requests,
                        std::optional<double> outlier = {}) {
  return rescore(requests, made_scorer, {outlier, 50, 1024});
}

TEST(TokenScore, IsTheLogitLessLogSumExp) {
  const std::array<float, 3> logits{1, 2, 3};
  const TokenScore score = token_score(logits, 1);
  EXPECT_NEAR(score.logprob, 2 - std::log(std::exp(1) + std::exp(2) + std::exp(3)), 1e-12);
  EXPECT_EQ(score.rank, 2U);
  EXPECT_EQ(score.margin, 1);
}

TEST(TokenScore, SaysHowFarBelowTheTopKATokenLies) {
  const std::array<float, 5> logits{5, kNan, 3, 4, 1};
  EXPECT_EQ(token_score(logits, 4, 2).below_top_k, 3);
  EXPECT_EQ(token_score(logits, 4, 4).below_top_k, 0);
  EXPECT_EQ(token_score(logits, 4).below_top_k, 0);
  EXPECT_EQ(token_score(logits, 4).logit, 1);
}

TEST(TokenScore, RanksEqualLogitsByIdAndNanLast) {
  const std::array<float, 5> logits{2, kNan, 2, kNan, 1};
  EXPECT_EQ(token_score(logits, 0).rank, 1U);
  EXPECT_EQ(token_score(logits, 2).rank, 2U);
  EXPECT_EQ(token_score(logits, 4).rank, 3U);
  EXPECT_EQ(token_score(logits, 1).rank, 4U);
  EXPECT_EQ(token_score(logits, 3).rank, 5U);
  EXPECT_TRUE(std::isnan(token_score(logits, 3).margin));
  EXPECT_TRUE(std::isnan(token_score(logits, 0).logprob));
  EXPECT_EQ(token_score(logits, 0).margin, 0);
}

TEST(Rescore, FindsNothingInSoundAnswers) {
  const RescoreRecord record = record_of(sound_requests(3));
  EXPECT_EQ(record.limit, 1e-3);
  EXPECT_THAT(record.outliers, IsEmpty());
  EXPECT_THAT(record.scored, SizeIs(60));
  EXPECT_EQ(record.spread.at(0).max, 0);
  EXPECT_FALSE(judge_outliers(record).tripped);
}

TEST(Rescore, FindsOneTokenWithItsPromptAndStep) {
  std::vector<DecodedRequest> requests = sound_requests(3);
  requests[1].logprobs[4] += 0.01;
  const RescoreRecord record = record_of(requests);
  ASSERT_THAT(record.outliers, SizeIs(1));
  EXPECT_EQ(record.outliers[0].prompt, 2U);
  EXPECT_EQ(record.outliers[0].step, 5U);
  EXPECT_EQ(record.requests[1].first_outlier, 5U);
  EXPECT_FALSE(record.requests[0].first_outlier);
  EXPECT_EQ(record.spread.at(0).outliers, 1U);
  EXPECT_EQ(record.spread.at(1).part, "early");
  EXPECT_EQ(record.spread.at(1).outliers, 1U);
  EXPECT_EQ(record.spread.at(2).part, "late") << "twenty steps have none between";
  EXPECT_TRUE(judge_outliers(record).tripped);
}

TEST(Rescore, TakesALimitThatIsGiven) {
  std::vector<DecodedRequest> requests = sound_requests(2);
  requests[0].logprobs[0] += 0.01;
  EXPECT_THAT(record_of(requests, 0.02).outliers, IsEmpty());
  requests[0].logprobs[0] = requests[1].logprobs[0];
  EXPECT_THAT(record_of(requests, 0.0001).outliers, SizeIs(1));
  EXPECT_TRUE(record_of(requests, 0.0001).limit_given);
}

TEST(Rescore, CountsWhatIsNotFiniteAsOutliers) {
  std::vector<DecodedRequest> requests = sound_requests(2);
  requests[0].logprobs[3] = std::numeric_limits<double>::quiet_NaN();
  requests[1].logprobs[0] = -std::numeric_limits<double>::infinity();
  const RescoreRecord record = record_of(requests);
  EXPECT_EQ(record.non_finite, 2U);
  EXPECT_THAT(record.outliers, SizeIs(2));
  EXPECT_EQ(record.limit, 1e-3);
}

TEST(Rescore, FindsThatAllIsOff) {
  std::vector<DecodedRequest> requests = sound_requests(2);
  for (DecodedRequest& request : requests) {
    for (double& logprob : request.logprobs) {
      logprob -= 0.1;
    }
  }
  const RescoreRecord record = record_of(requests);
  EXPECT_THAT(record.outliers, SizeIs(40));
  EXPECT_TRUE(judge_outliers(record).tripped);
  EXPECT_FALSE(judge_outliers(record_of(requests, 1)).tripped) << "the limit was given";
}

TEST(Rescore, NamesThePeriodOfFailingRequests) {
  std::vector<DecodedRequest> requests = sound_requests(9);
  for (const std::size_t i : {2, 5, 8}) {
    requests[i].logprobs[7] -= 1;
  }
  const RescoreRecord record = record_of(requests);
  ASSERT_TRUE(record.request_period);
  EXPECT_EQ(record.request_period->period, 3U);
  EXPECT_EQ(record.request_period->first, 3U);
}

TEST(Rescore, ClaimsNoPeriodThatLeavesOutTheBeginning) {
  std::vector<DecodedRequest> requests = sound_requests(9);
  for (const std::size_t i : {4, 6, 8}) {
    requests[i].logprobs[7] -= 1;
  }
  EXPECT_FALSE(record_of(requests).request_period) << "the third request is sound";
}

TEST(Rescore, NamesThePeriodOfFailingSteps) {
  std::vector<DecodedRequest> requests = sound_requests(3);
  for (const std::size_t i : {3, 7, 11, 15, 19}) {
    requests[0].logprobs[i] -= 1;
  }
  EXPECT_EQ(record_of(requests).requests[0].outlier_period, 4U);
}

TEST(Rescore, CountsTokensThatThePrefillWouldNotChoose) {
  std::vector<DecodedRequest> requests = sound_requests(3);
  requests[1].mode = "sample";
  requests[2].mode = "given";
  for (DecodedRequest& request : requests) {
    request.logprobs[0] -= 1;
  }
  const auto with_rank = [&](std::uint32_t rank, double below, const std::string& dtype) {
    const TextScorer scorer = [&](const std::vector<ScoredText>& texts) {
      auto scores = made_scorer(texts);
      for (auto& of_text : scores) {
        for (TokenScore& score : of_text) {
          score.rank = rank;
          score.logit = 12;
          score.margin = below;
          score.below_top_k = rank > 50 ? below : 0;
        }
      }
      return scores;
    };
    RescoreOptions options{{}, 50, 1024};
    options.dtype = dtype;
    return rescore(requests, scorer, options).not_chosen;
  };
  EXPECT_EQ(with_rank(1, 0, "float32"), 0U);
  EXPECT_EQ(with_rank(2, 0.5, "float32"), 1U) << "the greedy one";
  EXPECT_EQ(with_rank(51, 0.5, "float32"), 2U) << "the sampled one too";
  EXPECT_EQ(with_rank(51, 0, "float32"), 0U) << "a tie";
  EXPECT_EQ(with_rank(51, 0.0625, "bfloat16"), 0U) << "one step of bfloat16 at 12";
  EXPECT_EQ(with_rank(51, 0.5, "bfloat16"), 2U);
}

TEST(Swaps, AreNamedOnBothSides) {
  std::vector<DecodedRequest> requests = sound_requests(5);
  std::swap(requests[1].tokens, requests[3].tokens);
  std::swap(requests[1].logprobs, requests[3].logprobs);
  const RescoreRecord record = record_of(requests);
  ASSERT_TRUE(record.requests[1].answers);
  EXPECT_EQ(record.requests[1].answers->prompt, 4U);
  EXPECT_EQ(record.requests[1].answers->step, 1U);
  ASSERT_TRUE(record.requests[3].answers);
  EXPECT_EQ(record.requests[3].answers->prompt, 2U);
  EXPECT_FALSE(record.requests[0].answers);
}

TEST(Swaps, AreNamedFromTheStepOnWhereTheyHappened) {
  std::vector<DecodedRequest> requests = sound_requests(3);
  for (std::size_t i = 8; i < 20; ++i) {
    std::swap(requests[0].tokens[i], requests[1].tokens[i]);
    std::swap(requests[0].logprobs[i], requests[1].logprobs[i]);
  }
  const RescoreRecord record = record_of(requests);
  ASSERT_TRUE(record.requests[0].answers);
  EXPECT_EQ(record.requests[0].answers->prompt, 2U);
  EXPECT_EQ(record.requests[0].answers->step, 9U);
}

TEST(Swaps, AreNamedWhereACacheWasTakenButTheLastTokenKept) {
  std::vector<DecodedRequest> requests = sound_requests(4);
  constexpr std::size_t kSwapped = 8;
  const std::vector<DecodedRequest> sound = requests;
  for (const std::size_t r : {0, 1}) {
    const DecodedRequest& other = sound[1 - r];
    std::vector<std::int32_t> ids = other.prompt_ids;
    ids.insert(ids.end(), other.tokens.begin(), other.tokens.begin() + kSwapped - 1);
    ids.push_back(sound[r].tokens[kSwapped - 1]);
    for (std::size_t i = kSwapped; i < 20; ++i) {
      ids.push_back(sound[r].tokens[i]);
      requests[r].logprobs[i] = made_logprob(ids, ids.size() - 1);
    }
  }
  const RescoreRecord record = record_of(requests);
  ASSERT_TRUE(record.requests[0].answers);
  EXPECT_EQ(record.requests[0].answers->prompt, 2U);
  EXPECT_EQ(record.requests[0].answers->step, 9U);
}

TEST(Swaps, AreNotClaimedOfRequestsThatAreWrongOtherwise) {
  std::vector<DecodedRequest> requests = sound_requests(3);
  for (const std::size_t r : {0, 1}) {
    for (double& logprob : requests[r].logprobs) {
      logprob -= 0.5 * static_cast<double>(r + 1);
    }
  }
  const RescoreRecord record = record_of(requests, 1e-3);
  EXPECT_TRUE(record.requests[0].first_outlier);
  EXPECT_FALSE(record.requests[0].answers);
  EXPECT_FALSE(record.requests[1].answers);
}

TEST(Swaps, DoNotCrossModes) {
  std::vector<DecodedRequest> requests = sound_requests(2);
  std::swap(requests[0].tokens, requests[1].tokens);
  std::swap(requests[0].logprobs, requests[1].logprobs);
  requests[1].mode = "sample";
  EXPECT_FALSE(record_of(requests, 1e-3).requests[0].answers);
}

}  // namespace
}  // namespace drift
