#include "driftaudit/bisection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bisect/fake_prober.hpp"

namespace drift {
namespace {

using test::FakeProber;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Answers = std::vector<std::string>;

/// `count` answers, "a" before the candidate `change` and "b" from there on.
Answers one_change(std::size_t count, std::size_t change) {
  Answers answers(count, "b");
  std::fill(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(change), "a");
  return answers;
}

Bisection search(FakeProber& prober) { return bisect(prober, prober.count()); }

/// "2-3": the boundaries, with what was skipped in between in brackets.
std::vector<std::string> boundaries(const Bisection& result) {
  std::vector<std::string> texts;
  for (const Boundary& boundary : result.boundaries) {
    std::string text = std::to_string(boundary.before) + "-";
    for (const std::size_t skipped : boundary.between) {
      text += "[" + std::to_string(skipped) + "]-";
    }
    texts.push_back(text + std::to_string(boundary.after));
    EXPECT_EQ(boundary.proved(), boundary.between.empty());
  }
  return texts;
}

std::vector<std::size_t> in_state(const Bisection& result, CandidateState state) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < result.candidates.size(); ++i) {
    if (result.candidates[i].state == state) {
      found.push_back(i);
    }
  }
  return found;
}

TEST(Bisect, FindsTheOneChangeWhereverItIs) {
  for (std::size_t count = 2; count <= 20; ++count) {
    for (std::size_t change = 1; change < count; ++change) {
      FakeProber prober(one_change(count, change));
      const Bisection result = search(prober);
      EXPECT_THAT(boundaries(result),
                  ElementsAre(std::to_string(change - 1) + "-" + std::to_string(change)));
      EXPECT_FALSE(result.ends_equal);
    }
  }
}

TEST(Bisect, NeedsNoMoreProbesThanItSaysBeforeEachOfThem) {
  for (std::size_t count = 2; count <= 20; ++count) {
    for (std::size_t change = 1; change < count; ++change) {
      FakeProber prober(one_change(count, change));
      const Bisection result = search(prober);
      const std::size_t probes = prober.probed().size();
      EXPECT_EQ(result.probes, probes);
      ASSERT_EQ(prober.bounds().size(), probes);
      for (std::size_t i = 0; i < probes; ++i) {
        EXPECT_LE(probes - i, prober.bounds()[i]) << count << " candidates, " << change;
      }
    }
  }
}

TEST(Bisect, AsksLittleOfMany) {
  FakeProber prober(one_change(1000, 617));
  search(prober);
  EXPECT_LE(prober.probed().size(), 2 + 10 + 2U);
}

TEST(Bisect, OfTwoCandidatesTestsOnlyThem) {
  FakeProber prober({"a", "b"});
  EXPECT_THAT(boundaries(search(prober)), ElementsAre("0-1"));
  EXPECT_THAT(prober.probed(), ElementsAre(0, 1));
}

TEST(Bisect, SaysThatEqualEndsAreEqualAndAsksNothingElse) {
  FakeProber prober({"a", "b", "a"});
  const Bisection result = search(prober);
  EXPECT_TRUE(result.ends_equal);
  EXPECT_THAT(result.boundaries, IsEmpty());
  EXPECT_THAT(prober.probed(), ElementsAre(0, 2));
  EXPECT_THAT(result.classes, ElementsAre(ElementsAre(0, 2)));
  EXPECT_EQ(result.candidates[1].state, CandidateState::kUntested);
}

TEST(Bisect, ConfirmsTheBoundaryInFull) {
  FakeProber prober(one_change(9, 6));
  const Bisection result = search(prober);
  EXPECT_THAT(in_state(result, CandidateState::kFull), ElementsAre(0, 5, 6, 8));
  EXPECT_THAT(result.classes, ElementsAre(ElementsAre(0, 5), ElementsAre(6, 8)));
  EXPECT_EQ(result.candidates[4].state, CandidateState::kPart);
  EXPECT_EQ(result.candidates[4].equals_first, true);
}

TEST(Bisect, AssumesOnlyWhatLiesBeforeTheBoundary) {
  FakeProber prober(one_change(9, 6));
  const Bisection result = search(prober);
  EXPECT_THAT(in_state(result, CandidateState::kAssumed), ElementsAre(1, 2, 3));
  EXPECT_THAT(in_state(result, CandidateState::kUntested), ElementsAre(7));
}

TEST(Bisect, FindsSomeBoundaryWhereCandidatesChangeToAndFro) {
  const Answers answers = {"a", "b", "a", "a", "b", "a", "b", "b", "c"};
  FakeProber prober(answers);
  const Bisection result = search(prober);
  ASSERT_EQ(result.boundaries.size(), 1U);
  const Boundary& found = result.boundaries[0];
  EXPECT_EQ(found.after, found.before + 1);
  EXPECT_EQ(answers[found.before], "a");
  EXPECT_NE(answers[found.after], "a");
}

