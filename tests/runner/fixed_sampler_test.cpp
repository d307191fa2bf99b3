#include "runner/fixed_sampler.hpp"

#include <array>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace drift::runner {
namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

TEST(UniformAt, FollowsSplitMix64) {
  // The first outputs of SplitMix64 from seed 1234567, as its authors' reference program gives
  // them.
  const std::array<std::uint64_t, 3> expected = {6457827717110365317ULL, 3203168211198807973ULL,
                                                 9817491932198370423ULL};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(uniform_at(1234567, i), static_cast<double>(expected[i] >> 11) * 0x1.0p-53);
  }
}

TEST(UniformAt, StaysInsideItsRangeAndSpreads) {
  double sum = 0;
  for (std::uint64_t step = 0; step < 10000; ++step) {
    const double u = uniform_at(42, step);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(InverseCdf, CutsTheRangeAtTheCumulativeSums) {
  const std::vector<float> logits = {0, 0, kNever, 0, 0};  // four equal chances
  const auto at = [&](double u) { return inverse_cdf(logits.data(), logits.size(), u); };
  EXPECT_EQ(at(0.0), 0U);
  EXPECT_EQ(at(0.24), 0U);
  EXPECT_EQ(at(0.25), 1U);
  EXPECT_EQ(at(0.5), 3U);
  EXPECT_EQ(at(0.75), 4U);
  EXPECT_EQ(at(0.9999999), 4U);
}

TEST(InverseCdf, WeighsByTheExponentialOfTheLogit) {
  const std::vector<float> logits = {1.0F, 0.0F};
  const double first = 1 / (1 + std::exp(-1.0));
  EXPECT_EQ(inverse_cdf(logits.data(), 2, first - 1e-9), 0U);
  EXPECT_EQ(inverse_cdf(logits.data(), 2, first + 1e-9), 1U);
}

TEST(InverseCdf, NeverGivesAnIdWithoutChance) {
  const std::vector<float> logits = {kNever, 3, kNever};
  for (const double u : {0.0, 0.5, 1 - 0x1.0p-53}) {
    EXPECT_EQ(inverse_cdf(logits.data(), logits.size(), u), 1U);
  }
}

TEST(InverseCdf, TakesLogitsOfAnySize) {
  const std::vector<float> logits = {3e38F, 3e38F, -3e38F};
  EXPECT_EQ(inverse_cdf(logits.data(), logits.size(), 0.4), 0U);
  EXPECT_EQ(inverse_cdf(logits.data(), logits.size(), 0.6), 1U);
}

}  // namespace
}  // namespace drift::runner
