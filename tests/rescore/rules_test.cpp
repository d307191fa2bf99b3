// Files whose log-probabilities follow another rule than log-softmax of raw logits, and files that
// only look so.
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rescore/served_model.hpp"

namespace drift {
namespace {

using ::testing::IsEmpty;

class NamedRule : public ::testing::TestWithParam<LogprobRule> {};

TEST_P(NamedRule, IsTheOneThatTheServerFollowed) {
  for (const std::uint64_t seed : {1, 2}) {
    const std::vector<DecodedRequest> file =
        served({.rule = GetParam(), .noise = 3e-7, .seed = seed});
    const RescoreRecord record = rescored_file(file);
    ASSERT_TRUE(record.rule) << seed;
    EXPECT_EQ(record.rule->rule.temperature, GetParam().temperature);
    EXPECT_EQ(record.rule->rule.top_k, GetParam().top_k);
    EXPECT_EQ(record.rule->rule.top_p, GetParam().top_p);
    EXPECT_EQ(record.rule->rule.base, GetParam().base);
    EXPECT_EQ(record.rule->rule.shift, GetParam().shift);
    EXPECT_EQ(record.rule->rule.before, GetParam().before);
    EXPECT_FALSE(record.rule->given);
    EXPECT_EQ(record.rule->tokens, 120U);
    EXPECT_LT(record.rule->max, 1e-3);
    EXPECT_TRUE(judge_outliers(record).tripped);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Rules, NamedRule,
    ::testing::Values(LogprobRule{.temperature = 0.7}, LogprobRule{.temperature = 1.35},
                      LogprobRule{.top_k = 20}, LogprobRule{.top_k = 37}, LogprobRule{.top_p = 0.9},
                      LogprobRule{.temperature = 0.7, .top_k = 40},
                      LogprobRule{.temperature = 0.8, .top_p = 0.95}, LogprobRule{.base = 2},
                      LogprobRule{.base = 10}, LogprobRule{.shift = 1}, LogprobRule{.shift = -1},
                      LogprobRule{.before = 1}, LogprobRule{.before = -1}));

TEST(Rule, GivenByAnOptionLeavesNoOutliers) {
  const LogprobRule rule{.temperature = 0.7, .top_k = 40};
  RescoreOptions options = file_options();
  options.rule = rule;
  std::vector<DecodedRequest> file = served({.rule = rule, .noise = 3e-7});
  const RescoreRecord record = rescored_file(file, options);
  EXPECT_THAT(record.outliers, IsEmpty());
  ASSERT_TRUE(record.rule);
  EXPECT_TRUE(record.rule->given);
  EXPECT_FALSE(judge_outliers(record).tripped);
  file[2].logprobs[4] -= 0.01;
  const RescoreRecord altered = rescored_file(file, options);
  EXPECT_EQ(altered.requests[2].first_outlier, 5U);
  EXPECT_EQ(altered.outliers.size(), 1U);
}

TEST(Rule, IsNamedUnderTheNoiseOfHalfPrecision) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const RescoreRecord record = rescored_file(
        served({.rule = {.temperature = 0.5}, .noise = 0.004, .bfloat16 = true, .seed = seed}));
    ASSERT_TRUE(record.rule) << seed;
    EXPECT_NEAR(record.rule->rule.temperature, 0.5, 0.01);
    EXPECT_EQ(record.rule->rule.top_k, 0U);
  }
}

TEST(Rule, IsNotClaimedOfNoise) {
  for (const double noise : {1e-6, 1e-4, 0.003, 0.02}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const RescoreRecord record = rescored_file(served({.noise = noise, .seed = seed}));
      EXPECT_FALSE(record.rule) << noise << " " << seed;
      EXPECT_THAT(record.outliers, IsEmpty()) << noise << " " << seed;
      EXPECT_FALSE(judge_outliers(record).tripped) << noise << " " << seed;
    }
  }
}

TEST(Rule, IsNotClaimedOfWhatNoRuleExplains) {
  std::vector<DecodedRequest> file = served({.noise = 3e-7});
  for (DecodedRequest& request : file) {
    for (std::size_t i = 0; i < request.logprobs.size(); ++i) {
      request.logprobs[i] -= 0.4 + 0.3 * std::sin(static_cast<double>(7 * i + request.prompt));
    }
  }
  const RescoreRecord record = rescored_file(file);
  EXPECT_FALSE(record.rule);
  EXPECT_TRUE(judge_outliers(record).tripped);
}

TEST(Rule, IsNotClaimedWhereSomeRequestsDontFollowIt) {
  const std::vector<DecodedRequest> right = served({.noise = 3e-7});
  std::vector<DecodedRequest> file = served({.rule = {.temperature = 0.7}, .noise = 3e-7});
  file[4] = right[4];
  const RescoreRecord record = rescored_file(file);
  EXPECT_FALSE(record.rule);
  EXPECT_FALSE(record.requests[4].first_outlier) << "the quietest one sets the limit";
  for (const std::size_t i : {0, 1, 2, 3, 5}) {
    EXPECT_TRUE(record.requests[i].first_outlier) << i;
  }
}

TEST(Rule, IsAskedOfFilesAlone) {
  std::vector<DecodedRequest> file = served({.rule = {.temperature = 0.7}});
  for (DecodedRequest& request : file) {
    request.mode = "sample";
  }
  EXPECT_FALSE(rescored_file(file).rule);
}

TEST(OneSided, IsAFileThatRoundingDoesNotMake) {
  std::vector<DecodedRequest> file = served({.noise = 1e-6});
  for (DecodedRequest& request : file) {
    for (std::size_t i = 0; i < request.logprobs.size(); ++i) {
      request.logprobs[i] -= 0.01 + 0.002 * static_cast<double>(i % 5);
    }
  }
  const RescoreRecord record = rescored_file(file);
  EXPECT_THAT(record.outliers, IsEmpty()) << "half precision is as far apart";
  EXPECT_FALSE(record.rule);
  EXPECT_TRUE(one_sided(record));
  EXPECT_TRUE(judge_outliers(record).tripped);
}

TEST(RuleLogprob, TakesTemperatureThenTopKThenTopP) {
  const std::vector<float> logits{0, 2, 1, -4, 1};
  const double sum = std::exp(2 / 0.5) + 2 * std::exp(1 / 0.5);
  const LogprobRule top_k{.temperature = 0.5, .top_k = 3};
  EXPECT_NEAR(rule_logprob(top_k, logits, 2), 2 - std::log(sum), 1e-12);
  EXPECT_TRUE(std::isinf(rule_logprob(top_k, logits, 0)));
  const LogprobRule with_top_p{.temperature = 0.5, .top_k = 3, .top_p = 0.5};
  EXPECT_NEAR(rule_logprob(with_top_p, logits, 1), 0, 1e-12) << "it has 0.79 of them";
  EXPECT_NEAR(rule_logprob({.base = 2}, logits, 1), rule_logprob({}, logits, 1) / std::log(2.0),
              1e-12);
}

}  // namespace
}  // namespace drift
