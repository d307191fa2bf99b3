#include <atomic>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/rescore.hpp"
#include "driftaudit/sweep.hpp"

#include "shared/scoped_environment.hpp"
#include "sweep/conclude.hpp"
#include "sweep/worded_report.hpp"

namespace drift {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Sweeps four cells whose answers are words; "!" fails. A cell's second word is what it answers
/// when it is asked again; with "?" its times within the process differed.
class SweepRun : public ::testing::Test {
 protected:
  SweepRun() {
    cache_.set("DRIFTAUDIT_CACHE", (folder_.path() / "cache").string());
    request_.builds = {"v1"};
    request_.knobs = {{"NAME", {"", "x", "y", "z"}}};
    request_.cells = planned_cells(1, request_.knobs, false);
    request_.tool = "driftaudit test";
    request_.identity = "words";
    words_ = {{"ab", "ab"}, {"ab", "ab"}, {"aB", "aB"}, {"ac", "ac"}};
  }

  Report sweep() {
    const auto progress = make_silent_progress();
    return run_sweep(
        request_, [this](std::size_t cell) { return answer(cell); }, rescorer_, *progress);
  }

  /// Scores words again: those with a "b" fail at their second step; the cell `unscored_` can't be.
  void rescore_words() {
    rescorer_ = [this](std::size_t cell, const Report& answer) {
      const std::lock_guard lock(mutex_);
      rescored_.push_back(cell);
      if (cell == unscored_) {
        throw trouble("v1: killed while it scored");
      }
      Report report;
      report.kind = "rescore";
      report.builds = answer.builds;
      DecodedRequest request{"greedy", 1, {}, "", {0}, {}, {0, 0}};
      for (const Step& step : answer.runs.at(0).steps) {
        request.tokens.push_back(step.token);
      }
      const TextScorer scorer = [](const std::vector<ScoredText>& texts) {
        const double of_second = texts.at(0).ids.at(2) == 1 ? -5 : 0;
        return std::vector<std::vector<TokenScore>>{{TokenScore{0}, TokenScore{of_second}}};
      };
      report.rescore = rescore({request}, scorer, {.outlier = 0.5, .n_positions = 16});
      return report;
    };
  }

  Report answer(std::size_t cell) {
    const std::lock_guard lock(mutex_);
    if (interrupted_ == runs_.size()) {
      throw Error(Status::kInterrupted, "interrupted");
    }
    const std::size_t before = answered_[cell];
    runs_.push_back(cell);
    ++answered_[cell];
    const std::string& word = words_.at(cell).at(std::min<std::size_t>(before, 1));
    if (word == "!") {
      throw trouble("v1: killed by signal 4");
    }
    if (word.ends_with('?')) {
      Report marked = test::worded_report(word.substr(0, word.size() - 1));
      mark_unrepeatable("within one process times differ", marked);
      return marked;
    }
    return test::worded_report(word);
  }

  /// The sweep ends as an interrupted one before the run with this number, from 0.
  void interrupt_at(std::size_t run) {
    interrupted_ = run;
    try {
      sweep();
      ADD_FAILURE() << "not interrupted";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInterrupted);
      EXPECT_EQ(error.hint(), "the same command goes on from here");
    }
    interrupted_ = static_cast<std::size_t>(-1);
  }

  void forget_runs() {
    runs_.clear();
    answered_.clear();
  }

  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-sweep"};
  test::ScopedEnvironment cache_;
  SweepRequest request_;
  std::vector<std::vector<std::string>> words_;
  std::vector<std::size_t> runs_;  ///< cells in the order in which they ran
  CellRescorer rescorer_;
  std::vector<std::size_t> rescored_;  ///< cells likewise
  std::size_t unscored_ = static_cast<std::size_t>(-1);

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::size_t> answered_;
  std::size_t interrupted_ = static_cast<std::size_t>(-1);
};