TEST(Bisect, GoesToTheNeighboursOfWhatCannotRun) {
  FakeProber prober({"a", "a", "a", "-", "-", "b", "b"});
  const Bisection result = search(prober);
  EXPECT_THAT(boundaries(result), ElementsAre("2-[3]-[4]-5"));
  EXPECT_THAT(in_state(result, CandidateState::kSkipped), ElementsAre(3, 4));
}

TEST(Bisect, ProvesTheChangeBesideWhatWasSkippedElsewhere) {
  FakeProber prober({"a", "a", "a", "-", "a", "b", "b"});
  EXPECT_THAT(boundaries(search(prober)), ElementsAre("4-5"));
}

TEST(Bisect, NamesAllThatWasSkippedWhenNothingBetweenRuns) {
  FakeProber prober({"a", "-", "-", "-", "b"});
  const Bisection result = search(prober);
  EXPECT_THAT(boundaries(result), ElementsAre("0-[1]-[2]-[3]-4"));
  EXPECT_EQ(prober.probed().size(), 5U) << "each was tried, and once";
}

TEST(Bisect, AddsAtMostOneProbeForEachThatIsSkipped) {
  for (std::size_t skipped = 1; skipped < 8; ++skipped) {
    for (std::size_t change = 1; change < 9; ++change) {
      Answers answers = one_change(9, change);
      answers[skipped] = "-";
      FakeProber prober(answers);
      search(prober);
      const std::size_t probes = prober.probed().size();
      for (std::size_t i = 0; i < probes; ++i) {
        EXPECT_LE(probes - i, prober.bounds()[i] + 1) << "skipped " << skipped << " of " << change;
      }
    }
  }
}

TEST(Bisect, RefusesAnEndThatCannotRun) {
  for (const Answers& answers : {Answers{"-", "a", "b"}, Answers{"a", "b", "-"}}) {
    FakeProber prober(answers);
    try {
      search(prober);
      ADD_FAILURE() << "an end can't run";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("doesn't compile"));
      EXPECT_THAT(error.hint(), HasSubstr("both ends"));
      EXPECT_THAT(error.hint(), HasSubstr("read the log"));
    }
  }
}

TEST(Bisect, GoesOnWhenTheCheapPartIsBlindToAnEarlierChange) {
  // The first letter changes at 6, the second at 2: the ends differ in the first.
  FakeProber prober({"aa", "aa", "ab", "ab", "ab", "ab", "bb", "bb"});
  const Bisection result = search(prober);
  EXPECT_THAT(boundaries(result), ElementsAre("1-2"));
  EXPECT_EQ(prober.parts_asked().front(), 0U);
  EXPECT_EQ(prober.parts_asked().back(), 1U);
  EXPECT_EQ(result.candidates[4].equals_first, std::nullopt)
      << "being equal in the part that was given up says nothing";
}

TEST(Bisect, GoesOnAsOftenAsThePartsMislead) {
  FakeProber prober({"aaa", "aab", "aab", "aab", "abb", "abb", "abb", "bbb", "bbb"});
  EXPECT_THAT(boundaries(search(prober)), ElementsAre("0-1"));
}

TEST(Bisect, PassesOverWhatAnswersAPartButNotTheWhole) {
  FakeProber before({"a", "a", "a", "a!", "b", "b"});
  EXPECT_THAT(boundaries(search(before)), ElementsAre("2-[3]-4"));
  FakeProber after({"a", "a", "a", "b!", "b", "b"});
  EXPECT_THAT(boundaries(search(after)), ElementsAre("2-[3]-4"));
  FakeProber all({"a", "a!", "a!", "b!", "b!", "b"});
  EXPECT_THAT(boundaries(search(all)), ElementsAre("0-[1]-[2]-[3]-[4]-5"));
}

/// Says of candidate 1 that it differs in part, and of all others that it doesn't.
class Unsteady : public FakeProber {
 public:
  using FakeProber::FakeProber;
  void ask_in_full() override { in_full_ = true; }
  void ask_in_part(std::size_t, std::size_t) override { in_full_ = false; }
  bool same(std::size_t, std::size_t b) override { return in_full_ ? b == 1 : b != 1; }

 private:
  bool in_full_ = true;
};

TEST(Bisect, RefusesACandidateThatContradictsItself) {
  Unsteady prober({"a", "a", "b"});
  try {
    search(prober);
    ADD_FAILURE() << "candidate 1 differs in part and is equal in full";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kTrouble);
    EXPECT_THAT(error.what(), HasSubstr("build 1: differs from build 0"));
  }
}

