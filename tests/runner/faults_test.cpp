#include "runner/faults.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace drift::runner {
namespace {

TEST(Faults, AreNoneInAnEmptyText) { EXPECT_TRUE(parse_faults("").empty()); }

TEST(Faults, AreReadWithTheirConditions) {
  const std::vector<Fault> faults =
      parse_faults("text;nan@op=block.0.attn.softmax,step=2;kill@task=7,step=4");
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[0].kind, Fault::Kind::kText);
  EXPECT_FALSE(faults[0].step);
  EXPECT_EQ(faults[1].kind, Fault::Kind::kNan);
  EXPECT_EQ(faults[1].operation, "block.0.attn.softmax");
  EXPECT_EQ(faults[1].step, 2U);
  EXPECT_EQ(faults[2].kind, Fault::Kind::kKill);
  EXPECT_EQ(faults[2].task, 7U);
}

TEST(Faults, MayAskForALongRow) {
  EXPECT_EQ(parse_faults("bits@op=softmax,row=8").at(0).row, 8U);
  EXPECT_EQ(parse_faults("bits@op=softmax").at(0).row, 0U);
}

TEST(Faults, KnowEveryKind) {
  for (const char* text :
       {"exit", "hang", "kill", "fail", "garbage", "text", "nan@op=lm_head", "bits@op=lm_head",
        "noise@op=lm_head", "draw", "second", "swap", "swap-frames"}) {
    EXPECT_EQ(parse_faults(text).size(), 1U) << text;
  }
}

TEST(Faults, ApplyOnlyWhereTheirConditionsHold) {
  const Fault fault = parse_faults("exit@task=7,step=3").at(0);
  EXPECT_TRUE(fault.applies(7, 3));
  EXPECT_FALSE(fault.applies(7, 2));
  EXPECT_FALSE(fault.applies(6, 3));
  EXPECT_TRUE(parse_faults("exit").at(0).applies(6, 2));
}

TEST(Faults, RefuseWhatTheyDoNotKnow) {
  for (const char* text :
       {"explode", "exit@", "exit@step", "exit@step=", "exit@step=x", "exit@step=-1", "exit@when=3",
        "nan", "bits@step=1", "nan@op=", "exit@op=lm_head", "noise", "second@op=lm_head", ";",
        "exit;;exit", "exit@step=12345678901", "exit@row=8", "bits@op=x,row="}) {
    EXPECT_THROW(parse_faults(text), std::runtime_error) << text;
  }
}

}  // namespace
}  // namespace drift::runner
