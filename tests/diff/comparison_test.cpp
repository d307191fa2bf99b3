#include "driftaudit/comparison.hpp"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drift {
namespace {

using ::testing::ElementsAre;

Step step_of(std::int32_t token) {
  Step step;
  step.token = token;
  return step;
}

StepDifference same(double gap) {
  StepDifference d;
  d.gap_a = d.gap_b = gap;
  d.gap_change = 0;
  d.kl = 0;
  return d;
}

StepDifference changed(double gap_a, double gap_b, double gap_change, double max_abs) {
  StepDifference d;
  d.same = false;
  d.gap_a = gap_a;
  d.gap_b = gap_b;
  d.gap_change = gap_change;
  d.max_abs = max_abs;
  d.max_ulp = 3;
  d.kl = max_abs / 10;
  d.flip_possible = gap_a <= 2 * max_abs;
  return d;
}

void add(Comparison& comparison, const StepDifference& d, std::int32_t a = 7, std::int32_t b = 7) {
  comparison.add_step(step_of(a), step_of(b), d);
}

TEST(Comparison, KnowsNoLargestKlWhereAStepHasNone) {
  for (const bool kept_first : {true, false}) {
    Comparison c;
    c.begin_prompt("score", 1);
    StepDifference kept = changed(1, 1, 0.25, 0.5);
    kept.kl.reset();
    kept.on_kept = true;
    add(c, kept_first ? kept : changed(1, 1, 0.25, 0.5));
    add(c, kept_first ? changed(1, 1, 0.25, 0.5) : kept);
    EXPECT_FALSE(c.prompts()[0].max_kl.has_value());
    EXPECT_EQ(c.prompts()[0].steps_on_kept, 1U);
    EXPECT_EQ(c.summary().steps_on_kept, 1U);
    EXPECT_TRUE(c.summary().kl_percentiles.empty());
  }
}

TEST(Comparison, CountsGreedyStepsWithoutAGapChange) {
  Comparison c;
  StepDifference unknown = changed(1, 1, 0.25, 0.5);
  unknown.gap_change.reset();
  c.begin_prompt("greedy", 1);
  add(c, unknown);
  add(c, same(1));
  c.begin_prompt("sample", 1);
  add(c, unknown);
  EXPECT_EQ(c.summary().gap_changes_unknown, 1U);
  EXPECT_EQ(c.prompts()[1].gap_changes_unknown, 1U);
}

TEST(Comparison, OfEqualSidesIsIdentical) {
  Comparison c;
  c.begin_prompt("greedy", 1);
  add(c, same(0.5));
  add(c, same(0.25));
  const Summary s = c.summary();
  EXPECT_EQ(s.verdict, "identical");
  EXPECT_EQ(s.steps, 2U);
  EXPECT_EQ(s.steps_changed, 0U);
  EXPECT_EQ(s.prompts, 1U);
  EXPECT_EQ(s.prompts_changed, 0U);
  EXPECT_EQ(s.first_steps_changed, 0U);
  EXPECT_EQ(s.smallest_gap->value, 0.25);
  EXPECT_EQ(s.max_gap_change, 0.0);
  EXPECT_FALSE(s.margin.has_value());
  EXPECT_FALSE(s.min_step_margin.has_value());
  EXPECT_FALSE(c.prompts()[0].first_changed_step.has_value());
}

TEST(Comparison, GathersAPromptsFigures) {
  Comparison c;
  c.begin_prompt("greedy", 3);
  add(c, same(2));
  add(c, changed(1, 0.75, 0.125, 0.25));
  add(c, changed(0.5, 0.625, 0.0625, 0.375));
  c.add_not_compared(4);
  const PromptComparison& p = c.prompts()[0];
  EXPECT_EQ(p.mode, "greedy");
  EXPECT_EQ(p.prompt, 3U);
  EXPECT_EQ(p.steps, 3U);
  EXPECT_EQ(p.steps_changed, 2U);
  EXPECT_EQ(p.first_changed_step, 2U);
  EXPECT_FALSE(p.first_token_change.has_value());
  EXPECT_EQ(p.max_abs_logit_diff, 0.375);
  EXPECT_EQ(p.max_ulp, 3U);
  EXPECT_EQ(p.max_gap_change, 0.125);
  EXPECT_EQ(p.max_kl, 0.0375);
  EXPECT_EQ(p.smallest_gap->value, 0.5);
  EXPECT_EQ(p.smallest_gap->step, 3U);
  EXPECT_EQ(p.smallest_gap->side, 'A');
  EXPECT_EQ(p.min_step_margin, 6.0);     // 0.75 ÷ 0.125, under 0.5 ÷ 0.0625
  EXPECT_EQ(p.steps_flip_possible, 1U);  // 0.5 ≤ 2 × 0.375; 1 > 2 × 0.25
  EXPECT_EQ(p.steps_not_compared, 4U);
}

TEST(Comparison, DividesTheSmallestGapByTheLargestGapChange) {
  Comparison c;
  c.begin_prompt("greedy", 1);
  add(c, changed(4, 3, 0.5, 0.5));
  c.begin_prompt("greedy", 2);
  add(c, changed(2, 2.125, 0.125, 0.5));
  const Summary s = c.summary();
  EXPECT_EQ(s.verdict, "same_tokens");
  EXPECT_EQ(s.smallest_gap->value, 2);
  EXPECT_EQ(s.smallest_gap->prompt, 2U);
  EXPECT_EQ(s.margin, 4.0);           // 2 ÷ 0.5
  EXPECT_EQ(s.min_step_margin, 6.0);  // 3 ÷ 0.5, under 2 ÷ 0.125
  EXPECT_EQ(s.first_steps_changed, 2U);
  EXPECT_EQ(s.max_abs_logit_diff, 0.5);
}

TEST(Comparison, FindsTheSmallestGapOnEitherSideAndTheEarliestAmongEquals) {
  Comparison c;
  c.begin_prompt("greedy", 2);
  add(c, changed(1, 0.5, 0.5, 0.5));
  c.begin_prompt("greedy", 1);
  add(c, same(3));
  add(c, changed(1, 0.5, 0.5, 0.5));
  const SmallestGap gap = *c.summary().smallest_gap;
  EXPECT_EQ(gap.value, 0.5);
  EXPECT_EQ(gap.prompt, 1U);
  EXPECT_EQ(gap.step, 2U);
  EXPECT_EQ(gap.side, 'B');
}

TEST(Comparison, StopsAfterTheFirstChangedToken) {
  Comparison c;
  c.begin_prompt("greedy", 1);
  add(c, same(1));
  EXPECT_TRUE(c.contexts_equal());
  add(c, changed(0.5, 0.25, 0.25, 1), 7, 8);
  EXPECT_FALSE(c.contexts_equal());
  add(c, changed(0.125, 0.125, 9, 9), 7, 9);
  add(c, same(1));
  const PromptComparison& p = c.prompts()[0];
  EXPECT_EQ(p.steps, 2U);
  EXPECT_EQ(p.first_token_change, 2U);
  EXPECT_EQ(p.token_change_cause, TokenChangeCause::kLogits);
  EXPECT_EQ(p.steps_not_compared, 2U);
  EXPECT_EQ(p.smallest_gap->value, 0.25);
  EXPECT_EQ(p.max_abs_logit_diff, 1);
  EXPECT_EQ(c.summary().verdict, "diverged");
  c.begin_prompt("greedy", 2);
  EXPECT_TRUE(c.contexts_equal());
}

TEST(Comparison, GoesOnPastAChangeThatWasOverruled) {
  Comparison c;
  c.begin_prompt("greedy", 1);
  Step forced = step_of(8);
  forced.fed = 7;
  c.add_step(step_of(7), forced, changed(0.5, 0.25, 0.25, 1));
  EXPECT_TRUE(c.contexts_equal());
  c.add_step(step_of(7), forced, changed(0.5, 0.25, 0.25, 2));
  EXPECT_EQ(c.prompts()[0].steps, 2U);
  EXPECT_EQ(c.prompts()[0].first_token_change, 1U);
  EXPECT_EQ(c.prompts()[0].max_abs_logit_diff, 2);
  EXPECT_EQ(c.prompts()[0].steps_not_compared, 0U);
  EXPECT_EQ(c.summary().verdict, "diverged");
}

TEST(Comparison, TakesGapsAndMarginsOfGreedyStepsOnly) {
  Comparison c;
  c.begin_prompt("greedy", 1);
  add(c, changed(4, 4, 0.5, 0.25));
  c.begin_prompt("sample", 1);
  add(c, changed(0.125, 0.125, 2, 3));
  const Summary s = c.summary();
  EXPECT_EQ(s.smallest_gap->value, 4);
  EXPECT_EQ(s.max_gap_change, 0.5);
  EXPECT_EQ(s.margin, 8.0);
  EXPECT_EQ(s.steps_flip_possible, 0U);
  EXPECT_EQ(s.max_abs_logit_diff, 3);
  EXPECT_EQ(s.steps, 2U);
  EXPECT_FALSE(c.summary("sample").smallest_gap.has_value());
  EXPECT_EQ(c.summary("sample").max_abs_logit_diff, 3);
  EXPECT_EQ(c.summary("greedy").max_abs_logit_diff, 0.25);
  EXPECT_THAT(c.modes(), ElementsAre("greedy", "sample"));
}

TEST(Comparison, CountsAPromptOnceHoweverManyModesRanIt) {
  Comparison c;
  for (const char* mode : {"greedy", "sample"}) {
    c.begin_prompt(mode, 1);
    add(c, changed(4, 4, 0.5, 0.25));
    c.begin_prompt(mode, 2);
    add(c, same(4));
  }
  EXPECT_EQ(c.summary().prompts, 2U);
  EXPECT_EQ(c.summary().prompts_changed, 1U);
  EXPECT_EQ(c.summary().first_steps_changed, 1U);
  EXPECT_EQ(c.summary("sample").prompts, 2U);
}

TEST(Comparison, SaysHowManyNumbersWereNotFiniteEvenWhenIdentical) {
  Comparison c;
  c.begin_prompt("greedy", 1);
  StepDifference d = same(std::numeric_limits<double>::quiet_NaN());
  d.non_finite = 6;
  add(c, d);
  add(c, same(3));
  EXPECT_EQ(c.summary().verdict, "identical");
  EXPECT_EQ(c.summary().non_finite, 6U);
  EXPECT_EQ(c.prompts()[0].non_finite, 6U);
  EXPECT_EQ(c.summary().smallest_gap->value, 3);
}

TEST(TokenChangeCause, LaysAGreedyTokenToTheLogits) {
  EXPECT_EQ(token_change_cause("greedy", step_of(1), step_of(2), changed(1, 1, 1, 1)),
            TokenChangeCause::kLogits);
  EXPECT_EQ(token_change_cause("score", step_of(1), step_of(2), changed(1, 1, 1, 1)),
            TokenChangeCause::kLogits);
}

TEST(TokenChangeCause, TellsLogitsFromTheSampler) {
  Step a = step_of(1);
  Step b = step_of(2);
  a.draw_digest = b.draw_digest = 11;
  EXPECT_EQ(token_change_cause("sample", a, b, changed(1, 1, 1, 1)), TokenChangeCause::kLogits);
  b.draw_digest = 12;
  EXPECT_EQ(token_change_cause("sample", a, b, changed(1, 1, 1, 1)), TokenChangeCause::kBoth);
  EXPECT_EQ(token_change_cause("sample", a, b, same(1)), TokenChangeCause::kSampler);
}

TEST(TokenChangeCause, IsNotKnownWithoutDraws) {
  EXPECT_FALSE(token_change_cause("sample", step_of(1), step_of(2), changed(1, 1, 1, 1)));
}

Step scored(std::int32_t token, double logprob) {
  Step step = step_of(token);
  step.given = 5;
  step.given_logprob = logprob;
  return step;
}

TEST(Comparison, ScoresATextOnBothSides) {
  Comparison c;
  c.begin_prompt("score", 1);
  const double log2 = std::log(2.0);
  // Perplexity: A exp((ln 2 + ln 8) / 2) = 4, B exp((ln 2 + ln 32) / 2) = 8.
  c.add_step(scored(1, -log2), scored(1, -log2), same(1));
  c.add_step(scored(1, -3 * log2), scored(2, -5 * log2), changed(1, 1, 1, 1));
  EXPECT_TRUE(c.contexts_equal());
  const Summary s = c.summary("score");
  EXPECT_NEAR(*s.perplexity_a, 4, 1e-12);
  EXPECT_NEAR(*s.perplexity_b, 8, 1e-12);
  EXPECT_EQ(s.top1_agreement, 0.5);
  EXPECT_EQ(s.verdict, "diverged");
  EXPECT_EQ(c.prompts()[0].first_token_change, 2U);
}

TEST(Comparison, RoundsThePercentilesRankUp) {
  Comparison c;
  c.begin_prompt("score", 1);
  for (int i = 1; i <= 7; ++i) {
    StepDifference d = same(1);
    d.kl = i;
    c.add_step(scored(1, -1), scored(1, -1), d);
  }
  // Ranks 3.5, 6.3, 6.93 and 7.
  const std::map<std::string, double> expected{{"50", 4}, {"90", 7}, {"99", 7}, {"100", 7}};
  EXPECT_EQ(c.summary().kl_percentiles, expected);
}

TEST(Comparison, TakesKlPercentilesByNearestRank) {
  Comparison c;
  c.begin_prompt("score", 1);
  for (int i = 200; i >= 1; --i) {
    StepDifference d = same(1);
    d.kl = i;
    c.add_step(scored(1, -1), scored(1, -1), d);
  }
  const std::map<std::string, double> expected{{"50", 100}, {"90", 180}, {"99", 198}, {"100", 200}};
  EXPECT_EQ(c.summary().kl_percentiles, expected);
}

TEST(Comparison, HasNoScoresOfOtherModes) {
  Comparison c;
  c.begin_prompt("score", 1);
  c.add_step(scored(1, -1), scored(1, -1), same(1));
  c.begin_prompt("greedy", 1);
  add(c, same(1));
  EXPECT_FALSE(c.summary("greedy").perplexity_a.has_value());
  EXPECT_FALSE(c.summary("greedy").top1_agreement.has_value());
  EXPECT_TRUE(c.summary("greedy").kl_percentiles.empty());
  EXPECT_TRUE(c.summary().perplexity_a.has_value());
}

TEST(Comparison, CountsGreedyTies) {
  Comparison c;
  c.begin_prompt("greedy", 1);
  add(c, same(0));
  add(c, changed(0.5, 0, 0.5, 0.5));
  add(c, same(1));
  c.begin_prompt("sample", 1);
  add(c, same(0));
  EXPECT_EQ(c.prompts()[0].ties, 2U);
  EXPECT_EQ(c.prompts()[1].ties, 1U);
  EXPECT_EQ(c.summary().ties, 2U);
}

}  // namespace
}  // namespace drift
