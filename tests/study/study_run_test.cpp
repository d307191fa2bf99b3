#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/study.hpp"

#include "shared/scoped_environment.hpp"
#include "study/made_answer.hpp"

namespace drift {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A study of runners that answer by what a test says of their side: the side's name, which stands
/// in its fault, decides by how much its gaps are moved.
class StudyRunTest : public ::testing::Test {
 protected:
  StudyRunTest() {
    cache_.set("DRIFTAUDIT_CACHE", (folder_.path() / "cache").string());
    request_.base.settings.new_tokens = 3;
    request_.base.settings.top_k = 2;
    request_.base.prompts = {"prompts", {{"one", {1}}, {"two", {2}}}};
    request_.base.tool = "driftaudit test";
    request_.openings = {"openings", {{"alpha", {3}}, {"beta", {4}}, {"gamma", {5}}}};
    request_.opening_tokens = 4;
    request_.identity = "words";
    for (std::size_t i = 0; i < kStudyConditions; ++i) {
      const std::string name = condition_name(static_cast<StudyCondition>(i));
      request_.sides.at(i) = side(name, name.rfind("first", 0) == 0 ? "v1" : "v9");
    }
    // As the original saw it: the builds differ, generic kernels differ from both and not from each
    // other.
    shifts_ = {{"first", 0}, {"first, generic", 0.5}, {"last, generic", 0.5}};
    for (const char* name : {"last", "last again", "last, 1 thread"}) {
      shifts_[name] = 0.25;
    }
  }

  static Side side(const std::string& name, const std::string& label) {
    Side made;
    made.build.label = label;
    made.fault = name;
    return made;
  }

  void add_between(const std::string& label, double shift) {
    request_.between.push_back({label, side(label, label), ""});
    shifts_[label] = shift;
  }

  Report study() {
    const auto progress = make_silent_progress();
    return run_study(
        request_,
        [this](const AuditRequest& asked, Progress&) {
          if (asked_.size() == interrupted_) {
            throw Error(Status::kInterrupted, "interrupted");
          }
          asked_.push_back(asked);
          return answer(asked);
        },
        *progress);
  }

  Report answer(const AuditRequest& asked) {
    Report report;
    report.kind = asked.sides.size() == 1 ? "record" : "audit";
    report.settings = asked.settings;
    report.model.vocab_size = 3000;
    for (const Side& each : asked.sides) {
      BuildRecord& build = report.builds.emplace_back();
      build.label = each.build.label;
      build.tokens_per_second = 100;
      build.repeatable = asked.first_prompts_twice ? std::optional(true) : std::nullopt;
      ++times_[each.fault];
    }
    for (const std::string& mode : asked.settings.modes) {
      for (std::uint32_t p = 1; p <= asked.prompts.prompts.size(); ++p) {
        for (std::uint32_t s = 0; s < asked.sides.size(); ++s) {
          add_run(asked, mode, p, s, report);
        }
      }
    }
    if (asked.sides.size() == 2) {
      summarize(report);
    }
    return report;
  }

  void add_run(const AuditRequest& asked, const std::string& mode, std::uint32_t prompt,
               std::uint32_t build, Report& report) {
    const std::string& name = asked.sides[build].fault;
    if (name == crashing_) {
      throw trouble(name + ": killed by signal 4");
    }
    const double noise = name == noisy_ ? times_[name] : 0;
    std::vector<Step> steps;
    for (std::uint32_t i = 1; i <= asked.settings.new_tokens; ++i) {
      const double shift = shifts_.at(name) + noise;
      const std::int32_t token = i == 2 && name == diverging_ ? 6 : 5;
      steps.push_back(test::made_gap_step(token, prompt + 0.5 * i + shift));
      steps.back().digest[0] = static_cast<char>('a' + std::lround(shift * 4) % 6);
      if (build == 1 && asked.settings.on_divergence == "force") {
        steps.back().fed = 5;
      }
      steps.back().draw_digest = i;
    }
    const Prompt& source = asked.prompts.prompts.at(prompt - 1);
    report.runs.push_back(test::made_gap_run(build, prompt, mode, std::move(steps)));
    report.runs.back().prompt_text = source.text;
    report.runs.back().prompt_ids = source.ids;
  }

  /// As an audit counts.
  static void summarize(Report& report) {
    Summary& summary = report.summary;
    for (std::size_t r = 0; r + 1 < report.runs.size(); r += 2) {
      const drift::Run& a = report.runs[r];
      const drift::Run& b = report.runs[r + 1];
      PromptComparison& compared = report.comparison.emplace_back();
      compared.mode = a.mode;
      compared.prompt = a.prompt;
      ++summary.prompts;
      for (std::size_t i = 0; i < a.steps.size(); ++i) {
        ++summary.steps;
        const double change = std::abs(a.steps[i].gap - b.steps[i].gap);
        summary.max_abs_logit_diff = std::max(summary.max_abs_logit_diff, change);
        summary.steps_changed += change > 0 ? 1 : 0;
        summary.first_steps_changed += change > 0 && i == 0 ? 1 : 0;
        if (a.steps[i].token != b.steps[i].token && !compared.first_token_change) {
          compared.first_token_change = static_cast<std::uint32_t>(i + 1);
        }
      }
    }
  }

