#include "driftaudit/build_prober.hpp"

#include <atomic>
#include <fstream>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/file.hpp"

#include "bisect/probe_store.hpp"
#include "shared/scoped_environment.hpp"

namespace drift {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Builds whose answers are words, a letter a prompt of one step: "-" doesn't compile, "?" doesn't
/// repeat itself.
using Words = std::map<std::string, std::string>;

class WordQuestion final : public Question {
 public:
  explicit WordQuestion(const Words& words) : words_(words) {}

  std::string identity() const override { return "words"; }
  Report ask(const Side& side, const std::optional<BisectPart>& part, const fs::path&,
             Progress&) const override {
    if (interrupted_ == asked_.size()) {
      throw Error(Status::kInterrupted, "interrupted");
    }
    asked_.push_back(side.build.label);
    const std::string& word = words_.at(side.build.label);
    Report report;
    report.kind = "record";
    report.builds.emplace_back().label = side.build.label;
    report.builds[0].repeatable = word != "?";
    for (std::uint32_t prompt = 1; prompt <= word.size(); ++prompt) {
      if (!part || part->prompt == prompt) {
        report.runs.push_back(run(prompt, word[prompt - 1]));
      }
    }
    return report;
  }
  bool same(const Report& a, const Report& b, const std::optional<BisectPart>& part,
            const fs::path&) const override {
    return equal_answers({&a, {}}, {&b, {}}, {}, part);
  }
  BisectPart cheapest(const Report& a, const Report& b, const fs::path&) const override {
    return cheapest_part({&a, {}}, {&b, {}}, {});
  }

  const std::vector<std::string>& asked() const { return asked_; }
  /// The ask with this number, from 0, is interrupted.
  void interrupt_at(std::size_t ask) { interrupted_ = ask; }

 private:
  static Run run(std::uint32_t prompt, char letter) {
    Run run;
    run.mode = "greedy";
    run.prompt = prompt;
    Step step;
    step.token = 1;
    step.top = {{1, 0.0F}};
    step.digest = std::string(32, letter == 'x' ? 'a' : 'b');
    run.steps = {step};
    return run;
  }

  const Words& words_;
  mutable std::vector<std::string> asked_;
  std::optional<std::size_t> interrupted_;
};

class Builds : public ::testing::Test {
 protected:
  Builds() { environment_.set("DRIFTAUDIT_CACHE", folder_.path().string()); }

  /// Releases named by letters from "a" on, with these answers.
  void release(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const std::string label(1, static_cast<char>('a' + candidates_.size()));
      candidates_.push_back({label, label, "2022-01-01", "wheel of " + label});
      words_[label] = word;
    }
  }

  BuildAccess access() {
    return {[this](const Candidate& build) { return open(build); },
            [this](const Candidate& build) { return installed_.contains(build.side); },
            [this](const Candidate& build) { installed_.erase(build.side); }};
  }

  Side open(const Candidate& build) {
    installed_.insert(build.side);
    most_installed_ = std::max(most_installed_, installed_.size());
    if (words_.at(build.label) == "-") {
      throw trouble(build.label + ": its runner doesn't compile", "the whole log: there");
    }
    Side side;
    side.build.label = build.label;
    side.build.libraries_digest = libraries_;
    return side;
  }

  BuildProber prober(const WordQuestion& question, bool keep = false) {
    return {candidates_, question, access(), circumstances_, {keep}, *progress_};
  }

  /// A whole bisection.
  Bisection search(const WordQuestion& question, bool keep = false) {
    BuildProber asking = prober(question, keep);
    Bisection result = bisect(asking, candidates_.size());
    asking.end(true);
    return result;
  }

  /// Files of the bisection's state.
  std::vector<fs::path> state() const {
    std::vector<fs::path> files;
    std::error_code error;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "bisect", error)) {
      if (entry.is_regular_file()) {
        files.push_back(entry.path());
      }
    }
    return files;
  }

  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-bisect"};
  test::ScopedEnvironment environment_;
  std::unique_ptr<Progress> progress_ = make_silent_progress();
  std::vector<Candidate> candidates_;
  Words words_;
  std::string circumstances_ = "one thread";
  std::string libraries_ = "libraries";
  std::set<std::string> installed_;
  std::size_t most_installed_ = 0;
};

TEST_F(Builds, AreInstalledAsNeededAndNeverMoreThanThreeAtOnce) {
  release({"x", "x", "x", "x", "x", "x", "y", "y", "y", "y", "y", "y"});
  const WordQuestion question(words_);
  const Bisection result = search(question);
  ASSERT_EQ(result.boundaries.size(), 1U);
  EXPECT_EQ(result.boundaries[0].after, 6U);
  EXPECT_EQ(most_installed_, 3U);
  EXPECT_THAT(installed_, IsEmpty());
  EXPECT_THAT(state(), IsEmpty()) << "a finished bisection leaves nothing";
}

