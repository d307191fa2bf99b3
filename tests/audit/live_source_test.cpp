#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

#include "audit/records.hpp"
#include "audit/sides.hpp"
#include "audit/sources.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;

class LiveSource : public ::testing::Test {
 protected:
  LiveSource() {
    model_.config.vocab_size = 100000;  // the fake's
    request_.settings.keep_top = 2;
    request_.timeout_seconds = 20;
    request_.sides.resize(1);
    request_.sides[0].build.label = "1.2.3";
    request_.sides[0].runner = FAKE_RUNNER;
  }

  /// A source of two tasks of two steps each, which has begun.
  std::unique_ptr<StepSource> begun(const std::string& fake) {
    request_.sides[0].environment.variables["FAKE"] = fake;
    std::vector<wire::Task> tasks(2);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i].id = static_cast<std::uint32_t>(7 + i);
      tasks[i].ids = {5};
      tasks[i].new_tokens = 2;
    }
    auto source = live_source(request_, model_, 0, tasks);
    BuildRecord record;
    source->begin(record);
    return source;
  }

  AuditRequest request_;
  Model model_{
      "", "", "", "",
      "", "", {}, false,
      {}, {}, {}, Tokenizer::from_folder(std::string(DRIFTAUDIT_SOURCE_FOLDER) + "/models/mini")};
  Stop stopped_ = Stop::kFed;
};

TEST_F(LiveSource, GivesTheStepsOfOneTaskAfterTheOther) {
  const auto source = begun("");
  for (int task = 0; task < 2; ++task) {
    EXPECT_TRUE(source->next(stopped_));
    EXPECT_TRUE(source->next(stopped_));
    EXPECT_FALSE(source->next(stopped_));
    EXPECT_EQ(stopped_, Stop::kLength);
  }
}

TEST_F(LiveSource, TellsTheRunnerWhichAttention) {
  Side side;
  EXPECT_EQ(job_of(side, model_, {}).attention, wire::Attention::kEager);
  EXPECT_EQ(job_of(side, model_, {}).score_scale, wire::ScoreScale::kDivide);
  EXPECT_EQ(job_of(side, model_, {}).generate_calls, wire::GenerateCalls::kAllPositions);
  side.attention = {Attention::kSdpa, ScoreScale::kMultiply, "asked", "5.0.0"};
  EXPECT_EQ(job_of(side, model_, {}).attention, wire::Attention::kSdpa);
  EXPECT_EQ(job_of(side, model_, {}).score_scale, wire::ScoreScale::kMultiply);
  EXPECT_EQ(job_of(side, model_, {}).generate_calls, wire::GenerateCalls::kLastPosition);
}

TEST_F(LiveSource, RecordsWhichAttention) {
  Side side;
  side.attention = {Attention::kEager, ScoreScale::kMultiply, "asked", "5.0.0"};
  EXPECT_EQ(build_record(side).attention, side.attention);
  side.attention.kind = Attention::kSdpa;  // which has a scale of its own
  EXPECT_EQ(build_record(side).attention.scale, ScoreScale::kDivide);
}

TEST_F(LiveSource, RefusesAStepOfAnotherTask) {
  const auto source = begun("another task");
  try {
    source->next(stopped_);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("1.2.3: the runner sent its frames out of order"));
  }
}

}  // namespace
}  // namespace drift
