#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/audit.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/saved_side.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Run made_run(const std::string& mode, std::uint32_t prompt, std::vector<std::int32_t> ids,
             std::size_t steps) {
  Run run;
  run.mode = mode;
  run.prompt = prompt;
  run.prompt_ids = std::move(ids);
  for (std::size_t i = 0; i < steps; ++i) {
    run.steps.push_back(reduce_step(2, std::vector<float>{0, 1, 3, 2, static_cast<float>(i)}, 2));
  }
  return run;
}

Report made_record() {
  Report report;
  report.kind = "record";
  report.tool = "driftaudit 1";
  report.model.digest = "d1";
  report.model.vocab_size = 5;
  report.settings.modes = {"greedy", "sample"};
  report.builds.resize(1);
  report.builds[0].label = "a build";
  report.builds[0].threads = 1;
  report.host.cpu = "a processor";
  for (const char* mode : {"greedy", "sample"}) {
    report.runs.push_back(made_run(mode, 1, {1, 2}, 4));
    report.runs.push_back(made_run(mode, 2, {3}, 4));
  }
  return report;
}

SavedSide saved(Report report, const std::string& name) {
  SavedSide side;
  side.name = name;
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    side.runs[{report.runs[i].mode, report.runs[i].prompt}] = i;
  }
  side.report = std::make_shared<const Report>(std::move(report));
  return side;
}

/// What forbids to compare the made record with one that was changed.
std::vector<std::string> refused(const std::function<void(Report&)>& change) {
  Report other = made_record();
  change(other);
  return not_comparable(saved(made_record(), "a.json"), saved(other, "b.json"));
}

TEST(NotComparable, FindsNothingInEqualSides) {
  EXPECT_THAT(refused([](Report&) {}), IsEmpty());
}

TEST(NotComparable, NamesEachDifferenceWithBothValues) {
  EXPECT_THAT(refused([](Report& r) { r.model.digest = "d2"; }),
              ElementsAre("weights (SHA-256): d1 and d2"));
  EXPECT_THAT(refused([](Report& r) { r.settings.seed = 7; }), ElementsAre("seed: 1234 and 7"));
  EXPECT_THAT(refused([](Report& r) { r.settings.top_k = 7; }), ElementsAre("top-k: 50 and 7"));
  EXPECT_THAT(refused([](Report& r) { r.settings.temperature = 0.5; }),
              ElementsAre("temperature: 1 and 0.5"));
  EXPECT_THAT(refused([](Report& r) { r.settings.sampler = "fixed"; }),
              ElementsAre("sampler: torch and fixed"));
  EXPECT_THAT(refused([](Report& r) { r.settings.new_tokens = 9; }),
              ElementsAre("new tokens: 60 and 9"));
  EXPECT_THAT(refused([](Report& r) { r.settings.ignore_eos = true; }),
              ElementsAre("end-of-text ignored: no and yes"));
  EXPECT_THAT(refused([](Report& r) { r.runs[1].prompt_ids = r.runs[3].prompt_ids = {4}; }),
              ElementsAre("1 of 2 prompts have other ids, the first is prompt 2"));
  EXPECT_THAT(refused([](Report& r) {
                r.settings.seed = 7;
                r.model.digest = "d2";
              }),
              ::testing::SizeIs(2));
}

TEST(NotComparable, LeavesSamplingAloneWhereNothingIsSampled) {
  Report a = made_record();
  a.settings.modes = {"greedy"};
  Report b = a;
  b.settings.seed = 7;
  b.settings.top_k = 1;
  EXPECT_THAT(not_comparable(saved(a, "a.json"), saved(b, "b.json")), IsEmpty());
}

TEST(CompareSaved, FindsTheChangedStep) {
  Report other = made_record();
  other.runs[0].steps[2] = reduce_step(2, std::vector<float>{0, 1, 3.5, 2, 0}, 2);
  const Report report = compare_saved(saved(made_record(), "a.json"), saved(other, "b.json"), false,
                                      "driftaudit test");
  EXPECT_EQ(report.kind, "compare");
  EXPECT_EQ(report.summary.verdict, "same_tokens");
  EXPECT_EQ(report.summary.steps, 16U);
  EXPECT_EQ(report.summary.steps_changed, 1U);
  EXPECT_EQ(report.comparison[0].first_changed_step, 3U);
  EXPECT_EQ(report.summary.max_abs_logit_diff, 0.5);
  EXPECT_EQ(report.basis, "top64");
  ASSERT_TRUE(report.builds[1].recorded);
  EXPECT_EQ(report.builds[1].recorded->report, "b.json");
}

TEST(CompareSaved, OfEqualSidesIsExact) {
  const Report report = compare_saved(saved(made_record(), "a.json"),
                                      saved(made_record(), "b.json"), false, "driftaudit test");
  EXPECT_EQ(report.summary.verdict, "identical");
  EXPECT_EQ(report.basis, "all");
  EXPECT_THAT(report.warnings, IsEmpty());
}

TEST(CompareSaved, ThrowsWithAllThatDiffers) {
  Report other = made_record();
  other.settings.seed = 7;
  other.settings.new_tokens = 9;
  try {
    compare_saved(saved(made_record(), "a.json"), saved(other, "b.json"), false, "");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("new tokens: 60 and 9; seed: 1234 and 7"));
    EXPECT_THAT(error.hint(), HasSubstr("--common"));
  }
}

