#include <gtest/gtest.h>

#include "driftaudit/rescore.hpp"

namespace drift {
namespace {

DecodedRequest made_request(std::uint32_t prompt, std::vector<std::int32_t> tokens) {
  DecodedRequest request;
  request.mode = "greedy";
  request.prompt = prompt;
  request.prompt_ids = {1};
  request.logprobs.assign(tokens.size(), -1);
  request.tokens = std::move(tokens);
  return request;
}

RescoreRecord compared(const std::vector<DecodedRequest>& batched,
                       const std::vector<DecodedRequest>& alone) {
  RescoreRecord record;
  record.requests.resize(batched.size());
  compare_alone(batched, alone, record);
  return record;
}

TEST(Alone, IsTheSameOrPartsAtAStep) {
  const std::vector<DecodedRequest> alone{made_request(1, {5, 6, 7}), made_request(2, {5, 6, 8})};
  std::vector<DecodedRequest> batched = alone;
  batched[0].logprobs[1] = -1.25;
  batched[1].tokens[1] = 9;
  batched[1].logprobs[2] = -3;
  const RescoreRecord record = compared(batched, alone);
  EXPECT_FALSE(record.requests[0].alone->first_difference);
  EXPECT_EQ(record.requests[0].alone->steps, 3U);
  EXPECT_EQ(record.requests[0].alone->max, 0.25);
  EXPECT_EQ(record.requests[1].alone->first_difference, 2U);
  EXPECT_EQ(record.requests[1].alone->steps, 1U);
  EXPECT_EQ(record.requests[1].alone->max, 0) << "contexts differ after the second step";
}

TEST(Alone, PartsWhereOneEndsEarlier) {
  const RescoreRecord record = compared({made_request(1, {5, 6})}, {made_request(1, {5, 6, 7})});
  EXPECT_EQ(record.requests[0].alone->first_difference, 3U);
}

TEST(Alone, NamesWhoseAnswerARequestHas) {
  const std::vector<DecodedRequest> alone{made_request(1, {5, 6}), made_request(2, {7, 8}),
                                          made_request(3, {5, 6})};
  std::vector<DecodedRequest> batched = alone;
  std::swap(batched[0].tokens, batched[1].tokens);
  const RescoreRecord record = compared(batched, alone);
  EXPECT_EQ(record.requests[0].alone->answers, 2U);
  EXPECT_EQ(record.requests[1].alone->answers, 1U);
  EXPECT_FALSE(record.requests[2].alone->answers) << "its own, though prompt 1 has it as well";
}

}  // namespace
}  // namespace drift
