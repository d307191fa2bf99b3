// What the limit hangs on, and that it stays above sound noise.
#include "rescore/noise.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rescore/served_model.hpp"

namespace drift {
namespace {

using ::testing::IsEmpty;

TEST(Limit, IsHeldBetweenTheLeastAndTheMost) {
  RescoreNoise noise{1e-6, {}, "bfloat16", 0.0625, 1e-3, 0.75};
  EXPECT_EQ(rescore_limit(noise), 1e-3);
  noise.quietest = 0.01;
  EXPECT_EQ(rescore_limit(noise), kNoiseTimes * 0.01);
  noise.own = 0.02;
  EXPECT_EQ(rescore_limit(noise), kNoiseTimes * 0.02);
  noise.quietest = 3;
  EXPECT_EQ(rescore_limit(noise), 0.75);
}

TEST(StepAt, IsTheTypesOwn) {
  EXPECT_EQ(step_at("bfloat16", 8), 0.0625);
  EXPECT_EQ(step_at("bfloat16", 15.9), 0.0625);
  EXPECT_EQ(step_at("bfloat16", 100), 0.5);
  EXPECT_EQ(step_at("float16", 8), std::ldexp(1, -7));
  EXPECT_EQ(step_at("float32", 8), std::ldexp(1, -20));
  EXPECT_EQ(step_at("bfloat16", 0), step_at("bfloat16", 1));
}

TEST(NoiseScale, LeavesOutTokensThatAreAllButCertain) {
  const double certain = std::log(0.999);
  const double likely = std::log(0.5);
  EXPECT_FALSE(noise_scale({1, 1, 1, 1}, {certain, certain, certain, likely}));
  EXPECT_DOUBLE_EQ(*noise_scale({0, 0, 0, 0.1, 0.1, 0.1, 0.1},
                                {certain, certain, certain, likely, likely, likely, likely}),
                   0.2);
}

TEST(Noise, OfSoundRunsInAnyTypeMakesNoOutlier) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    std::vector<DecodedRequest> decoded =
        served({.noise = 0.01, .bfloat16 = true, .seed = seed, .requests = 8});
    for (DecodedRequest& request : decoded) {
      request.mode = "sample";
    }
    RescoreOptions options;
    options.n_positions = 1024;
    options.dtype = "bfloat16";
    EXPECT_THAT(rescored_file(decoded, options).outliers, IsEmpty()) << seed;
    EXPECT_THAT(
        rescored_file(served({.noise = 0.01, .bfloat16 = true, .seed = seed, .requests = 8}))
            .outliers,
        IsEmpty())
        << "of a file, " << seed;
    EXPECT_THAT(rescored_file(served({.noise = 1e-6, .seed = seed, .requests = 8})).outliers,
                IsEmpty())
        << seed;
  }
}

TEST(Noise, DoesNotHideAFaultInHalfPrecision) {
  std::vector<DecodedRequest> decoded = served({.noise = 0.01, .bfloat16 = true});
  for (DecodedRequest& request : decoded) {
    request.mode = "sample";
  }
  for (std::size_t i = 6; i < 20; ++i) {
    decoded[3].logprobs[i] -= 0.5;
  }
  RescoreOptions options;
  options.n_positions = 1024;
  options.dtype = "bfloat16";
  const RescoreRecord record = rescored_file(decoded, options);
  EXPECT_EQ(record.requests[3].first_outlier, 7U);
  EXPECT_EQ(record.requests[3].outliers, 14U);
  EXPECT_EQ(record.outliers.size(), 14U);
}

TEST(Noise, IsTheQuietestRequestsWhereMostAreWrong) {
  std::vector<DecodedRequest> file = served({.noise = 3e-7});
  for (std::size_t r = 1; r < file.size(); ++r) {
    for (std::size_t i = 0; i < file[r].logprobs.size(); ++i) {
      file[r].logprobs[i] -= 0.02 * static_cast<double>(i * r % 7 + 1);
    }
  }
  const RescoreRecord record = rescored_file(file);
  EXPECT_EQ(record.limit, kLeastRescoreLimit);
  EXPECT_FALSE(record.requests[0].first_outlier);
  for (std::size_t r = 1; r < file.size(); ++r) {
    EXPECT_EQ(record.requests[r].first_outlier, 1U) << r;
  }
}

TEST(Noise, OfTwoWrongRequestsIsHeldByTheTypesSteps) {
  std::vector<DecodedRequest> file = served({.requests = 2});
  std::swap(file[0].tokens, file[1].tokens);
  std::swap(file[0].logprobs, file[1].logprobs);
  const RescoreRecord record = rescored_file(file);
  EXPECT_LE(record.limit, 14 * record.noise->step);
  ASSERT_TRUE(record.requests[0].answers) << "a swap is named without an option";
  ASSERT_TRUE(record.requests[1].answers);
  EXPECT_EQ(record.requests[0].answers->step, 1U);
  EXPECT_FALSE(record.rule);
  EXPECT_TRUE(judge_outliers(record).tripped);
}

}  // namespace
}  // namespace drift