TEST_F(Builds, ThatWereThereBeforeAreLeft) {
  release({"x", "x", "y", "y", "y"});
  installed_ = {"a", "c"};
  const WordQuestion question(words_);
  search(question);
  EXPECT_THAT(installed_, ElementsAre("a", "c"));
}

TEST_F(Builds, AreAllLeftOnDemand) {
  release({"x", "x", "y", "y", "y"});
  const WordQuestion question(words_);
  search(question, true);
  EXPECT_THAT(installed_, ElementsAre("a", "b", "c", "e"));
}

TEST_F(Builds, AreAskedTheCheapestPartThatSeparatesTheEnds) {
  release({"xxx", "xxx", "xxx", "xxx", "xyy", "xyy", "xyy"});
  const WordQuestion question(words_);
  BuildProber asking = prober(question);
  bisect(asking, candidates_.size());
  ASSERT_TRUE(asking.part());
  EXPECT_EQ(asking.part()->prompt, 2U);
  EXPECT_EQ(asking.part()->steps, 1U);
  EXPECT_EQ(asking.answer(3)->runs.size(), 3U) << "confirmed in full";
  EXPECT_EQ(asking.answer(5)->runs.size(), 1U);
  EXPECT_EQ(asking.answer(2), nullptr);
}

TEST_F(Builds, ThatCannotBeHadAreSkippedWithTheirReason) {
  release({"x", "x", "-", "?", "y", "y"});
  const WordQuestion question(words_);
  BuildProber asking = prober(question);
  const Bisection result = bisect(asking, candidates_.size());
  ASSERT_EQ(result.boundaries.size(), 1U);
  EXPECT_THAT(result.boundaries[0].between, ElementsAre(2, 3));
  EXPECT_THAT(asking.why_skipped(2).what(), HasSubstr("c: its runner doesn't compile"));
  EXPECT_THAT(asking.why_skipped(3).what(), HasSubstr("d: doesn't repeat itself"));
  EXPECT_FALSE(installed_.contains("c")) << "what doesn't run isn't kept";
}

TEST_F(Builds, AtTheEndsMustRunAndAreTriedAnew) {
  release({"x", "x", "-"});
  const WordQuestion question(words_);
  EXPECT_THROW(search(question), Error);
  words_["c"] = "y";
  const WordQuestion mended(words_);
  EXPECT_EQ(search(mended).boundaries.size(), 1U);
}

TEST_F(Builds, AreNotSkippedByAnInterruption) {
  release({"x", "x", "y"});
  WordQuestion question(words_);
  question.interrupt_at(2);
  try {
    search(question);
    ADD_FAILURE() << "not interrupted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInterrupted);
  }
}

TEST_F(Builds, AreAskedOnceHoweverOftenTheSearchIsInterrupted) {
  release({"xx", "xx", "-", "xy", "xy", "xy", "xy", "yy", "yy"});
  WordQuestion whole(words_);
  const Bisection expected = search(whole);
  ASSERT_GT(whole.asked().size(), 5U);
  for (std::size_t at = 0; at < whole.asked().size(); ++at) {
    installed_.clear();
    most_installed_ = 0;
    WordQuestion first(words_);
    first.interrupt_at(at);
    EXPECT_THROW(search(first), Error);
    const WordQuestion second(words_);
    const Bisection result = search(second);
    EXPECT_EQ(result.boundaries.at(0).after, expected.boundaries.at(0).after);
    EXPECT_EQ(first.asked().size() + second.asked().size(), whole.asked().size());
    EXPECT_THAT(installed_, IsEmpty()) << "what the interrupted search installed is its own";
    EXPECT_LE(most_installed_, 3U);
    EXPECT_THAT(state(), IsEmpty());
  }
}

TEST_F(Builds, ThatCouldNotBeHadAreNotTriedAgainAfterAnInterruption) {
  release({"x", "-", "y", "y", "y"});
  WordQuestion first(words_);
  first.interrupt_at(3);  // after the ends, c, b: the confirmation of c
  EXPECT_THROW(search(first), Error);
  words_["b"] = "x";
  const WordQuestion second(words_);
  EXPECT_THAT(search(second).boundaries.at(0).between, ElementsAre(1));
}

TEST_F(Builds, WithDamagedAnswersAreAskedAgain) {
  release({"x", "x", "y", "y", "y"});
  WordQuestion first(words_);
  first.interrupt_at(3);
  EXPECT_THROW(search(first), Error);
  std::size_t damaged = 0;
  for (const fs::path& file : state()) {
    if (file.filename().string().starts_with("answer-")) {
      fs::resize_file(file, fs::file_size(file) / 2);
      ++damaged;
    }
  }
  EXPECT_EQ(damaged, 3U);
  const WordQuestion second(words_);
  EXPECT_EQ(search(second).boundaries.at(0).after, 2U);
  EXPECT_THAT(second.asked(), ElementsAre("a", "e", "c", "b", "b", "c"));
}

