// The audit from its command line to its report, with two real builds and with a build against
// itself.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/file.hpp"
#include "driftaudit/report.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class Audit : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  /// `driftaudit audit` on mini, quietly, with a few short answers unless told otherwise.
  ProgramRun audit(std::vector<std::string> arguments,
                   const std::map<std::string, std::string>& variables = {}) {
    arguments.insert(arguments.begin(), "audit");
    const std::vector<std::string> common = {"--model", "mini", "--quiet"};
    arguments.insert(arguments.end(), common.begin(), common.end());
    return run_program(arguments, folder(), variables);
  }

  json report() const { return json::parse(read_file(folder() / "report.json")); }

  std::string prompts(const std::string& lines) {
    write_file(folder() / "prompts.txt", lines);
    return (folder() / "prompts.txt").string();
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(Audit, OfABuildAgainstItselfIsIdenticalInEveryMode) {
  const std::string text = prompts("She had never forgotten that, if you drink much from a bottle");
  const ProgramRun run = audit({january(), january(), "--mode", "greedy,sample,score", "--text",
                                text, "--new-tokens", "12", "--fail-on", "bits"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const json summary = report()["summary"];
  EXPECT_EQ(summary["verdict"], "identical");
  EXPECT_EQ(summary["steps_changed"], 0);
  EXPECT_GE(summary["steps"], 2 * 8 * 12);
  EXPECT_EQ(report()["builds"][0]["repeatable"], true);
  EXPECT_EQ(report()["builds"][1]["repeatable"], true);
  EXPECT_EQ(summary["by_mode"]["score"]["perplexity_a"],
            summary["by_mode"]["score"]["perplexity_b"]);
  EXPECT_EQ(summary["by_mode"]["score"]["top1_agreement"], 1.0);
}

TEST_F(Audit, OfJanuaryAgainstDecemberSeesOtherBitsUnderAvx2) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const ProgramRun run =
      audit({january(), december(), "--new-tokens", "12", "--env", "ATEN_CPU_CAPABILITY=avx2"});
  ASSERT_EQ(run.status == 0 || run.status == 1, true) << run.err;
  const json document = report();
  const json& summary = document["summary"];
  EXPECT_THAT(summary["verdict"], ::testing::AnyOf("same_tokens", "diverged"));
  EXPECT_GT(summary["steps_changed"], 0);
  EXPECT_GT(summary["max_abs_logit_diff"], 0.0);
  // The change of softmax between the two moves logits by rounding, not by more.
  EXPECT_LT(summary["max_abs_logit_diff"], 0.01);
  EXPECT_EQ(document["builds"][0]["cpu_capability"], "AVX2");
  EXPECT_THAT(document["builds"][0]["torch"].get<std::string>(), HasSubstr("1.10.1"));
  EXPECT_THAT(document["builds"][1]["torch"].get<std::string>(), HasSubstr("1.13.1"));
  EXPECT_EQ(document["builds"][0]["knobs"]["ATEN_CPU_CAPABILITY"], "avx2");
  EXPECT_THAT(run.out, HasSubstr("verdict"));
}

TEST_F(Audit, OfJanuaryAgainstDecemberIsIdenticalWithGenericKernels) {
  const ProgramRun run = audit({january(), december(), "--new-tokens", "12", "--env",
                                "*:ATEN_CPU_CAPABILITY=default", "--fail-on", "bits"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(report()["summary"]["verdict"], "identical");
  EXPECT_EQ(report()["builds"][0]["cpu_capability"], "DEFAULT");
}

TEST_F(Audit, OfAMadeGpt2SmallSeesOtherBitsUnderAvx2) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "this CPU has no AVX2";
  }
  const ProgramRun made = run_program({"model", "make", "--preset", "gpt2-small", "--seed", "7",
                                       "--format", "torch-legacy", "--out", "made", "--quiet"},
                                      folder());
  ASSERT_EQ(made.status, 0) << made.err;
  const ProgramRun run = run_program(
      {"audit", january(), december(), "--model", "made", "--quiet", "--mode", "greedy",
       "--new-tokens", "4", "--prompts", prompts("So she set to work, and very soon finished off"),
       "--env", "ATEN_CPU_CAPABILITY=avx2", "--fail-on", "never"},
      folder());
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_GT(report()["summary"]["steps_changed"], 0);
  EXPECT_EQ(report()["model"]["n_layer"], 12);
  EXPECT_THAT(run.out, HasSubstr("verdict"));
}

TEST_F(Audit, SeesAChangedBitAndGatesOnItWhenAsked) {
  const std::map<std::string, std::string> fault = {
      {"DRIFTAUDIT_TEST_FAULT", "B:bits@op=lm_head,step=3"}};
  const std::vector<std::string> arguments = {january(), january(),   "--new-tokens",
                                              "5",       "--prompts", prompts("One\nTwo"),
                                              "--mode",  "greedy"};
  EXPECT_EQ(audit(arguments, fault).status, 0);
  const json document = report();
  EXPECT_EQ(document["summary"]["verdict"], "same_tokens");
  EXPECT_EQ(document["summary"]["steps_changed"], 2);
  EXPECT_EQ(document["summary"]["first_steps_changed"], 0);
  EXPECT_EQ(document["comparison"]["prompts"][0]["first_changed_step"], 3);
  EXPECT_EQ(document["comparison"]["prompts"][0]["max_ulp"], 1);
  std::vector<std::string> gated = arguments;
  gated.insert(gated.end(), {"--fail-on", "bits"});
  EXPECT_EQ(audit(gated, fault).status, 1);
}

TEST_F(Audit, StopsComparingAfterAChangedToken) {
  const ProgramRun run = audit(
      {january(), january(), "--new-tokens", "6", "--mode", "greedy", "--prompts", prompts("One")},
      {{"DRIFTAUDIT_TEST_FAULT", "B:second@step=2"}});
  EXPECT_EQ(run.status, 1) << run.err;
  const json document = report();
  EXPECT_EQ(document["summary"]["verdict"], "diverged");
  const json& prompt = document["comparison"]["prompts"][0];
  EXPECT_EQ(prompt["first_token_change"], 2);
  EXPECT_EQ(prompt["steps_not_compared"], 4);
  EXPECT_EQ(document["runs"][1]["steps"].size(), 6U) << "B goes on for display";
}

TEST_F(Audit, ForcesTheFirstSidesTokensOnTheSecond) {
  const ProgramRun run =
      audit({january(), january(), "--new-tokens", "6", "--mode", "greedy", "--prompts",
             prompts("One"), "--on-divergence", "force", "--fail-on", "never"},
            {{"DRIFTAUDIT_TEST_FAULT", "B:second@step=2"}});
  EXPECT_EQ(run.status, 0) << run.err;
  const json document = report();
  EXPECT_EQ(document["summary"]["verdict"], "diverged");
  EXPECT_EQ(document["summary"]["steps"], 6);
  EXPECT_EQ(document["comparison"]["prompts"][0]["steps_not_compared"], 0);
  for (std::size_t step = 0; step < 6; ++step) {
    const json& a = document["runs"][0]["steps"][step];
    const json& b = document["runs"][1]["steps"][step];
    EXPECT_EQ(b["fed"], a["token"]);
    EXPECT_EQ(b["token"] == a["token"], step != 1);
    EXPECT_EQ(b["digest"], a["digest"]);
  }
}

TEST_F(Audit, LaysASampledTokenToTheSamplerThoughTheBitsMovedToo) {
  const ProgramRun run = audit({january(), january(), "--new-tokens", "12", "--mode", "sample",
                                "--prompts", prompts("One"), "--fail-on", "never"},
                               {{"DRIFTAUDIT_TEST_FAULT", "B:bits@op=lm_head;draw"}});
  EXPECT_EQ(run.status, 0) << run.err;
  const json document = report();
  const json& prompt = document["comparison"]["prompts"][0];
  EXPECT_EQ(prompt["first_changed_step"], 1);
  EXPECT_EQ(prompt["token_change_cause"], "sampler");
}

TEST_F(Audit, LaysASampledTokenToTheLogitsWhenTheDrawIsTheSame) {
  const ProgramRun run = audit({january(), january(), "--new-tokens", "3", "--mode", "sample",
                                "--prompts", prompts("One"), "--fail-on", "never"},
                               {{"DRIFTAUDIT_TEST_FAULT", "B:bits@op=lm_head;second@step=2"}});
  EXPECT_EQ(run.status, 0) << run.err;
  const json document = report();
  const json& prompt = document["comparison"]["prompts"][0];
  EXPECT_EQ(prompt["first_token_change"], 2);
  EXPECT_EQ(prompt["token_change_cause"], "logits");
}

TEST_F(Audit, NamesNumbersThatAreNotFinite) {
  const ProgramRun run = audit(
      {january(), january(), "--new-tokens", "3", "--mode", "greedy", "--prompts", prompts("One")},
      {{"DRIFTAUDIT_TEST_FAULT", "B:nan@op=block.0.attn.softmax,step=2"}});
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_GT(report()["summary"]["non_finite"], 0);
  EXPECT_THAT(run.out, HasSubstr("NaN"));
}

TEST_F(Audit, SaysWhenASideDoesNotRepeatItself) {
  const ProgramRun run = audit(
      {january(), january(), "--new-tokens", "3", "--mode", "greedy", "--prompts", prompts("One")},
      {{"DRIFTAUDIT_TEST_FAULT", "B:noise@op=lm_head"}});
  EXPECT_EQ(report()["builds"][0]["repeatable"], true);
  EXPECT_EQ(report()["builds"][1]["repeatable"], false);
  EXPECT_THAT(run.out, HasSubstr("repeat"));
}

TEST_F(Audit, StopsAtTheContextsEndAndSaysSo) {
  const ProgramRun made = run_program(
      {"model", "make", "--preset", "tiny", "--seed", "1", "--out", "tiny", "--quiet"}, folder());
  ASSERT_EQ(made.status, 0) << made.err;
  const ProgramRun run =
      run_program({"audit", january(), january(), "--model", "tiny", "--prompts", prompts("One"),
                   "--mode", "greedy", "--new-tokens", "5000", "--ignore-eos", "--quiet"},
                  folder());
  EXPECT_EQ(run.status, 0) << run.err;
  const json document = report();
  const json& first = document["runs"][0];
  EXPECT_EQ(first["stopped"], "context");
  EXPECT_EQ(first["steps"].size() + first["prompt_ids"].size() - 1,
            document["model"]["n_positions"]);
}

TEST_F(Audit, WithoutTheCacheGivesTheSameTokens) {
  const std::vector<std::string> arguments = {january(), january(), "--new-tokens", "8",
                                              "--mode",  "greedy",  "--prompts",    prompts("One")};
  ASSERT_EQ(audit(arguments).status, 0);
  const json cached = report()["runs"][0];
  std::vector<std::string> uncached_arguments = arguments;
  uncached_arguments.emplace_back("--no-cache");
  ASSERT_EQ(audit(uncached_arguments).status, 0);
  EXPECT_EQ(report()["runs"][0]["text"], cached["text"]);
  EXPECT_EQ(report()["runs"][0]["cache"], false);
}

TEST_F(Audit, SamplesTheSameWithOneSeedAndOtherwiseWithAnother) {
  const auto text = [&](const std::string& seed, const std::string& sampler) {
    EXPECT_EQ(audit({january(), january(), "--new-tokens", "12", "--mode", "sample", "--prompts",
                     prompts("One"), "--seed", seed, "--sampler", sampler})
                  .status,
              0);
    return report()["runs"][0]["text"].get<std::string>();
  };
  for (const std::string sampler : {"torch", "fixed"}) {
    EXPECT_EQ(text("1", sampler), text("1", sampler));
    EXPECT_NE(text("1", sampler), text("2", sampler));
  }
}

TEST_F(Audit, PrintsTheReportAloneWithJson) {
  const ProgramRun run = audit({january(), january(), "--new-tokens", "2", "--mode", "greedy",
                                "--prompts", prompts("One"), "--json"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["schema"], "driftaudit/1");
  EXPECT_FALSE(fs::exists(folder() / "report.json"));
}

TEST_F(Audit, WritesAReportThatReadsBackTheSame) {
  ASSERT_EQ(audit({january(), january(), "--new-tokens", "2", "--prompts", prompts("One")}).status,
            0);
  const std::string bytes = read_file(folder() / "report.json");
  EXPECT_EQ(report_json(read_report(folder() / "report.json")), bytes);
}

TEST_F(Audit, PassesOnTheCallersKnobsAndNamesThem) {
  ASSERT_EQ(audit({january(), january(), "--new-tokens", "2", "--prompts", prompts("One")},
                  {{"MKL_CBWR", "COMPATIBLE"}, {"LD_LIBRARY_PATH", "/nowhere"}})
                .status,
            0);
  EXPECT_EQ(report()["builds"][0]["knobs"]["MKL_CBWR"], "COMPATIBLE");
  EXPECT_FALSE(report()["builds"][0]["knobs"].contains("LD_LIBRARY_PATH"));
}

/// Out of the way: others that may be set where the tests run.
const std::map<std::string, std::string> kNoOtherChoosers = {{"MKL_CBWR", ""},
                                                             {"MKL_DEBUG_CPU_TYPE", ""},
                                                             {"MKL_ENABLE_INSTRUCTIONS", ""},
                                                             {"DNNL_MAX_CPU_ISA", ""},
                                                             {"ONEDNN_MAX_CPU_ISA", ""}};

TEST_F(Audit, WarnsOfSettingsThatAreNotHonoured) {
  if (!cpu_has_avx2()) {
    GTEST_SKIP() << "on this CPU ATen has the default kernels whatever it is asked for";
  }
  const ProgramRun run = audit({january(), january(), "--new-tokens", "2", "--prompts",
                                prompts("One"), "--env", "ATEN_CPU_CAPABILITY=DEFAULT", "--env",
                                "B:MKL_CBRW=COMPATIBLE", "--env", "A:ONEDNN_MAX_CPU_ISA=SSE41"},
                               kNoOtherChoosers);
  ASSERT_EQ(run.status, 0) << run.err;
  const json builds = report()["builds"];
  for (const json& build : builds) {
    const json& doubtful = build["doubtful_settings"];
    ASSERT_EQ(doubtful.size(), 2U) << doubtful;
    EXPECT_EQ(doubtful[0]["name"], "ATEN_CPU_CAPABILITY");
    EXPECT_EQ(doubtful[0]["state"], "not_honoured");
    EXPECT_THAT(build["log"].get<std::string>(), HasSubstr("ignoring invalid value"));
  }
  EXPECT_EQ(builds[0]["doubtful_settings"][1]["state"], "unknown");
  EXPECT_EQ(builds[1]["doubtful_settings"][1]["name"], "MKL_CBRW");
  EXPECT_EQ(run.out.rfind("warning  A ", 0), 0U) << run.out;
  const std::string out = unwrapped(run.out);
  EXPECT_THAT(out, HasSubstr("ATEN_CPU_CAPABILITY=DEFAULT isn't honoured: ATen names avx"));
  EXPECT_THAT(out, HasSubstr("did you mean MKL_CBWR?"));
  EXPECT_THAT(out, HasSubstr("whether ONEDNN_MAX_CPU_ISA=SSE41 is honoured can't be known"));
  EXPECT_THAT(out, HasSubstr("printed: Warning: ignoring invalid value"));
  const std::size_t first = out.find("ignoring invalid value");
  EXPECT_EQ(out.find("ignoring invalid value", first + 1), std::string::npos) << "once for both";
}

TEST_F(Audit, IsSilentAboutSettingsThatAreHonoured) {
  const ProgramRun run = audit({january(), january(), "--new-tokens", "2", "--prompts",
                                prompts("One"), "--env", "ATEN_CPU_CAPABILITY=default"},
                               kNoOtherChoosers);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_FALSE(report()["builds"][0].contains("doubtful_settings")) << report()["builds"][0];
  EXPECT_EQ(report()["builds"][0]["log"], "");
}

TEST_F(Audit, UsesTheThreadsThatItWasTold) {
  ASSERT_EQ(audit({january(), january(), "--new-tokens", "2", "--prompts", prompts("One"),
                   "--threads", "B:2"})
                .status,
            0);
  EXPECT_EQ(report()["builds"][0]["threads"], 1);
  EXPECT_EQ(report()["builds"][1]["threads"], 2);
}

TEST_F(Audit, UsesNoColourWhereStdoutIsNoTerminal) {
  const ProgramRun run =
      audit({january(), january(), "--new-tokens", "2", "--prompts", prompts("One")});
  EXPECT_THAT(run.out, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace drift::e2e