TEST_F(SweepRun, RunsEveryCellTwice) {
  const Report report = sweep();
  EXPECT_THAT(runs_, ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_EQ(report.kind, "sweep");
  ASSERT_EQ(report.sweep->classes.size(), 3U);
  EXPECT_THAT(report.sweep->classes[0].cells, ElementsAre(0, 1));
  EXPECT_EQ(report.builds.size(), 4U);
  EXPECT_EQ(report.builds[0].repeatable, true);
  EXPECT_EQ(report.tokens.at('b' - 'a'), "b");
  EXPECT_EQ(report.tokens.at('c' - 'a'), "c");
}

TEST_F(SweepRun, ReportsACellThatDiffersFromItself) {
  words_[1] = {"ab", "aB"};
  const Report report = sweep();
  const SweepCell& cell = report.sweep->cells.at(1);
  EXPECT_EQ(cell.state, "nondeterministic");
  EXPECT_EQ(cell.reason, "its two runs differ from step 2 of prompt 1 (greedy) on");
  EXPECT_FALSE(cell.class_index);
  EXPECT_EQ(report.builds.at(*cell.ran_as).repeatable, false);
  EXPECT_THAT(verdict_sentence(report),
              HasSubstr("cell 2 (v1, NAME=x) doesn't repeat itself: its two runs differ"));
  EXPECT_EQ(report.sweep->knobs[0].pairs, 3U) << "none with that cell";
}

TEST_F(SweepRun, ReportsACellWhoseTimesDifferWithinAProcess) {
  words_[1] = {"ab?", "ab?"};
  words_[2] = {"ab", "ab?"};
  interrupt_at(5);  // what was kept says so too
  const Report report = sweep();
  for (const std::size_t marked : {1U, 2U}) {
    EXPECT_EQ(report.sweep->cells.at(marked).state, "nondeterministic");
    EXPECT_EQ(report.sweep->cells.at(marked).reason, "within one process times differ");
  }
  EXPECT_EQ(report.sweep->cells.at(3).state, "ran");
}

TEST_F(SweepRun, ReportsACellThatFailsAndGoesOn) {
  words_[1] = {"!", "ab"};
  words_[2] = {"aB", "!"};
  const Report report = sweep();
  EXPECT_THAT(runs_, ElementsAre(0, 0, 1, 2, 2, 3, 3)) << "a failed cell isn't asked again";
  for (const std::size_t failed : {1U, 2U}) {
    EXPECT_EQ(report.sweep->cells.at(failed).state, "failed");
    EXPECT_EQ(report.sweep->cells.at(failed).reason, "v1: killed by signal 4");
  }
  EXPECT_EQ(report.sweep->cells.at(3).state, "ran");
  EXPECT_EQ(report.sweep->cells.at(3).ran_as, 1U);
}

TEST_F(SweepRun, IsAnErrorWhereEveryCellFails) {
  words_.assign(4, {"!", "!"});
  try {
    sweep();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kTrouble);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("every cell failed"), HasSubstr("signal 4")));
  }
}

TEST_F(SweepRun, GoesOnWhereverItWasInterrupted) {
  for (std::size_t at = 0; at < 8; ++at) {
    forget_runs();
    interrupt_at(at);
    const Report report = sweep();
    EXPECT_EQ(runs_.size(), 8U) << "interrupted at run " << at;
    EXPECT_EQ(report.sweep->classes.size(), 3U);
    EXPECT_THAT(fs::is_empty(folder_.path() / "cache/sweep"), true) << "nothing stays";
  }
}

TEST_F(SweepRun, DoesntGoOnWithWhatAnotherSweepHasRun) {
  interrupt_at(3);
  runs_.clear();
  request_.identity = "other words";
  sweep();
  EXPECT_EQ(runs_.size(), 8U);
}

TEST_F(SweepRun, FindsTheSameWithSeveralJobs) {
  words_[1] = {"ab", "aB"};
  words_[2] = {"!", "!"};
  const Report one = sweep();
  for (const unsigned jobs : {2U, 3U, 16U}) {
    forget_runs();
    request_.jobs = jobs;
    Report several = sweep();
    several.created = one.created;
    EXPECT_EQ(report_json(several), report_json(one)) << jobs << " jobs";
    EXPECT_GE(runs_.size(), 7U);
  }
}