  const StudyPair& pair(const Report& report, const std::string& what, const std::string& mode,
                        bool cache = true) const {
    for (const StudyPair& each : report.study->pairs) {
      if (each.what == what && each.mode == mode && each.cache == cache) {
        return each;
      }
    }
    throw trouble("no such pair");
  }

  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-study"};
  test::ScopedEnvironment cache_;
  StudyRequest request_;
  std::map<std::string, double> shifts_;  ///< by a side's name
  std::map<std::string, int> times_;      ///< asked so often
  std::string noisy_, crashing_, diverging_;
  std::vector<AuditRequest> asked_;
  std::size_t interrupted_ = static_cast<std::size_t>(-1);
};

TEST_F(StudyRunTest, HasThePromptsInThreeModesAndTheSettingsBeside) {
  const Report report = study();
  EXPECT_EQ(report.kind, "study");
  ASSERT_EQ(report.study->pairs.size(), 6U);
  const StudyPair& upgrade = pair(report, "upgrade", "greedy");
  EXPECT_EQ(upgrade.steps, 6U);
  EXPECT_EQ(upgrade.steps_changed, 6U);
  EXPECT_EQ(upgrade.first_steps_changed, 2U);
  EXPECT_EQ(upgrade.prompts, 2U);
  EXPECT_EQ(upgrade.prompts_diverged, 0U);
  EXPECT_EQ(upgrade.max_first_step_diff, 0.25);
  EXPECT_EQ(pair(report, "upgrade", "greedy", false).steps_changed, 6U);
  EXPECT_EQ(pair(report, "upgrade", "sample").steps_changed, 6U);
  EXPECT_EQ(pair(report, "kernels", "greedy").max_abs_logit_diff, 0.25);
  EXPECT_EQ(pair(report, "generic upgrade", "greedy").steps_changed, 0U);
  EXPECT_EQ(pair(report, "threads", "greedy").steps_changed, 0U);
  EXPECT_EQ(pair(report, "threads", "greedy").b, 2U);
}

TEST_F(StudyRunTest, TakesTheFirstStepsFromAnAuditOfOneToken) {
  study();
  std::size_t single = 0;
  for (const AuditRequest& asked : asked_) {
    EXPECT_LE(asked.settings.keep_top, 10U) << "memory";
    single += asked.settings.new_tokens == 1 ? 1 : 0;
  }
  EXPECT_EQ(single, 6U);
}

TEST_F(StudyRunTest, CountsSetsOfGapsOverSixRuns) {
  const Report report = study();
  const StudyGaps& gaps = report.study->gaps;
  ASSERT_EQ(gaps.runs.size(), kStudyConditions);
  EXPECT_EQ(gaps.distinct_sets, 3U);
  EXPECT_EQ(gaps.runs[2].set, gaps.runs[1].set);
  EXPECT_EQ(gaps.runs[5].set, gaps.runs[4].set);
  EXPECT_TRUE(gaps.continuations_equal);
  EXPECT_EQ(gaps.prompts, 3U);
  EXPECT_EQ(gaps.tokens, 4U);
  EXPECT_EQ(gaps.smallest->value, 1.5);
  EXPECT_EQ(gaps.smallest_text, "alpha");
  EXPECT_EQ(gaps.largest_change->value, 0.5);
  EXPECT_EQ(gaps.margin, 3);
  EXPECT_EQ(gaps.runs[0].tokens_per_second, 100);
}

TEST_F(StudyRunTest, EstimatesFlipsOfTheUpgradeKernelsAndThreads) {
  const Report report = study();
  const std::vector<StudyFlips>& flips = report.study->flips;
  ASSERT_EQ(flips.size(), 4U);
  EXPECT_EQ(flips[0].a, 0U);
  EXPECT_EQ(flips[0].b, 1U);
  EXPECT_EQ(flips[0].rate.steps, 12U);
  EXPECT_EQ(flips[0].rate.changed, 12U);
  EXPECT_GT(flips[0].rate.flips.per_million, 0);
  EXPECT_EQ(flips[2].rate.changed, 0U);
  EXPECT_EQ(flips[2].rate.flips.per_million, 0);
}

TEST_F(StudyRunTest, ComparesEachBuildWithTheOneBefore) {
  add_between("v2", 0);
  add_between("v3", 0.25);
  const Report report = study();
  const std::vector<StudyBuild>& range = report.study->range;
  ASSERT_EQ(range.size(), 4U);
  EXPECT_EQ(range[0].same_bits, std::nullopt);
  EXPECT_EQ(range[1].same_bits, true);
  EXPECT_EQ(range[2].same_bits, false);
  EXPECT_EQ(range[2].steps, 12U);
  EXPECT_EQ(range[2].steps_changed, 12U);
  EXPECT_EQ(range[3].same_bits, true);
  EXPECT_EQ(range[3].ran_as, 1U);
  ASSERT_EQ(report.builds.size(), 7U);
  EXPECT_EQ(report.builds[*range[2].ran_as].label, "v3");
  for (const BuildRecord& build : report.builds) {
    EXPECT_EQ(build.repeatable, true) << build.label;
  }
}

TEST_F(StudyRunTest, LeavesOutByNameWhatCannotBeHadOrFails) {
  request_.between.push_back({"v2", std::nullopt, "no network"});
  add_between("v3", 0);
  add_between("v4", 0.25);
  crashing_ = "v3";
  const Report report = study();
  const std::vector<StudyBuild>& range = report.study->range;
  ASSERT_EQ(range.size(), 5U);
  EXPECT_EQ(range[1].reason, "no network");
  EXPECT_FALSE(range[1].ran_as);
  EXPECT_THAT(range[2].reason, HasSubstr("signal 4"));
  EXPECT_EQ(range[3].same_bits, false) << "against the first";
  EXPECT_EQ(range[4].same_bits, true);
  EXPECT_EQ(report.builds[*range[3].ran_as].label, "v4");
}

TEST_F(StudyRunTest, IsTroubleWhereAnEndFails) {
  crashing_ = "last, generic";
  EXPECT_THROW(study(), Error);
}

TEST_F(StudyRunTest, SaysThatABuildDoesNotRepeatItself) {
  add_between("v2", 0);
  noisy_ = "v2";
  const Report report = study();
  EXPECT_EQ(report.study->range[1].repeatable, false);
  EXPECT_EQ(report.builds[5].repeatable, false);
  EXPECT_EQ(report.builds[0].repeatable, true);
}

TEST_F(StudyRunTest, LooksAtSampledTextWhereItIsAskedFor) {
  EXPECT_FALSE(study().study->sampled);
  request_.until_flip = true;
  const Report report = study();
  const StudySampled& sampled = report.study->sampled.value();
  EXPECT_EQ(asked_.back().settings.on_divergence, "force");
  EXPECT_EQ(asked_.back().settings.keep_top, 10U);
  EXPECT_EQ(sampled.steps, 12U);
  EXPECT_EQ(sampled.same_draws, 12U);
  EXPECT_EQ(sampled.draws_changed, 0U);
  EXPECT_EQ(sampled.argmax.steps, 12U);
  // Of two tokens a draw picks another one just as often as the distributions part.
  EXPECT_GT(sampled.mean_total_variation, 0);
  EXPECT_NEAR(sampled.draws.per_million, 1e6 * sampled.mean_total_variation, 1e-3);
}

TEST_F(StudyRunTest, CountsDrawsThatPickedAnotherTokenAndGoesOn) {
  request_.until_flip = true;
  diverging_ = "last";
  const StudySampled sampled = study().study->sampled.value();
  EXPECT_EQ(sampled.steps, 12U);
  EXPECT_EQ(sampled.draws_changed, 3U);
  EXPECT_FALSE(study().study->gaps.continuations_equal);
}

TEST_F(StudyRunTest, GoesOnWhereItWasInterrupted) {
  interrupted_ = 9;
  try {
    study();
    FAIL() << "not interrupted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInterrupted);
    EXPECT_EQ(error.hint(), "the same command goes on from here");
  }
  interrupted_ = static_cast<std::size_t>(-1);
  const std::size_t before = asked_.size();
  const Report report = study();
  const std::size_t whole = asked_.size();
  asked_.clear();
  EXPECT_EQ(report_json(report), report_json([&] {
              Report again = study();
              again.created = report.created;
              return again;
            }()));
  EXPECT_EQ(asked_.size(), whole) << "what was kept was asked once, and is gone when it is done";
  EXPECT_EQ(before, 9U);
}

TEST_F(StudyRunTest, OfTheSameBuildTwiceHasOneSet) {
  for (auto& [name, shift] : shifts_) {
    shift = 0;
  }
  const Report report = study();
  EXPECT_EQ(report.study->gaps.distinct_sets, 1U);
  EXPECT_EQ(report.study->gaps.margin, std::nullopt);
  for (const StudyFlips& flips : report.study->flips) {
    EXPECT_EQ(flips.rate.flips.per_million, 0);
  }
}

}  // namespace
}  // namespace drift
