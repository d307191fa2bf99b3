#include "driftaudit/gap_figures.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

#include "study/made_answer.hpp"

namespace drift {
namespace {

using test::made_answer;
using test::made_gap_step;
using ::testing::Each;
using ::testing::ElementsAre;

StudyRun named(const char* name) {
  StudyRun run;
  run.name = name;
  return run;
}

StudyGaps figures_of(const std::vector<Report>& answers, std::uint32_t tokens) {
  std::vector<OpeningsRun> runs;
  for (const Report& answer : answers) {
    runs.push_back({named("first"), &answer});
  }
  return gap_figures(runs, "openings", tokens);
}

TEST(StepsInLoop, AreThoseThatRepeatEightTokensOrALongerPeriod) {
  std::vector<std::int32_t> tokens(20);
  std::iota(tokens.begin(), tokens.end(), 0);
  EXPECT_THAT(steps_in_loop(tokens), Each(false));
  // 1 2 3 1 2 3 …: the fourth token is the first that repeats, the eleventh the eighth.
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<std::int32_t>(i % 3);
  }
  const std::vector<bool> looping = steps_in_loop(tokens);
  EXPECT_FALSE(looping[9]);
  EXPECT_TRUE(looping[10]);
  EXPECT_TRUE(looping[19]);
}

TEST(StepsInLoop, OfALongPeriodNeedAllOfItAgain) {
  std::vector<std::int32_t> tokens(48);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<std::int32_t>(i % 16);
  }
  const std::vector<bool> looping = steps_in_loop(tokens);
  EXPECT_FALSE(looping[30]);
  EXPECT_TRUE(looping[31]);
}

TEST(GapHistogram, CountsBySizeAndPosition) {
  GapHistogram histogram(20);
  const std::vector<double>& edges = histogram.counts().edges;
  ASSERT_EQ(histogram.counts().bands.size(), 10U);
  histogram.add(1, 0);
  histogram.add(2, edges[0]);
  histogram.add(3, 0.7);
  histogram.add(20, 1e9);
  histogram.add(21, 0.7);
  histogram.add(1, std::nan(""));
  const std::vector<StudyBand>& bands = histogram.counts().bands;
  EXPECT_EQ(bands[0].first, 1U);
  EXPECT_EQ(bands[0].last, 2U);
  EXPECT_EQ(bands[9].last, 20U);
  EXPECT_EQ(bands[0].counts.front(), 1U);
  EXPECT_EQ(bands[0].counts[1], 1U);
  EXPECT_EQ(bands[1].counts[12], 1U);  // from 0.5 up to 1
  EXPECT_EQ(edges[11], 0.5);
  EXPECT_EQ(bands[9].counts.back(), 1U);
  std::uint64_t all = 0;
  for (const StudyBand& band : bands) {
    all = std::accumulate(band.counts.begin(), band.counts.end(), all);
  }
  EXPECT_EQ(all, 4U);
}

TEST(GapHistogram, HasABandAStepWhereThereAreFew) {
  const GapHistogram histogram(3);
  ASSERT_EQ(histogram.counts().bands.size(), 3U);
  EXPECT_EQ(histogram.counts().bands[2].first, 3U);
  EXPECT_EQ(histogram.counts().bands[2].last, 3U);
}

TEST(GapFigures, CountSetsOfGapsThatAreTheSameNumbers) {
  const Report a = made_answer({{1, 2}, {3, 4}});
  const Report b = made_answer({{1, 2}, {3, std::nextafter(4.0F, 5.0F)}});
  const StudyGaps gaps = figures_of({a, b, a, b, a}, 2);
  EXPECT_EQ(gaps.distinct_sets, 2U);
  EXPECT_EQ(gaps.runs[1].set, 1U);
  EXPECT_EQ(gaps.runs[2].set, 0U);
  EXPECT_EQ(gaps.runs[3].set, 1U);
  EXPECT_EQ(gaps.runs[0].steps, 4U);
  EXPECT_EQ(gaps.prompts, 2U);
  EXPECT_EQ(figures_of({a, a, a}, 2).distinct_sets, 1U);
}