TEST(BisectAll, FindsEveryBoundaryBetweenUnequalNeighbours) {
  FakeProber prober({"a", "a", "b", "b", "b", "c", "c", "d"});
  const Bisection result = bisect_all(prober, prober.count(), false);
  EXPECT_THAT(boundaries(result), ElementsAre("1-2", "4-5", "6-7"));
  EXPECT_THAT(prober.parts_asked(), IsEmpty()) << "a part may be blind to a change";
}

TEST(BisectAll, AssumesThatNothingChangesBetweenEqualOnes) {
  FakeProber prober({"a", "a", "a", "x", "a", "a", "a", "b", "b", "b", "b"});
  const Bisection result = bisect_all(prober, prober.count(), false);
  EXPECT_THAT(boundaries(result), ElementsAre("6-7"));
  for (const std::size_t candidate : in_state(result, CandidateState::kAssumed)) {
    EXPECT_TRUE(candidate < 5 || candidate > 7);
  }
  EXPECT_EQ(result.candidates[3].state, CandidateState::kAssumed) << "and is wrong there";
  EXPECT_THAT(in_state(result, CandidateState::kUntested), IsEmpty());
}

TEST(BisectAll, AssumesNothingWhenExhaustive) {
  FakeProber prober({"a", "a", "a", "x", "a", "a", "a", "b", "b", "b", "b"});
  const Bisection result = bisect_all(prober, prober.count(), true);
  EXPECT_THAT(boundaries(result), ElementsAre("2-3", "3-4", "6-7"));
  EXPECT_EQ(prober.probed().size(), prober.count());
  EXPECT_THAT(in_state(result, CandidateState::kFull).size(), prober.count());
}

TEST(BisectAll, HalvesARangeOfEqualEndsOnce) {
  FakeProber prober({"a", "a", "b", "b", "a"});
  const Bisection result = bisect_all(prober, prober.count(), false);
  EXPECT_TRUE(result.ends_equal);
  EXPECT_THAT(boundaries(result), ElementsAre("1-2", "3-4"));
}

TEST(BisectAll, PutsEqualOnesInOneClassThoughTheyAreApart) {
  FakeProber prober({"a", "b", "a", "c", "b"});
  const Bisection result = bisect_all(prober, prober.count(), true);
  EXPECT_THAT(result.classes, ElementsAre(ElementsAre(0, 2), ElementsAre(1, 4), ElementsAre(3)));
}

TEST(BisectAll, NamesWhatWasSkippedAtItsBoundaries) {
  FakeProber prober({"a", "-", "b", "b", "-", "b", "-", "-", "c"});
  const Bisection result = bisect_all(prober, prober.count(), true);
  EXPECT_THAT(boundaries(result), ElementsAre("0-[1]-2", "5-[6]-[7]-8"));
  EXPECT_THAT(in_state(result, CandidateState::kSkipped), ElementsAre(1, 4, 6, 7));
}

TEST(BisectAll, NeedsNoMoreProbesThanItSaysBeforeEachOfThem) {
  for (const bool exhaustive : {false, true}) {
    FakeProber prober({"a", "a", "b", "b", "-", "b", "c", "c", "a", "a", "a"});
    const Bisection result = bisect_all(prober, prober.count(), exhaustive);
    const std::size_t probes = prober.probed().size();
    EXPECT_EQ(result.probes, probes);
    for (std::size_t i = 0; i < probes; ++i) {
      EXPECT_LE(probes - i, prober.bounds()[i]);
    }
  }
}

/// Within 1 of each other.
class Tolerant : public FakeProber {
 public:
  using FakeProber::FakeProber;
  bool same(std::size_t a, std::size_t b) override { return std::max(a, b) - std::min(a, b) <= 1; }
};

TEST(BisectAll, FormsClassesByTheirFirstMember) {
  Tolerant prober({"0", "1", "2", "3", "4"});
  const Bisection result = bisect_all(prober, prober.count(), true);
  EXPECT_THAT(result.classes, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(Bisect, ResumesAfterAnInterruptionAtAnyProbe) {
  const Answers answers = {"aa", "aa", "-", "ab", "ab", "ab", "ab!", "ab", "bb", "bb"};
  for (const bool all : {false, true}) {
    const auto run = [&](FakeProber& prober) {
      return all ? bisect_all(prober, prober.count(), false) : search(prober);
    };
    FakeProber whole(answers);
    const Bisection expected = run(whole);
    ASSERT_GT(whole.made(), 5U);
    for (std::size_t at = 0; at < whole.made(); ++at) {
      FakeProber first(answers);
      first.interrupt_at(at);
      EXPECT_THROW(run(first), Error);
      FakeProber second(answers);
      second.resume(first);
      EXPECT_EQ(boundaries(run(second)), boundaries(expected));
      EXPECT_EQ(first.made() + second.made(), whole.made()) << "interrupted at " << at;
    }
  }
}

}  // namespace
}  // namespace drift
