#include "driftaudit/step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/hash.hpp"

#include "diff/made_logits.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<std::int32_t> ids(const std::vector<TokenLogit>& top) {
  std::vector<std::int32_t> ids;
  for (const TokenLogit& entry : top) {
    ids.push_back(entry.id);
  }
  return ids;
}

TEST(ReduceStep, KeepsTheHighestFalling) {
  const std::vector<float> logits{1, 5, -2, 4, 3};
  const Step step = reduce_step(3, logits, 3);
  EXPECT_THAT(ids(step.top), ElementsAre(1, 3, 4));
  EXPECT_EQ(step.top[2].logit, 3.0F);
  EXPECT_EQ(step.token, 3);
  EXPECT_EQ(step.logit, 4.0F);
  EXPECT_EQ(step.gap, 1.0);
}

TEST(ReduceStep, PutsTheLowestIdFirstAmongEquals) {
  const std::vector<float> logits{2, 7, 7, 2, 7, 2};
  EXPECT_THAT(ids(reduce_step(1, logits, 5).top), ElementsAre(1, 2, 4, 0, 3));
  EXPECT_EQ(reduce_step(1, logits, 5).gap, 0.0);
}

TEST(ReduceStep, TakesTheGapInDouble) {
  const std::vector<float> logits{-100.00001F, -100.0F, -300.0F};
  EXPECT_EQ(reduce_step(1, logits, 2).gap, double{-100.0F} - double{-100.00001F});
}

TEST(ReduceStep, KeepsOneButStillKnowsTheGap) {
  const std::vector<float> logits{1, 4, 2};
  const Step step = reduce_step(1, logits, 1);
  EXPECT_THAT(ids(step.top), ElementsAre(1));
  EXPECT_EQ(step.gap, 2.0);
}

TEST(ReduceStep, KeepsNoMoreThanThereAre) {
  const std::vector<float> logits{1, 4};
  EXPECT_THAT(ids(reduce_step(1, logits, 64).top), ElementsAre(1, 0));
}

TEST(ReduceStep, RanksNanLastAndCountsIt) {
  const std::vector<float> logits{kNan, -5, kNan, -kInf, 2, kInf};
  const Step step = reduce_step(4, logits, 6);
  EXPECT_THAT(ids(step.top), ElementsAre(5, 4, 1, 3, 0, 2));
  EXPECT_EQ(step.non_finite, 4U);
}

TEST(ReduceStep, DigestsTheRawBytes) {
  const std::vector<float> zero{0.0F, 1.0F};
  const std::vector<float> minus_zero{-0.0F, 1.0F};
  EXPECT_EQ(reduce_step(1, zero, 2).digest, xxh3_128_hex(std::as_bytes(std::span(zero))));
  EXPECT_NE(reduce_step(1, zero, 2).digest, reduce_step(1, minus_zero, 2).digest);
}

TEST(ReduceStep, KeepsTheGivenTokensLogProbability) {
  const std::vector<float> logits{0, 0, 0, 0};
  const Step step = reduce_step(0, logits, 2, 3);
  EXPECT_EQ(step.given, 3);
  EXPECT_DOUBLE_EQ(step.given_logprob, -std::log(4.0));
  EXPECT_FALSE(reduce_step(0, logits, 2).given.has_value());
}

TEST(ReduceStep, RefusesATokenThatIsNoneOfTheLogits) {
  const std::vector<float> logits{0, 1};
  EXPECT_THROW(reduce_step(2, logits, 2), Error);
  EXPECT_THROW(reduce_step(-1, logits, 2), Error);
  EXPECT_THROW(reduce_step(0, logits, 2, 2), Error);
  EXPECT_THROW(reduce_step(0, Logits(logits).first(1), 2), Error);
}

TEST(ReduceStep, AgreesWithAFullSortOnMadeLogits) {
  Made made(1);
  for (int round = 0; round < 40; ++round) {
    std::vector<float> logits = made.logits(2 + made.next() % 700, -4, 4);
    for (float& value : logits) {
      value = std::round(value * 8) / 8;  // many equals
    }
    for (std::size_t i = made.next() % 9; i < logits.size(); i += 31) {
      logits[i] = i % 2 == 0 ? kNan : -kInf;
    }
    std::vector<std::int32_t> sorted(logits.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      sorted[i] = static_cast<std::int32_t>(i);
    }
    const auto rank = [&](std::int32_t id) {
      const float value = logits[static_cast<std::size_t>(id)];
      return std::isnan(value) ? std::make_pair(1, 0.0F) : std::make_pair(0, -value);
    };
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::int32_t x, std::int32_t y) { return rank(x) < rank(y); });
    const std::size_t keep = std::min<std::size_t>(1 + made.next() % 80, logits.size());
    const TopTwo two = top_two(logits);
    EXPECT_THAT((std::vector{two.first.id, two.second.id}), ElementsAre(sorted[0], sorted[1]));
    sorted.resize(keep);
    EXPECT_EQ(ids(reduce_step(0, logits, keep).top), sorted);
  }
}

TEST(LogSumExp, IsTheLogarithmOfTheCountForZeros) {
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector<float>(50257, 0.0F)), std::log(50257.0));
}

TEST(LogSumExp, HoldsForLogitsFarFromZero) {
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector<float>{-1000, -1000}), -1000 + std::log(2.0));
  EXPECT_DOUBLE_EQ(log_sum_exp(std::vector<float>{1000, 0}), 1000.0);
}

TEST(LogSumExp, SaysWhatNanAndInfinitiesMakeOfIt) {
  EXPECT_TRUE(std::isnan(log_sum_exp(std::vector<float>{1, kNan, kInf})));
  EXPECT_EQ(log_sum_exp(std::vector<float>{1, kInf}), kInf);
  EXPECT_EQ(log_sum_exp(std::vector<float>{-kInf, -kInf}), -kInf);
  EXPECT_EQ(log_sum_exp(std::vector<float>{-kInf, 3}), 3.0);
}

TEST(LogSumExp, AgreesWithLongDoubleOnMadeLogits) {
  Made made(2);
  for (int round = 0; round < 40; ++round) {
    const std::vector<float> logits = made.logits(2 + made.next() % 3000, -120, -20);
    long double sum = 0;
    for (const float logit : logits) {
      sum += std::exp(static_cast<long double>(logit));
    }
    EXPECT_NEAR(log_sum_exp(logits), static_cast<double>(std::log(sum)), 1e-12);
  }
}

}  // namespace
}  // namespace drift
