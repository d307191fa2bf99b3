#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/rescore.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Step made_step(std::int32_t token, float logit) {
  Step step;
  step.token = token;
  step.logit = logit;
  step.top = {{token, logit}, {token + 1, logit - 1}};
  step.logsumexp = 5;
  return step;
}

Run made_run(std::uint32_t build, const std::string& mode) {
  Run run;
  run.build = build;
  run.mode = mode;
  run.prompt = 1;
  run.prompt_ids = {1, 2};
  run.steps = {made_step(10, 4), made_step(20, 3)};
  return run;
}

TEST(DecodedRequests, HaveTheGeneratedTokensOfOneBuild) {
  Report report;
  report.runs = {made_run(0, "greedy"), made_run(1, "greedy"), made_run(0, "score"),
                 made_run(0, "sample")};
  const std::vector<DecodedRequest> requests = decoded_requests(report, 0);
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[1].mode, "sample");
  EXPECT_THAT(requests[0].tokens, ElementsAre(10, 20));
  EXPECT_THAT(requests[0].logprobs, ElementsAre(-1.0, -2.0));
}

TEST(DecodedRequests, TakeATokenThatWasImposedFromTheKeptLogits) {
  Report report;
  report.runs = {made_run(0, "greedy")};
  report.runs[0].steps[0].fed = 11;
  EXPECT_THAT(decoded_requests(report, 0)[0].tokens, ElementsAre(11, 20));
  EXPECT_THAT(decoded_requests(report, 0)[0].logprobs, ElementsAre(-2.0, -2.0));
}

std::string refusal(const Report& report) {
  try {
    decoded_requests(report, 0);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    return error.what();
  }
  return "";
}

TEST(DecodedRequests, RefuseATokenWhoseLogitIsNotKnown) {
  Report report;
  report.runs = {made_run(0, "greedy")};
  report.runs[0].steps[1].fed = 999;
  EXPECT_THAT(refusal(report), HasSubstr("prompt 1, step 2 (greedy)"));
}

TEST(DecodedRequests, RefuseAReportWithoutGeneratedText) {
  Report report;
  report.runs = {made_run(0, "score"), made_run(1, "greedy")};
  EXPECT_THAT(refusal(report), HasSubstr("no generated text"));
}

}  // namespace
}  // namespace drift
