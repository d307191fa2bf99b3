#include "sweep/conclude.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sweep/worded_report.hpp"

namespace drift {
namespace {

using test::worded_report;
using ::testing::ElementsAre;

/// Words as worded_report() takes them; "!" failed, a "?" in front doesn't repeat itself.
SweepRecord record_of(const std::vector<std::string>& builds, const std::vector<Knob>& knobs,
                      bool one_at_a_time, const std::vector<std::string>& words) {
  SweepRequest request;
  request.builds = builds;
  request.knobs = knobs;
  request.one_at_a_time = one_at_a_time;
  request.settings.modes = {"greedy"};
  request.cells = planned_cells(builds.size(), knobs, one_at_a_time);
  EXPECT_EQ(request.cells.size(), words.size());
  std::vector<CellOutcome> outcomes;
  for (const std::string& word : words) {
    CellOutcome& outcome = outcomes.emplace_back();
    if (word == "!") {
      outcome.reason = "it crashed";
      continue;
    }
    outcome.repeatable = word[0] != '?';
    outcome.answer = worded_report(word.substr(outcome.repeatable ? 0 : 1));
  }
  return sweep_record(request, outcomes);
}

const Knob kThreads{"threads", {"1", "2"}};
const Knob kCache{"cache", {"on", "off"}};
const Knob kVariable{"NAME", {"", "x", "y"}};

TEST(SweepClasses, HoldCellsOfEqualBitsInTheirOrder) {
  const SweepRecord record =
      record_of({"v1"}, {kThreads, kCache}, false, {"abc", "abC", "abc", "abd"});
  ASSERT_EQ(record.classes.size(), 3U);
  EXPECT_THAT(record.classes[0].cells, ElementsAre(0, 2));
  EXPECT_THAT(record.classes[1].cells, ElementsAre(1));
  EXPECT_THAT(record.classes[2].cells, ElementsAre(3));
  EXPECT_EQ(record.cells[2].class_index, 0U);
  EXPECT_EQ(record.cells[2].digest, record.classes[0].digest);
  EXPECT_EQ(record.cells[3].knobs.at("cache"), "off");
}

TEST(SweepClasses, HaveNoCellThatFailsOrDiffersFromItself) {
  const SweepRecord record = record_of({"v1"}, {kVariable}, false, {"ab", "?ab", "!"});
  ASSERT_EQ(record.classes.size(), 1U);
  EXPECT_THAT(record.classes[0].cells, ElementsAre(0));
  EXPECT_EQ(record.cells[1].state, "nondeterministic");
  EXPECT_EQ(record.cells[1].repeatable, false);
  EXPECT_FALSE(record.cells[1].digest);
  EXPECT_EQ(record.cells[1].ran_as, 1U);
  EXPECT_EQ(record.cells[2].state, "failed");
  EXPECT_FALSE(record.cells[2].repeatable);
  EXPECT_FALSE(record.cells[2].ran_as);
  EXPECT_EQ(record.cells[2].reason, "it crashed");
  EXPECT_FALSE(record.knobs[0].moves_bits) << "there is no pair left";
  EXPECT_EQ(record.knobs[0].pairs, 0U);
}

TEST(SweepKnobs, MoveBitsWhereCellsThatDifferInThemAloneDiffer) {
  // threads 1 on, 1 off, 2 on, 2 off: the cache moves bits on two threads alone.
  const SweepRecord record =
      record_of({"v1"}, {kThreads, kCache}, false, {"abc", "abc", "abc", "aBc"});
  const SweepKnob& threads = record.knobs.at(0);
  EXPECT_EQ(threads.name, "threads");
  EXPECT_EQ(threads.pairs, 2U);
  EXPECT_EQ(threads.pairs_bits, 1U);
  EXPECT_EQ(threads.moves_bits, true);
  EXPECT_EQ(threads.moves_tokens, false);
  ASSERT_TRUE(threads.differing);
  EXPECT_EQ(threads.differing->a, 1U);
  EXPECT_EQ(threads.differing->b, 3U);
  const SweepKnob& cache = record.knobs.at(1);
  EXPECT_EQ(cache.pairs, 2U);
  EXPECT_EQ(cache.pairs_bits, 1U);
  EXPECT_EQ(cache.differing->a, 2U);
}

TEST(SweepKnobs, ArentBlamedForPairsThatDifferInTwo) {
  // One at a time: base, threads 2, cache off; the last two differ in both knobs.
  const SweepRecord record = record_of({"v1"}, {kThreads, kCache}, true, {"ab", "ab", "aB"});
  EXPECT_EQ(record.knobs[0].pairs, 1U);
  EXPECT_EQ(record.knobs[0].moves_bits, false);
  EXPECT_EQ(record.knobs[1].pairs, 1U);
  EXPECT_EQ(record.knobs[1].moves_bits, true);
}

TEST(SweepKnobs, CompareEveryPairOfTheirValues) {
  const SweepRecord record = record_of({"v1"}, {kVariable}, true, {"ab", "aB", "aB"});
  EXPECT_EQ(record.knobs[0].pairs, 3U);
  EXPECT_EQ(record.knobs[0].pairs_bits, 2U);
}

/// What a sweep of a variable concludes from three equal cells, of which one's libraries say that a
/// variable isn't honoured, or can't be told to be.
SweepRecord record_with(const DoubtfulSetting& doubt) {
  SweepRequest request;
  request.builds = {"v1"};
  request.knobs = {kVariable};
  request.cells = planned_cells(1, request.knobs, false);
  std::vector<CellOutcome> outcomes(3);
  for (CellOutcome& outcome : outcomes) {
    outcome.repeatable = true;
    outcome.answer = worded_report("ab");
  }
  outcomes[2].answer->builds[0].doubtful_settings = {doubt};
  return sweep_record(request, outcomes);
}

TEST(SweepKnobs, ConcludeNothingFromACellThatIsNotHonoured) {
  const SweepRecord record = record_with({"NAME", "y", "not_honoured", "it goes for x"});
  EXPECT_EQ(record.cells[2].state, "not_honoured");
  EXPECT_EQ(record.cells[2].reason, "NAME=y isn't honoured, it goes for x");
  EXPECT_TRUE(record.cells[2].digest);
  EXPECT_FALSE(record.cells[2].class_index);
  EXPECT_EQ(record.cells[2].repeatable, true);
  EXPECT_THAT(record.classes.at(0).cells, ElementsAre(0, 1));
  EXPECT_EQ(record.knobs[0].pairs, 1U);
}

TEST(SweepKnobs, KeepACellWhoseDoubtIsNotOfAKnobOrIsNoMoreThanThat) {
  EXPECT_EQ(record_with({"OTHER", "y", "not_honoured", "no"}).knobs[0].pairs, 3U);
  EXPECT_EQ(record_with({"NAME", "y", "unknown", "it doesn't say"}).knobs[0].pairs, 3U);
}

TEST(SweepKnobs, CountNoPairInWhichTheyHadNothingToActOn) {
  const Knob position{"batch-position", {"0", "1"}};
  const SweepRecord idle = record_of({"v1"}, {position}, false, {"ab cd", "ab cd"});
  EXPECT_EQ(idle.knobs[0].pairs, 0U);
  EXPECT_FALSE(idle.knobs[0].moves_bits);
  ASSERT_TRUE(idle.knobs[0].idle);
  EXPECT_EQ(idle.knobs[0].idle->pairs, 1U);
  EXPECT_EQ(idle.knobs[0].idle->why, "every prompt stands where it stood");
  // What was measured stands, whatever was to be expected.
  const SweepRecord moved = record_of({"v1"}, {position}, false, {"ab cd", "ab cD"});
  EXPECT_EQ(moved.knobs[0].moves_bits, true);
  EXPECT_FALSE(moved.knobs[0].idle);
}

TEST(SweepKnobs, TellPairsWhoseLibrariesNameOtherKernels) {
  SweepRequest request;
  request.builds = {"v1"};
  request.knobs = {kVariable};
  request.cells = planned_cells(1, request.knobs, false);
  std::vector<CellOutcome> outcomes(3);
  for (CellOutcome& outcome : outcomes) {
    outcome.repeatable = true;
    outcome.answer = worded_report("ab");
    outcome.answer->builds[0].blas_dispatch = "zen";
  }
  const auto knob = [&] { return sweep_record(request, outcomes).knobs.at(0); };
  EXPECT_EQ(knob().pairs_kernels, 0U);
  EXPECT_FALSE(knob().other_kernels);
  outcomes[2].answer->builds[0].blas_dispatch = "avx2";
  EXPECT_EQ(knob().pairs_kernels, 2U);
  EXPECT_EQ(knob().other_kernels->a, 0U);
  EXPECT_EQ(knob().other_kernels->b, 2U);
  outcomes[2].answer->builds[0].blas_dispatch = "zen";
  outcomes[1].answer->builds[0].cpu_capability = "AVX2";
  EXPECT_EQ(knob().pairs_kernels, 2U);
  EXPECT_EQ(knob().other_kernels->b, 1U);
}

TEST(SweepKnobs, HaveTheBuildAmongThemWhereThereAreSeveral) {
  const SweepRecord record = record_of({"v1", "v2"}, {kThreads}, false, {"ab", "ab", "ab", "ac"});
  EXPECT_EQ(record.knobs.at(0).name, "build");
  EXPECT_THAT(record.knobs[0].values, ElementsAre("v1", "v2"));
  EXPECT_EQ(record.knobs[0].pairs, 2U);
  EXPECT_EQ(record.knobs[0].pairs_tokens, 1U);
  EXPECT_EQ(record.knobs.at(1).pairs, 2U) << "never across builds";
  EXPECT_EQ(record_of({"v1"}, {kThreads}, false, {"ab", "ab"}).knobs.at(0).name, "threads");
}

TEST(SweepKnobs, NameTheEarliestChangedToken) {
  const SweepRecord record =
      record_of({"v1"}, {kVariable}, false, {"abcd abcd", "abce abxd", "Abcd abyd"});
  const SweepKnob& knob = record.knobs[0];
  EXPECT_EQ(knob.moves_tokens, true);
  EXPECT_EQ(knob.pairs_tokens, 3U);
  ASSERT_TRUE(knob.first_token_change);
  EXPECT_EQ(knob.first_token_change->prompt, 2U);
  EXPECT_EQ(knob.first_token_change->step, 3U);
  EXPECT_EQ(knob.first_token_change->mode, "greedy");
  EXPECT_EQ(knob.first_token_change->before, 'c' - 'a');
  EXPECT_EQ(knob.first_token_change->after, 'x' - 'a');
  EXPECT_EQ(knob.first_token_change->cells.a, 0U);
  EXPECT_EQ(knob.first_token_change->cells.b, 1U);
}

TEST(Parting, IsTheFirstStepThatTwoRunsDiffersIn) {
  EXPECT_EQ(parting_of(worded_report("ab ab"), worded_report("ab aB")),
            "its two runs differ from step 2 of prompt 2 (greedy) on");
  EXPECT_EQ(parting_of(worded_report("ab ab"), worded_report("abc ab")),
            "its two runs differ from step 3 of prompt 1 (greedy) on");
}

}  // namespace
}  // namespace drift
