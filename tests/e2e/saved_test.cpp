// Saved reports: recorded, compared, audited against, shown, and gating.
#include <algorithm>
#include <cstring>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/file.hpp"
#include "driftaudit/report.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Saved : public ::testing::Test {
 protected:
  const fs::path& folder() const { return folder_.path(); }

  ProgramRun run(const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& variables = {}) {
    return run_program(arguments, folder(), variables);
  }
  /// Records two short prompts, with more options.
  ProgramRun record(const std::string& side, const std::string& out,
                    const std::vector<std::string>& options = {},
                    const std::map<std::string, std::string>& variables = {}) {
    write_file(folder() / "prompts.txt", "The capital of France is\nWater boils at\n");
    std::vector<std::string> arguments = {"record",       side, "--model",   "mini",
                                          "--new-tokens", "5",  "--prompts", "prompts.txt",
                                          "--out",        out,  "--quiet"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return run_program(arguments, folder(), variables);
  }
  json read(const std::string& name) const { return json::parse(read_file(folder() / name)); }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(Saved, BaselineAgainstTheSameBuildIsIdentical) {
  ASSERT_EQ(record(january(), "base.json").status, 0);
  const json base = read("base.json");
  EXPECT_EQ(base["kind"], "record");
  EXPECT_EQ(base["builds"].size(), 1U);
  EXPECT_EQ(base["builds"][0]["repeatable"], true);
  const ProgramRun audit = run({"audit", "base.json", january(), "--fail-on", "bits", "--quiet"});
  EXPECT_EQ(audit.status, 0) << audit.err << audit.out;
  const json report = read("report.json");
  EXPECT_EQ(report["summary"]["verdict"], "identical");
  EXPECT_EQ(report["summary"]["steps"], 2 * 2 * 5);
  EXPECT_EQ(report["settings"]["new_tokens"], 5) << "brought by the saved side";
  EXPECT_EQ(report["builds"][0]["recorded"]["report"], "base.json");
  EXPECT_FALSE(report["builds"][1].contains("recorded"));
}

TEST_F(Saved, BaselineMayBeEitherSide) {
  ASSERT_EQ(record(january(), "base.json.zst").status, 0);
  const ProgramRun audit = run({"audit", january(), "base.json.zst", "--quiet"});
  EXPECT_EQ(audit.status, 0) << audit.err;
  EXPECT_EQ(read("report.json")["builds"][1]["recorded"]["report"], "base.json.zst");
}

TEST_F(Saved, FiguresOfKeptLogitsAreLowerBoundsOfThoseOfAll) {
  ASSERT_EQ(record(january(), "kept.json").status, 0);
  ASSERT_EQ(record(january(), "all.json", {"--keep-logits"}).status, 0);
  const std::map<std::string, std::string> fault = {
      {"DRIFTAUDIT_TEST_FAULT", "B:bits@op=ln_f,step=2"}};
  ASSERT_EQ(run({"audit", "kept.json", january(), "--out", "a.json", "--quiet"}, fault).status, 0);
  ASSERT_EQ(run({"audit", "all.json", january(), "--out", "b.json", "--quiet"}, fault).status, 0);
  const json kept = read("a.json");
  const json all = read("b.json");
  EXPECT_EQ(kept["comparison"]["basis"], "top64");
  EXPECT_EQ(all["comparison"]["basis"], "all");
  EXPECT_GT(kept["summary"]["steps_changed"], 0);
  EXPECT_EQ(kept["summary"]["steps_changed"], all["summary"]["steps_changed"]);
  EXPECT_EQ(kept["summary"]["steps_on_kept"], kept["summary"]["steps_changed"]);
  EXPECT_LE(kept["summary"]["max_abs_logit_diff"], all["summary"]["max_abs_logit_diff"]);
  EXPECT_GT(all["summary"]["max_abs_logit_diff"], 0.0);
  EXPECT_TRUE(kept["comparison"]["prompts"][0]["max_kl"].is_null());
  EXPECT_FALSE(all["comparison"]["prompts"][0]["max_kl"].is_null());
}

TEST_F(Saved, AllLogitsOfBothSidesCompareAsTheRunsThemselvesDid) {
  const std::map<std::string, std::string> fault = {
      {"DRIFTAUDIT_TEST_FAULT", "B:bits@op=ln_f,step=2"}};
  write_file(folder() / "prompts.txt", "The capital of France is\nWater boils at\n");
  const ProgramRun live = run({"audit", january(), january(), "--model", "mini", "--prompts",
                               "prompts.txt", "--new-tokens", "5", "--keep-logits", "--quiet"},
                              fault);
  ASSERT_EQ(live.status, 0) << live.err;
  const ProgramRun compared =
      run({"compare", "report.json:A", "report.json:B", "--out", "compared.json", "--quiet"});
  ASSERT_EQ(compared.status, 0) << compared.err;
  EXPECT_EQ(read("compared.json")["summary"], read("report.json")["summary"]);
  EXPECT_EQ(read("compared.json")["comparison"], read("report.json")["comparison"]);
  EXPECT_EQ(read("compared.json")["kind"], "compare");
}

TEST_F(Saved, ComparisonRefusesWhatDiffersAndNamesIt) {
  ASSERT_EQ(record(january(), "a.json").status, 0);
  ASSERT_EQ(record(january(), "b.json", {"--seed", "7", "--top-k", "3"}).status, 0);
  const ProgramRun refused = run({"compare", "a.json", "b.json"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_TRUE(has_one_error_line(refused.err)) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("seed: 1234 and 7"));
  EXPECT_THAT(refused.err, HasSubstr("top-k: 50 and 3"));
  // Greedy steps don't depend on them.
  const ProgramRun common =
      run({"compare", "a.json", "b.json", "--common", "--out", "c.json", "--fail-on", "bits"});
  EXPECT_EQ(common.status, 0) << common.err;
  EXPECT_EQ(read("c.json")["settings"]["modes"], json::array({"greedy"}));
  EXPECT_EQ(read("c.json")["summary"]["steps"], 10);
}

TEST_F(Saved, CommonPartIsOfPromptsAndSteps) {
  ASSERT_EQ(record(january(), "a.json").status, 0);
  write_file(folder() / "other.txt", "Another one\nWater boils at\n");
  ASSERT_EQ(run({"record", january(), "--model", "mini", "--mode", "greedy", "--prompts",
                 "other.txt", "--new-tokens", "3", "--out", "b.json", "--quiet"})
                .status,
            0);
  EXPECT_EQ(run({"compare", "a.json", "b.json"}).status, 2);
  ASSERT_EQ(run({"compare", "a.json", "b.json", "--common", "--out", "c.json"}).status, 0);
  const json report = read("c.json");
  EXPECT_EQ(report["summary"]["prompts"], 1);
  EXPECT_EQ(report["summary"]["steps"], 3);
  EXPECT_EQ(report["runs"][0]["prompt_text"], "Water boils at");
  EXPECT_EQ(report["comparison"]["prompts"][0]["steps_not_compared"], 2);
}

TEST_F(Saved, ConditionsThatDifferAreWarnedOf) {
  ASSERT_EQ(record(january(), "a.json").status, 0);
  ASSERT_EQ(
      record(january(), "b.json", {"--no-cache", "--threads", "2", "--env", "MKL_CBWR=COMPATIBLE"})
          .status,
      0);
  const ProgramRun compared =
      run({"compare", "a.json", "b.json", "--fail-on", "never", "--out", "report.json"});
  EXPECT_EQ(compared.status, 0) << compared.err;
  EXPECT_THAT(compared.out, HasSubstr("different conditions"));
  // The terminal's lines break where the caller's own variables make them.
  const std::string warnings = read("report.json")["warnings"].dump();
  EXPECT_THAT(warnings, HasSubstr("threads: 1 and 2"));
  EXPECT_THAT(warnings, HasSubstr("KV cache: yes and no"));
  EXPECT_THAT(warnings, HasSubstr("MKL_CBWR=COMPATIBLE"));
}

TEST_F(Saved, SideBringsItsThreadsAndKnobs) {
  ASSERT_EQ(record(january(), "a.json", {"--threads", "2", "--env", "ATEN_CPU_CAPABILITY=default"})
                .status,
            0);
  ASSERT_EQ(run({"audit", "a.json", january(), "--fail-on", "bits", "--quiet"}).status, 0);
  const json b = read("report.json")["builds"][1];
  EXPECT_EQ(b["threads"], 2);
  EXPECT_EQ(b["knobs"]["ATEN_CPU_CAPABILITY"], "default");
  const ProgramRun own =
      run({"audit", "a.json", january(), "--threads", "B:1", "--fail-on", "never", "--quiet"});
  EXPECT_EQ(own.status, 0) << own.err;
  EXPECT_EQ(read("report.json")["builds"][1]["threads"], 1);
  const ProgramRun refused = run({"audit", "a.json", january(), "--threads", "A:1"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--threads A:1: side A is saved in a.json"));
}

TEST_F(Saved, SideRefusesOptionsThatContradictIt) {
  ASSERT_EQ(record(january(), "a.json").status, 0);
  const ProgramRun seed = run({"audit", "a.json", january(), "--seed", "7"});
  EXPECT_EQ(seed.status, 2);
  EXPECT_THAT(seed.err, HasSubstr("--seed 7 contradicts a.json, which was recorded with 1234"));
  const ProgramRun prompts = run({"audit", "a.json", january(), "--prompts", "eight"});
  EXPECT_EQ(prompts.status, 2);
  EXPECT_THAT(prompts.err, HasSubstr("--prompts eight contradicts a.json"));
  ASSERT_EQ(run({"model", "make", "--preset", "tiny", "--out", "tiny", "--quiet"}).status, 0);
  const ProgramRun model = run({"audit", "a.json", january(), "--model", "tiny"});
  EXPECT_EQ(model.status, 2);
  EXPECT_THAT(model.err, HasSubstr("has other weights than the model of a.json"));
  EXPECT_EQ(run({"audit", "a.json", january(), "--seed", "1234", "--quiet"}).status, 0)
      << "the same value is no contradiction";
}

/// Gives a made checkpoint an output head of its own: the token embedding, each row one further up.
void add_shifted_head(const fs::path& file) {
  const std::string bytes = read_file(file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  json header = json::parse(bytes.substr(sizeof length, length));
  const std::string data = bytes.substr(sizeof length + length);
  const json embedding = header["wte.weight"];
  const std::size_t begin = embedding["data_offsets"][0];
  const std::size_t end = embedding["data_offsets"][1];
  std::string head = data.substr(begin, end - begin);
  const std::size_t row = head.size() / embedding["shape"][0].get<std::size_t>();
  std::rotate(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(row), head.end());
  header["lm_head.weight"] = embedding;
  header["lm_head.weight"]["data_offsets"] = {data.size(), data.size() + head.size()};
  const std::string text = header.dump();
  length = text.size();
  std::string changed(sizeof length, '\0');
  std::memcpy(changed.data(), &length, sizeof length);
  write_file(file, changed + text + data + head);
}

TEST_F(Saved, OutputHeadIsConfigsOrTheOneAskedForAndGoesWithTheRecording) {
  ASSERT_EQ(run({"model", "make", "--preset", "tiny", "--out", "tiny", "--quiet"}).status, 0);
  add_shifted_head(folder() / "tiny/model.safetensors");
  const auto recorded = [&](const std::string& out, const std::vector<std::string>& options) {
    std::vector<std::string> arguments = {"record", january(), "--model",      "tiny",
                                          "--mode", "greedy",  "--new-tokens", "5",
                                          "--out",  out,       "--quiet"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProgramRun run = run_program(arguments, folder());
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_THAT(run.out, AllOf(HasSubstr("warning  the checkpoint stores an output head"),
                               HasSubstr("of 131072 elements")));
    return read(out);
  };
  const json tied = recorded("tied.json", {});
  const json stored = recorded("stored.json", {"--output-head", "stored"});
  EXPECT_EQ(tied["model"]["output_head"], "tied");
  EXPECT_EQ(stored["model"]["output_head"], "stored");
  EXPECT_NE(tied["model"]["digest"], stored["model"]["digest"]);
  EXPECT_GT(tied["model"]["head_differing"], 130000);
  EXPECT_EQ(tied["model"]["warnings"].size(), 1U);
  // The stored head's row i is the embedding's row i + 1.
  const int token = tied["runs"][0]["steps"][0]["token"];
  EXPECT_EQ(stored["runs"][0]["steps"][0]["token"], (token + 4095) % 4096);

  EXPECT_EQ(run({"audit", "stored.json", january(), "--quiet"}).status, 0);
  EXPECT_EQ(read("report.json")["summary"]["verdict"], "identical") << "it brings its head";
  EXPECT_EQ(read("report.json")["model"]["output_head"], "stored");
  const ProgramRun other = run({"audit", "stored.json", january(), "--output-head", "tied"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("--output-head tied contradicts stored.json"));
  const ProgramRun compared = run({"compare", "tied.json", "stored.json"});
  EXPECT_EQ(compared.status, 2);
  EXPECT_THAT(compared.err, HasSubstr("output head"));
}

TEST_F(Saved, SideThatCannotBeIsNamed) {
  ASSERT_EQ(record(january(), "a.json").status, 0);
  const auto refusal = [&](const std::vector<std::string>& arguments) {
    const ProgramRun refused = run(arguments);
    EXPECT_EQ(refused.status, 2);
    EXPECT_TRUE(has_one_error_line(refused.err)) << refused.err;
    return refused.err;
  };
  EXPECT_THAT(refusal({"compare", "a.json", "a.json:B"}), HasSubstr("a.json: has no side B"));
  EXPECT_THAT(refusal({"compare", "a.json", "missing.json"}), HasSubstr("missing.json: No such"));
  EXPECT_THAT(refusal({"compare", "a.json", january()}), HasSubstr("not a saved report"));
  EXPECT_THAT(refusal({"audit", "a.json", "a.json"}), HasSubstr("both sides are saved reports"));
  EXPECT_THAT(refusal({"record", "a.json", "--out", "b.json"}), HasSubstr("saved report already"));
  EXPECT_THAT(refusal({"record", january()}), HasSubstr("--out"));
  EXPECT_THAT(refusal({"audit", "a.json", january(), "--out", "a.json"}),
              HasSubstr("over another file"));
  std::string text = read_file(folder() / "a.json");
  text.replace(text.find("\"gap\":"), 6, "\"gap\":1");
  write_file(folder() / "edited.json", text);
  EXPECT_THAT(refusal({"compare", "a.json", "edited.json"}),
              HasSubstr("edited.json: /runs/0/steps/0/gap"));
}

TEST_F(Saved, AnotherRecordingsLogitsAreRefusedAndMissingOnesDoneWithout) {
  ASSERT_EQ(record(january(), "a.json", {"--keep-logits"}).status, 0);
  ASSERT_EQ(record(january(), "b.json", {"--keep-logits", "--seed", "7"}).status, 0);
  fs::copy_file(folder() / "b.logits", folder() / "a.logits", fs::copy_options::overwrite_existing);
  const ProgramRun refused = run({"compare", "a.json", "a.json"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("a.logits: not the file that its report was written with"));
  fs::remove(folder() / "a.logits");
  const ProgramRun without = run({"compare", "a.json", "a.json"});
  EXPECT_EQ(without.status, 0);
  EXPECT_THAT(without.err, HasSubstr("a.logits isn't beside a.json"));
}

TEST_F(Saved, GatesTripAndSaySo) {
  const std::map<std::string, std::string> fault = {
      {"DRIFTAUDIT_TEST_FAULT", "B:bits@op=ln_f,step=2"}};
  ASSERT_EQ(record(january(), "a.json").status, 0);
  const auto audit = [&](const std::vector<std::string>& gates) {
    std::vector<std::string> arguments = {"audit",   "a.json",     january(),
                                          "--quiet", "--markdown", "a.md"};
    arguments.insert(arguments.end(), gates.begin(), gates.end());
    return run(arguments, fault);
  };
  EXPECT_EQ(audit({"--fail-on", "tokens"}).status, 0);
  EXPECT_EQ(audit({"--fail-on", "never"}).status, 0);
  const ProgramRun bits = audit({"--fail-on", "bits"});
  EXPECT_EQ(bits.status, 1);
  EXPECT_THAT(bits.out, HasSubstr("tripped  --fail-on bits"));
  // Only kept logits are known of the saved side: a limit can't be shown to hold.
  const ProgramRun undecided = audit({"--max-logit-diff", "1000"});
  EXPECT_EQ(undecided.status, 1);
  EXPECT_THAT(undecided.out, HasSubstr("--max-logit-diff 1000: undecided"));
  EXPECT_EQ(read("report.json")["gates"][1]["tripped"], true);
  EXPECT_THAT(read_file(folder() / "a.md"), HasSubstr("**tripped**"));
  EXPECT_EQ(audit({"--min-margin", "0"}).status, 0);
  EXPECT_EQ(audit({"--min-margin", "1e30"}).status, 1);
  EXPECT_EQ(audit({"--min-margin", "nan"}).status, 2);
}

TEST_F(Saved, GatesOnAllLogitsDecide) {
  const std::map<std::string, std::string> fault = {
      {"DRIFTAUDIT_TEST_FAULT", "B:bits@op=ln_f,step=2"}};
  ASSERT_EQ(record(january(), "a.json", {"--keep-logits"}).status, 0);
  EXPECT_EQ(
      run({"audit", "a.json", january(), "--max-logit-diff", "1000", "--quiet"}, fault).status, 0);
  EXPECT_EQ(run({"audit", "a.json", january(), "--max-logit-diff", "0", "--quiet"}, fault).status,
            1);
}

TEST_F(Saved, ReportIsShownAgainAsItWas) {
  const ProgramRun recorded = record(january(), "a.json");
  ASSERT_EQ(recorded.status, 0);
  const ProgramRun shown = run({"show", "a.json"});
  EXPECT_EQ(shown.status, 0);
  EXPECT_EQ(recorded.out.substr(0, shown.out.size()), shown.out);
  EXPECT_THAT(shown.out, HasSubstr("verdict  recorded"));
  const ProgramRun markdown = run({"show", "a.json", "--markdown"});
  EXPECT_EQ(markdown.status, 0);
  EXPECT_THAT(markdown.out, HasSubstr("## driftaudit: recorded"));
}

TEST_F(Saved, AuditHasGitBisectsStatuses) {
  ASSERT_EQ(record(january(), "a.json").status, 0);
  const std::map<std::string, std::string> changed = {
      {"DRIFTAUDIT_TEST_FAULT", "B:bits@op=ln_f,step=2"}};
  const std::map<std::string, std::string> killed = {{"DRIFTAUDIT_TEST_FAULT", "B:kill@step=2"}};
  const auto status = [&](const std::string& b, const std::map<std::string, std::string>& fault,
                          const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"audit", "a.json", b, "--bisect-run", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, fault).status;
  };
  EXPECT_EQ(status(january(), {}), 0);
  EXPECT_EQ(status(january(), changed), 1) << "any bit by default";
  EXPECT_EQ(status(january(), changed, {"--fail-on", "tokens"}), 0);
  EXPECT_EQ(status(january(), killed), 125);
  EXPECT_EQ(status((folder() / "no-such-venv").string(), {}), 125);
  fs::create_directory(folder() / "venv-without-torch");
  EXPECT_EQ(status("venv-without-torch", {}), 125);
  EXPECT_EQ(status(january(), {}, {"--no-such-option"}), 129);
  EXPECT_EQ(status(january(), {}, {"--seed", "7"}), 129);
  EXPECT_EQ(run({"audit", "missing.json", january(), "--bisect-run"}).status, 129);
}

TEST_F(Saved, MoreThreadsThanCoresAreWarnedOf) {
  const std::string many = std::to_string(std::thread::hardware_concurrency() + 1);
  write_file(folder() / "prompts.txt", "One\n");
  EXPECT_THAT(run({"record", january(), "--model", "mini", "--mode", "greedy", "--new-tokens", "1",
                   "--prompts", "prompts.txt", "--out", "a.json", "--threads", many})
                  .err,
              HasSubstr("warning: " + many + " threads on "));
}

TEST_F(Saved, ForcedSideIsFedTheSavedTokens) {
  ASSERT_EQ(record(january(), "a.json", {"--mode", "greedy"}).status, 0);
  const ProgramRun forced =
      run({"audit", "a.json", january(), "--on-divergence", "force", "--quiet"},
          {{"DRIFTAUDIT_TEST_FAULT", "B:second@step=2"}});
  EXPECT_EQ(forced.status, 1) << forced.err;
  const json report = read("report.json");
  EXPECT_EQ(report["summary"]["steps"], 10) << "all are compared";
  EXPECT_EQ(report["runs"][1]["steps"][1]["fed"], report["runs"][0]["steps"][1]["token"]);
  const ProgramRun refused = run({"audit", january(), "a.json", "--on-divergence", "force"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("side B is saved"));
}

TEST_F(Saved, NothingIsLeftOfARecordingThatFails) {
  const ProgramRun killed =
      record(january(), "a.json", {"--keep-logits"}, {{"DRIFTAUDIT_TEST_FAULT", "A:kill@step=3"}});
  EXPECT_EQ(killed.status, 3);
  EXPECT_FALSE(fs::exists(folder() / "a.json"));
  EXPECT_FALSE(fs::exists(folder() / "a.logits"));
}

}  // namespace
}  // namespace drift::e2e
