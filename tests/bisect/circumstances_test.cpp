#include <set>

#include <gtest/gtest.h>

#include "bisect/probe_store.hpp"

namespace drift {
namespace {

using Attentions = std::vector<SideAttention>;

std::string under(const Attentions& attention) {
  return running_circumstances("driftaudit 1", 1, {}, {}, attention);
}

TEST(RunningCircumstances, TellAttentionApart) {
  const SideAttention sdpa{Attention::kSdpa, {}, {}, {}};
  const SideAttention multiplied{Attention::kEager, ScoreScale::kMultiply, {}, {}};
  const std::set<std::string> all{
      under({{}, {}}),         under({sdpa, sdpa}),
      under({{}, sdpa}),       under({sdpa, {}}),
      under({multiplied, {}}), under({{Attention::kEager, {}, {}, "4.57.1"}, {}})};
  EXPECT_EQ(all.size(), 6U);
}

TEST(RunningCircumstances, AreTheSameHoweverItWasChosen) {
  EXPECT_EQ(under({{Attention::kSdpa, {}, "auto", {}}}),
            under({{Attention::kSdpa, {}, "--attention", {}}}));
}

}  // namespace
}  // namespace drift