TEST(CompareSaved, TakesTheCommonPromptsByTheirIds) {
  Report other = made_record();
  other.settings.seed = 7;
  other.runs = {made_run("greedy", 1, {9, 9}, 4), made_run("greedy", 2, {1, 2}, 3)};
  const Report report = compare_saved(saved(made_record(), "a.json"), saved(other, "b.json"), true,
                                      "driftaudit test");
  EXPECT_THAT(report.settings.modes, ElementsAre("greedy"));
  EXPECT_EQ(report.summary.prompts, 1U);
  EXPECT_EQ(report.summary.steps, 3U);
  EXPECT_EQ(report.comparison[0].steps_not_compared, 1U);
  EXPECT_EQ(report.runs[1].prompt_ids, (std::vector<std::int32_t>{1, 2}));
}

TEST(CompareSaved, RefusesACommonPartOfOtherWeightsOrOfNothing) {
  Report weights = made_record();
  weights.model.digest = "d2";
  EXPECT_THROW(compare_saved(saved(made_record(), "a"), saved(weights, "b"), true, ""), Error);
  Report prompts = made_record();
  for (drift::Run& run : prompts.runs) {
    run.prompt_ids = {8};
  }
  EXPECT_THROW(compare_saved(saved(made_record(), "a"), saved(prompts, "b"), true, ""), Error);
}

TEST(DifferingConditions, AreThoseThatMayMoveBits) {
  Report other = made_record();
  other.builds[0].attention.kind = Attention::kSdpa;
  other.builds[0].threads = 4;
  other.builds[0].knobs = {{"MKL_CBWR", "AVX2"}};
  other.builds[0].cpu_capability = "AVX2";
  other.builds[0].blas = "OpenBLAS";
  other.host.cpu = "another processor";
  other.host.kernel = "Linux 7";
  other.tool = "driftaudit 2";
  for (drift::Run& run : other.runs) {
    run.cache = false;
  }
  const Report report =
      compare_saved(saved(made_record(), "a.json"), saved(other, "b.json"), false, "driftaudit 2");
  EXPECT_THAT(
      report.warnings,
      ElementsAre("attention: eager and sdpa", "logits of: all positions and the last position",
                  "threads: 1 and 4", "knobs: none and MKL_CBWR=AVX2", "KV cache: yes and no",
                  "processor: a processor and another processor", "kernels: none and AVX2",
                  "BLAS: none and OpenBLAS", "operating system's kernel: none and Linux 7",
                  "program: driftaudit 1 and driftaudit 2"));
}

TEST(DifferingConditions, NameAnotherDtype) {
  Report other = made_record();
  other.settings.dtype = "bfloat16";
  EXPECT_THAT(
      compare_saved(saved(made_record(), "a.json"), saved(other, "b.json"), false, "t").warnings,
      ::testing::Contains("dtype: float32 and bfloat16, ULPs are float32's"));
}

TEST(DifferingConditions, NameBatchesOfAnotherSize) {
  Report other = made_record();
  other.settings.batch = 4;
  EXPECT_THAT(
      compare_saved(saved(made_record(), "a.json"), saved(other, "b.json"), false, "t").warnings,
      ElementsAre("batch: 1 and 4"));
  EXPECT_THAT(compare_saved(saved(other, "a.json"), saved(other, "b.json"), false, "t").warnings,
              IsEmpty());
}

TEST(DifferingConditions, NameBatchesOfOtherPrompts) {
  Report whole = made_record();
  whole.settings.batch = 2;
  Report part = whole;
  part.runs = {made_run("greedy", 1, {1, 2}, 4), made_run("sample", 1, {1, 2}, 4)};
  EXPECT_THAT(compare_saved(saved(whole, "a.json"), saved(part, "b.json"), true, "t").warnings,
              ElementsAre("batches of other prompts"));
}

TEST(DifferingConditions, OfTwoBuildsThatBothRanNowAreNoNews) {
  Report report = made_record();
  report.builds.resize(2);
  report.builds[1].threads = 9;
  EXPECT_THAT(differing_conditions(report), IsEmpty());
}

TEST(DifferingConditions, NameAScaleThatTransformersChoseWhereItShows) {
  Report report = made_record();
  report.builds.resize(2);
  report.model.n_embd = 32;
  report.model.n_head = 4;
  report.builds[1].attention.scale = ScoreScale::kMultiply;
  EXPECT_THAT(differing_conditions(report),
              ElementsAre("attention: eager and eager (scaled as transformers 5.4)"));
  report.model.n_embd = 256;  // heads of 64: 1/8 is exact
  EXPECT_THAT(differing_conditions(report), IsEmpty());
  report.builds[1].attention.transformers = "4.57.1";
  EXPECT_THAT(differing_conditions(report),
              ElementsAre("logits of: all positions and the last position"));
  report.builds[0].attention.kind = Attention::kSdpa;
  EXPECT_THAT(differing_conditions(report), IsEmpty()) << "that was asked for";
}

TEST(NamesReport, IsToldByTheEnd) {
  for (const char* name : {"a.json", "a.json.zst", "x/a.json:A", "a.json.zst:B"}) {
    EXPECT_TRUE(names_report(name)) << name;
  }
  for (const char* name : {"1.10.1", "venv", "a.whl", "a.json:C", "json", "a.zst"}) {
    EXPECT_FALSE(names_report(name)) << name;
  }
}

}  // namespace
}  // namespace drift
