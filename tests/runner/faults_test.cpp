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
        "noise@op=lm_head", "draw", "second", "swap", "swap-frames", "overwrite", "mask", "stale",
        "position", "wrap@size=8", "prefill@size=2"}) {
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

TEST(Faults, MayBeginLateAndEndAgain) {
  const Fault fault = parse_faults("exit@from=3,to=5").at(0);
  EXPECT_FALSE(fault.applies(0, 2));
  EXPECT_TRUE(fault.applies(0, 3));
  EXPECT_TRUE(fault.applies(0, 5));
  EXPECT_FALSE(fault.applies(0, 6));
}

TEST(Faults, MayApplyToEveryNthTaskOnly) {
  const Fault fault = parse_faults("exit@every=3").at(0);
  for (const std::uint32_t task : {0U, 1U, 3U, 4U}) {
    EXPECT_FALSE(fault.applies(task, 1)) << task;
  }
  EXPECT_TRUE(fault.applies(2, 1));
  EXPECT_TRUE(fault.applies(5, 1));
}

TEST(Faults, OfTheCacheBeginAtTheSecondStep) {
  const Fault fault = parse_faults("mask").at(0);
  EXPECT_TRUE(fault.in_cache());
  EXPECT_FALSE(fault.applies(0, 1));
  EXPECT_TRUE(fault.applies(0, 2));
  EXPECT_FALSE(parse_faults("second").at(0).in_cache());
}

TEST(Faults, OfTheCacheSayWhereAndHowMuch) {
  EXPECT_EQ(parse_faults("overwrite@at=3,from=6").at(0).at, 3U);
  EXPECT_EQ(parse_faults("wrap@size=40").at(0).size, 40U);
}

TEST(Faults, RefuseWhatTheyDoNotKnow) {
  for (const char* text : {"explode",
                           "exit@",
                           "exit@step",
                           "exit@step=",
                           "exit@step=x",
                           "exit@step=-1",
                           "exit@when=3",
                           "nan",
                           "bits@step=1",
                           "nan@op=",
                           "exit@op=lm_head",
                           "noise",
                           "second@op=lm_head",
                           ";",
                           "exit;;exit",
                           "exit@step=12345678901",
                           "exit@row=8",
                           "bits@op=x,row=",
                           "wrap",
                           "prefill",
                           "wrap@size=0",
                           "mask@size=3",
                           "exit@every=0",
                           "stale@at=1",
                           "mask@op=lm_head"}) {
    EXPECT_THROW(parse_faults(text), std::runtime_error) << text;
  }
}

}  // namespace
}  // namespace drift::runner