TEST_F(SweepRun, IsInterruptedWithSeveralJobsToo) {
  request_.jobs = 4;
  interrupt_at(2);
  runs_.clear();
  EXPECT_EQ(sweep().sweep->classes.size(), 3U);
  EXPECT_LE(runs_.size(), 8U);
}

TEST_F(SweepRun, RescoresEachCellOnceAndSaysWhichKnobMovesWhatFails) {
  rescore_words();
  const SweepRecord sweep_record = sweep().sweep.value();
  EXPECT_THAT(rescored_, ElementsAre(0, 1, 2, 3));
  ASSERT_TRUE(sweep_record.cells[0].rescore);
  EXPECT_THAT(sweep_record.cells[0].rescore->failing, SizeIs(1));
  EXPECT_EQ(sweep_record.cells[0].rescore->failing[0].first_step, 2U);
  EXPECT_THAT(sweep_record.cells[3].rescore->failing, IsEmpty());
  ASSERT_TRUE(sweep_record.knobs[0].failures);
  EXPECT_EQ(sweep_record.knobs[0].failures->pairs, 6U);
  EXPECT_EQ(sweep_record.knobs[0].failures->pairs_moved, 3U);
  EXPECT_EQ(sweep_record.knobs[0].failures->first->b, 3U);
}

TEST_F(SweepRun, SaysNothingOfFailuresUnlessAsked) {
  const SweepRecord sweep_record = sweep().sweep.value();
  EXPECT_FALSE(sweep_record.cells[0].rescore);
  EXPECT_FALSE(sweep_record.knobs[0].failures);
}

TEST_F(SweepRun, RescoresNothingAgainThatItHasScored) {
  rescore_words();
  interrupt_at(4);  // two cells are done
  sweep();
  EXPECT_THAT(rescored_, ElementsAre(0, 1, 2, 3));
}

TEST_F(SweepRun, RescoresAgainByAnotherLimitWithoutRunningAgain) {
  rescore_words();
  interrupt_at(4);
  forget_runs();
  request_.rescoring = "0.5";
  sweep();
  EXPECT_THAT(rescored_, ElementsAre(0, 1, 0, 1, 2, 3));
  EXPECT_THAT(runs_, ElementsAre(2, 2, 3, 3));
}

TEST_F(SweepRun, FailsACellThatCantBeScored) {
  rescore_words();
  unscored_ = 1;
  const SweepRecord sweep_record = sweep().sweep.value();
  EXPECT_EQ(sweep_record.cells[1].state, "failed");
  EXPECT_THAT(sweep_record.cells[1].reason, HasSubstr("killed while it scored"));
  EXPECT_TRUE(sweep_record.cells[0].rescore);
}

TEST_F(SweepRun, KeepsWhatRescoringACellFound) {
  rescore_words();
  request_.keep_cells = folder_.path() / "cells";
  fs::create_directory(request_.keep_cells);
  sweep();
  const Report kept = read_report(request_.keep_cells / "cell-1-rescored.json.zst");
  EXPECT_EQ(kept.kind, "rescore");
  EXPECT_EQ(kept.rescore->requests.at(0).first_outlier, 2U);
}

TEST_F(SweepRun, KeepsTheReportsOfCells) {
  words_[1] = {"ab", "aB"};
  request_.keep_cells = folder_.path();
  const Report report = sweep();
  EXPECT_THAT(report.sweep->cells.at(0).reports, ElementsAre("cell-1.json.zst"));
  EXPECT_THAT(report.sweep->cells.at(1).reports,
              ElementsAre("cell-2.json.zst", "cell-2-again.json.zst"));
  const Report kept = read_report(folder_.path() / "cell-2-again.json.zst");
  EXPECT_EQ(kept.kind, "record");
  EXPECT_EQ(kept.tool, "driftaudit test");
  EXPECT_EQ(kept.builds.at(0).repeatable, false);
  EXPECT_EQ(kept.runs.at(0).steps.at(1).digest.back(), '1');
  EXPECT_FALSE(kept.runs[0].steps[0].top.empty());
}

}  // namespace
}  // namespace drift
