#include "report/swapped_answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Answer = std::vector<std::int32_t>;

/// What the sides answered, prompt by prompt.
Report report_of(const std::vector<Answer>& a, const std::vector<Answer>& b,
                 const std::string& mode = "greedy") {
  Report report;
  for (std::uint32_t side = 0; side < 2; ++side) {
    std::uint32_t number = 0;
    for (const Answer& answer : side == 0 ? a : b) {
      Run run;
      run.build = side;
      run.mode = mode;
      run.prompt = ++number;
      for (const std::int32_t token : answer) {
        Step step;
        step.token = token;
        run.steps.push_back(step);
      }
      report.runs.push_back(run);
    }
  }
  return report;
}

TEST(SwappedAnswers, AreNoneWhereEachPromptHasItsOwn) {
  EXPECT_THAT(swapped_answers(report_of({{1}, {2}, {3}}, {{1}, {2}, {3}})), IsEmpty());
  EXPECT_THAT(swapped_answers(report_of({{1}, {2}, {3}}, {{1}, {4}, {5}})), IsEmpty());
  EXPECT_THAT(swapped_answers(Report{}), IsEmpty());
}

TEST(SwappedAnswers, AreNamedOnce) {
  EXPECT_THAT(swapped_answers(report_of({{1, 2}, {9}, {3, 4}}, {{3, 4}, {9}, {1, 2}})),
              ElementsAre("swapped answers (greedy): on side B prompts 1 and 3 have each other's"));
}

TEST(SwappedAnswers, TakeBoth) {
  EXPECT_THAT(swapped_answers(report_of({{1}, {2}, {3}}, {{2}, {3}, {1}})), IsEmpty())
      << "moved on, not swapped";
  EXPECT_THAT(swapped_answers(report_of({{1}, {2}}, {{2}, {7}})), IsEmpty());
}

TEST(SwappedAnswers, AreNotToldWhereSeveralPromptsHaveOne) {
  EXPECT_THAT(swapped_answers(report_of({{1}, {2}, {1}}, {{2}, {1}, {1}})), IsEmpty());
}

TEST(SwappedAnswers, AreOfGeneratedTextOnly) {
  EXPECT_THAT(swapped_answers(report_of({{1}, {2}}, {{2}, {1}}, "score")), IsEmpty());
}

}  // namespace
}  // namespace drift