TEST_F(Builds, UnderOtherCircumstancesAreAnotherBisection) {
  release({"x", "x", "y"});
  WordQuestion first(words_);
  first.interrupt_at(2);
  EXPECT_THROW(search(first), Error);
  circumstances_ = "two threads";
  const WordQuestion second(words_);
  search(second);
  EXPECT_THAT(second.asked(), ElementsAre("a", "c", "b", "b"));
}

TEST_F(Builds, InFoldersAreAskedAgainWhenTheyHoldAnotherBuild) {
  release({"x", "x", "y"});
  for (Candidate& candidate : candidates_) {
    candidate.identity.clear();
    installed_.insert(candidate.side);
  }
  for (const char* libraries : {"libraries", "others"}) {
    WordQuestion first(words_);
    first.interrupt_at(2);
    EXPECT_THROW(search(first), Error);
    libraries_ = libraries;
    const WordQuestion second(words_);
    search(second);
    EXPECT_EQ(second.asked().size(), libraries == std::string("others") ? 4U : 2U);
    EXPECT_EQ(installed_.size(), 3U) << "a folder is never removed";
    libraries_ = "libraries";
  }
}

TEST_F(Builds, OfOneBisectionAreAskedByOneProcessAtATime) {
  ProbeStore first("bisect", "key", *progress_);
  first.keep_owned("a");
  std::atomic<bool> entered = false;
  std::thread other([&] {
    const ProbeStore second("bisect", "key", *progress_);
    entered = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(entered);
  { const ProbeStore moved(std::move(first)); }
  other.join();
  EXPECT_TRUE(entered);
}

TEST_F(Builds, LostToAnotherProcessAreInstalledAgain) {
  release({"x", "x", "y"});
  installed_ = {"b"};
  bool lost = false;
  BuildAccess taken = access();
  taken.open = [&](const Candidate& build) {
    if (build.label == "b" && !lost) {
      lost = true;
      installed_.erase("b");
      throw trouble("b: its libraries are gone");
    }
    return open(build);
  };
  const WordQuestion question(words_);
  BuildProber asking(candidates_, question, taken, circumstances_, {}, *progress_);
  const Bisection result = bisect(asking, candidates_.size());
  EXPECT_TRUE(lost);
  EXPECT_THAT(result.boundaries.at(0).between, IsEmpty());
  asking.end(true);
  EXPECT_THAT(installed_, IsEmpty()) << "this time it was the bisection's own";
}

TEST_F(Builds, AnswersThatNobodyCameBackForAreRemoved) {
  const std::string forgotten(24, 'f');
  const std::string recent(24, 'a');
  const std::string others = "forgotten";  // not a key: somebody else's
  const fs::path states = folder_.path() / "bisect";
  for (const std::string& key : {forgotten, recent, others}) {
    ProbeStore("bisect", key, *progress_).keep_owned("a");
  }
  for (const std::string& key : {forgotten, others}) {
    fs::last_write_time(states / key,
                        fs::file_time_type::clock::now() - std::chrono::hours(31 * 24));
  }
  const ProbeStore store("bisect", "key", *progress_);
  EXPECT_FALSE(fs::exists(states / forgotten));
  EXPECT_TRUE(fs::exists(states / recent));
  EXPECT_TRUE(fs::exists(states / others));
}

TEST_F(Builds, AnswersCountAsDamagedWhenTheirLogitsAre) {
  ProbeStore store("bisect", "key", *progress_);
  Report report;
  LogitsWriter writer(store.logits("a"), 2);
  writer.add(0, 1, std::vector<float>{1.0F, 2.0F});
  report.logits = writer.commit();
  store.keep_answer("a", report);
  EXPECT_TRUE(store.answer("a"));
  fs::resize_file(store.logits("a"), 40);
  EXPECT_FALSE(store.answer("a"));
  fs::remove(store.logits("a"));
  EXPECT_FALSE(store.answer("a"));
}

TEST_F(Builds, FailuresAreKeptWordByWordWhateverTheirBytes) {
  ProbeStore store("bisect", "key", *progress_);
  store.keep_failure("a", trouble("torch 1.12.0: \xff broke\n", "a \"hint\""));
  const auto failure = store.failure("a");
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->what(), HasSubstr("torch 1.12.0: "));
  EXPECT_EQ(failure->hint(), "a \"hint\"");
  EXPECT_FALSE(store.failure("b"));
  for (const fs::path& file : state()) {
    std::ofstream(file) << "{";
  }
  EXPECT_FALSE(store.failure("a"));
}

}  // namespace
}  // namespace drift