TEST(GapFigures, NameTheSmallestGapAndTheLargestChange) {
  const Report a = made_answer({{1, 2}, {0.25, 4}});
  const Report b = made_answer({{1, 2}, {0.5, 4}}, 'b');
  const Report c = made_answer({{1.125, 2}, {0.25, 4}}, 'c');
  const StudyGaps gaps = figures_of({a, b, c}, 2);
  ASSERT_TRUE(gaps.smallest && gaps.largest_change);
  EXPECT_EQ(gaps.smallest->value, 0.25);
  EXPECT_EQ(gaps.smallest->prompt, 2U);
  EXPECT_EQ(gaps.smallest->step, 1U);
  EXPECT_EQ(gaps.smallest->run, 0U);
  EXPECT_EQ(gaps.smallest_text, "prompt 2");
  EXPECT_EQ(gaps.largest_change->value, 0.25);
  EXPECT_EQ(gaps.largest_change->prompt, 2U);
  EXPECT_EQ(gaps.largest_change->step, 1U);
  EXPECT_EQ(gaps.largest_change->a, 0U);
  EXPECT_EQ(gaps.largest_change->b, 1U);
  EXPECT_EQ(gaps.margin, 1);
  EXPECT_TRUE(gaps.continuations_equal);
}

TEST(GapFigures, HaveNoMarginWhereNothingChanged) {
  const Report a = made_answer({{1, 2}});
  EXPECT_EQ(figures_of({a, a}, 2).margin, std::nullopt);
  EXPECT_EQ(figures_of({a, a}, 2).largest_change->value, 0);
}

TEST(GapFigures, StopComparingWhereTokensPart) {
  const Report a = made_answer({{1, 2, 3}});
  Report b = made_answer({{1, 2, 30}}, 'b');
  b.runs[0].steps[1] = made_gap_step(1000, 0.5);  // its two highest have changed places
  b.runs[0].steps[1].top = {{1000, 0.5F}, {5, 0}};
  const StudyGaps gaps = figures_of({a, b}, 3);
  EXPECT_FALSE(gaps.continuations_equal);
  EXPECT_EQ(gaps.largest_change->value, 2.5) << "2 one way became 0.5 the other way";
  EXPECT_EQ(gaps.largest_change->step, 2U);
}

TEST(GapFigures, CountChangesThatAreNotKnown) {
  const Report a = made_answer({{1, 2}});
  Report b = made_answer({{1, 2}}, 'b');
  b.runs[0].steps[0].top = {{5, 1}, {7, 0}};
  EXPECT_EQ(figures_of({a, b}, 2).changes_unknown, 1U);
}

TEST(GapFigures, TakeMediansOverTheFirstAndTheLastSteps) {
  std::vector<double> gaps(40);
  std::iota(gaps.begin(), gaps.end(), 1.0);
  const std::vector<double> early(gaps.begin(), gaps.begin() + 5);  // stopped by itself
  const StudyGaps figures = figures_of({made_answer({gaps, early})}, 40);
  EXPECT_EQ(figures.end_steps, 10U);
  EXPECT_EQ(figures.median_first, 4);    // 1 … 10 and 1 … 5
  EXPECT_EQ(figures.median_last, 35.5);  // 31 … 40
  EXPECT_GT(figures.loop_share, 0.7);    // one token, over and over
  EXPECT_EQ(figures_of({made_answer({early})}, 40).median_last, std::nullopt);
}

TEST(GapFigures, RefuseOtherPrompts) {
  const Report a = made_answer({{1}, {2}});
  EXPECT_THROW(figures_of({a, made_answer({{1}})}, 1), Error);
  Report other = a;
  other.runs[1].prompt_ids = {77};
  EXPECT_THROW(figures_of({a, other}, 1), Error);
}

TEST(GapChangesOfRuns, GoOnWhereBothWereFedTheSameToken) {
  const Report a = made_answer({{1, 2}});
  Report b = made_answer({{1, 2}}, 'b');
  b.runs[0].steps[0].token = 6;
  std::uint64_t unknown = 0;
  const auto compared = [&](const Report& x, const Report& y) {
    return gap_changes(runs_of(x, "greedy", 0), runs_of(y, "greedy", 0), unknown);
  };
  EXPECT_EQ(compared(a, b).at(0).size(), 1U);
  b.runs[0].steps[0].fed = 5;
  EXPECT_EQ(compared(a, b).at(0).size(), 2U);
  EXPECT_FALSE(compared(a, b)[0][0].flipped) << "the highest token is the same";
  b.runs[0].steps[1].top = {{1000, 3}, {5, 1}};
  EXPECT_TRUE(compared(a, b)[0][1].flipped);
  EXPECT_EQ(compared(a, b)[0][1].change, 4);
  EXPECT_EQ(unknown, 0U);
}

TEST(RunsOf, AreInTheOrderOfTheirPrompts) {
  Report report = made_answer({{1}, {2}, {3}});
  std::swap(report.runs[0], report.runs[2]);
  report.runs[1].mode = "sample";
  const std::vector<const drift::Run*> runs = runs_of(report, "greedy", 0);
  ASSERT_EQ(runs.size(), 2U);
  EXPECT_EQ(runs[0]->prompt, 1U);
  EXPECT_EQ(runs[1]->prompt, 3U);
}

}  // namespace
}  // namespace drift
