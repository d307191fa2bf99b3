#include "driftaudit/gates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drift {
namespace {

using ::testing::HasSubstr;

Summary changed() {
  Summary s;
  s.verdict = "same_tokens";
  s.steps = 10;
  s.steps_changed = 4;
  s.max_abs_logit_diff = 2e-5;
  s.smallest_gap = SmallestGap{1e-3, 1, 2, 'A'};
  s.max_gap_change = 1e-5;
  s.margin = 100;
  return s;
}

GateRecord only(const Summary& summary, const GateLimits& limits) {
  const std::vector<GateRecord> gates = judge_gates(summary, limits);
  EXPECT_EQ(gates.size(), 1U);
  return gates.at(0);
}

GateLimits fail_on(const std::string& what) { return {what, {}, {}}; }
GateLimits logit_diff(double limit) { return {"never", limit, {}}; }
GateLimits margin(double limit) { return {"never", {}, limit}; }

TEST(Gates, NoneIsJudgedUnasked) { EXPECT_TRUE(judge_gates(changed(), fail_on("never")).empty()); }

TEST(Gates, OnTokensTripOnAChangedTokenAlone) {
  EXPECT_FALSE(only(changed(), fail_on("tokens")).tripped);
  Summary s = changed();
  s.verdict = "diverged";
  EXPECT_TRUE(only(s, fail_on("tokens")).tripped);
}

TEST(Gates, OnBitsTripOnAnyChange) {
  EXPECT_TRUE(only(changed(), fail_on("bits")).tripped);
  EXPECT_FALSE(only(Summary{}, fail_on("bits")).tripped);
  Summary sampled;  // the same logits, another draw
  sampled.verdict = "diverged";
  EXPECT_TRUE(only(sampled, fail_on("bits")).tripped);
}

TEST(Gates, OfTheLargestChangeAllowTheLimitItself) {
  EXPECT_FALSE(only(changed(), logit_diff(2e-5)).tripped);
  const GateRecord gate = only(changed(), logit_diff(1.9e-5));
  EXPECT_TRUE(gate.tripped);
  EXPECT_EQ(gate.gate, "--max-logit-diff 1.9e-05");
  EXPECT_THAT(gate.finding, HasSubstr("2.00e-05"));
}

TEST(Gates, OfTheLargestChangeTripWhereKeptLogitsCannotDecide) {
  Summary s = changed();
  s.steps_on_kept = 3;
  const GateRecord open = only(s, logit_diff(1));
  EXPECT_TRUE(open.tripped);
  EXPECT_THAT(open.finding, HasSubstr("undecided: of 3 changed steps only kept logits"));
  const GateRecord passed = only(s, logit_diff(1e-6));
  EXPECT_TRUE(passed.tripped);
  EXPECT_THAT(passed.finding, HasSubstr("at least 2.00e-05"));
}

TEST(Gates, OfTheMarginTripBelowIt) {
  EXPECT_FALSE(only(changed(), margin(100)).tripped);
  EXPECT_TRUE(only(changed(), margin(101)).tripped);
  EXPECT_FALSE(only(Summary{}, margin(1e9)).tripped) << "nothing changed";
}

TEST(Gates, OfTheMarginTripWhereAGapsChangeIsUnknown) {
  Summary s = changed();
  s.gap_changes_unknown = 1;
  EXPECT_TRUE(only(s, margin(10)).tripped);
  EXPECT_THAT(only(s, margin(10)).finding, HasSubstr("undecided"));
}

TEST(Gates, TripOnNumbersThatAreNotFinite) {
  Summary s;
  s.non_finite = 2;
  for (const GateLimits& limits : {fail_on("tokens"), fail_on("bits"), logit_diff(1), margin(1)}) {
    EXPECT_TRUE(only(s, limits).tripped);
    EXPECT_THAT(only(s, limits).finding, HasSubstr("aren't finite"));
  }
}

TEST(Gates, AreJudgedTogether) {
  const std::vector<GateRecord> gates = judge_gates(changed(), {"tokens", 1e-6, 10.0});
  ASSERT_EQ(gates.size(), 3U);
  EXPECT_TRUE(any_tripped(gates));
  EXPECT_FALSE(any_tripped({gates[0], gates[2]}));
}

}  // namespace
}  // namespace drift
