#include "sweep/failures.hpp"

#include <gtest/gtest.h>

namespace drift {
namespace {

/// A record in which greedy prompts fail from the steps given on; 0: it doesn't fail.
RescoreRecord record_of(const std::vector<std::uint32_t>& first_outliers) {
  RescoreRecord record;
  record.limit = 0.5;
  RescoreSpread& all = record.spread.emplace_back();
  all.part = "all";
  all.tokens = 40;
  all.median = 0.125;
  all.max = 8;
  for (std::size_t i = 0; i < first_outliers.size(); ++i) {
    RescoredRequest& request = record.requests.emplace_back();
    request.mode = "greedy";
    request.prompt = static_cast<std::uint32_t>(i + 1);
    if (first_outliers[i] > 0) {
      request.first_outlier = first_outliers[i];
      request.outliers = 2;
      request.outlier_period = 3;
      record.outliers.resize(record.outliers.size() + 2);
    }
  }
  return record;
}

TEST(RescoreOfCell, KeepsWhichRequestsFailAndHow) {
  RescoreRecord record = record_of({0, 5, 0, 7});
  record.request_period = RescorePeriod{2, 2};
  record.requests[3].answers = RescoreSwap{2, 7};
  const SweepRescore cell = rescore_of_cell(record);
  EXPECT_EQ(cell.tokens, 40U);
  EXPECT_EQ(cell.outliers, 4U);
  EXPECT_EQ(cell.limit, 0.5);
  EXPECT_EQ(cell.median, 0.125);
  EXPECT_EQ(cell.max, 8);
  ASSERT_EQ(cell.failing.size(), 2U);
  EXPECT_EQ(cell.failing[0].mode, "greedy");
  EXPECT_EQ(cell.failing[0].prompt, 2U);
  EXPECT_EQ(cell.failing[0].first_step, 5U);
  EXPECT_EQ(cell.failing[0].outliers, 2U);
  EXPECT_EQ(cell.failing[0].step_period, 3U);
  EXPECT_FALSE(cell.failing[0].answers);
  EXPECT_EQ(cell.failing[1].answers, 2U);
  EXPECT_EQ(cell.request_period->period, 2U);
}

TEST(RescoreOfCell, HasNoFailuresOfASoundRun) {
  EXPECT_TRUE(rescore_of_cell(record_of({0, 0})).failing.empty());
}

TEST(FailAlike, LooksAtRequestsAndTheirFirstSteps) {
  const SweepRescore cell = rescore_of_cell(record_of({0, 5}));
  EXPECT_TRUE(fail_alike(cell, rescore_of_cell(record_of({0, 5}))));
  EXPECT_FALSE(fail_alike(cell, rescore_of_cell(record_of({0, 6}))));
  EXPECT_FALSE(fail_alike(cell, rescore_of_cell(record_of({5, 0}))));
  EXPECT_FALSE(fail_alike(cell, rescore_of_cell(record_of({0, 0}))));
  EXPECT_FALSE(fail_alike(cell, rescore_of_cell(record_of({5, 5}))));
}

TEST(FailureTally, CountsRescoredPairsAndNamesTheFirstThatDiffers) {
  const std::optional<SweepRescore> sound = rescore_of_cell(record_of({0, 0}));
  const std::optional<SweepRescore> failing = rescore_of_cell(record_of({0, 5}));
  FailureTally tally;
  EXPECT_FALSE(tally.result());
  tally.add({0, 1}, sound, std::nullopt);
  EXPECT_FALSE(tally.result());
  tally.add({0, 2}, sound, sound);
  EXPECT_FALSE(tally.result()->first);
  tally.add({0, 3}, sound, failing);
  tally.add({1, 3}, sound, failing);
  EXPECT_EQ(tally.result()->pairs, 3U);
  EXPECT_EQ(tally.result()->pairs_moved, 2U);
  EXPECT_EQ(tally.result()->first->b, 3U);
  EXPECT_EQ(tally.result()->first->a, 0U);
}

}  // namespace
}  // namespace drift
