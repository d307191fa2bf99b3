// Decode against prefill, with real builds: sound runs, and faults of decoding that are planted in
// the runner and must be found where they are.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/file.hpp"
#include "driftaudit/report.hpp"

#include "e2e/program.hpp"

namespace drift::e2e {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

/// First failing step by prompt.
using Failing = std::map<int, int>;

class Rescore : public ::testing::Test {
 protected:
  Rescore() {
    write_file(folder() / "prompts.txt",
               "The capital of France is\nWater boils at\nOne day a little rabbit\n"
               "She had never forgotten that\nQ: What is 17 times 23?\\nA:\nThe sun\n");
  }

  const fs::path& folder() const { return folder_.path(); }

  ProgramRun run(const std::vector<std::string>& arguments,
                 const std::map<std::string, std::string>& variables = {}) {
    return run_program(arguments, folder(), variables);
  }

  /// Six prompts of 24 greedy tokens on mini, unless told otherwise.
  ProgramRun rescore(std::vector<std::string> arguments, const std::string& fault = "") {
    arguments.insert(arguments.begin(), "rescore");
    const std::vector<std::string> common = {"--model",      "mini",   "--prompts",
                                             "prompts.txt",  "--mode", "greedy",
                                             "--new-tokens", "24",     "--quiet"};
    arguments.insert(arguments.end(), common.begin(), common.end());
    return run(arguments, {{"DRIFTAUDIT_TEST_FAULT", fault}});
  }

  json report(const std::string& name = "report.json") const {
    return json::parse(read_file(folder() / name));
  }

  Failing failing() const {
    Failing failing;
    const json document = report();
    for (const json& request : document["rescore"]["requests"]) {
      if (!request["first_outlier"].is_null()) {
        failing[request["prompt"]] = request["first_outlier"];
      }
    }
    return failing;
  }

  std::size_t prompt_length(int prompt) const {
    const json document = report();
    for (const json& request : document["rescore"]["requests"]) {
      if (request["prompt"] == prompt) {
        return request["prompt_ids"].size();
      }
    }
    return 0;
  }

  /// Plants a fault in decoding; the gate must trip.
  Failing found(const std::string& fault) {
    const ProgramRun done = rescore({january()}, "A:" + fault);
    EXPECT_EQ(done.status, 1) << fault << ": " << done.err;
    return failing();
  }

  /// The last report's answers as a file for --logprobs, a line each.
  std::vector<json> served() const {
    std::vector<json> lines;
    const json record = report()["rescore"];
    for (const json& request : record["requests"]) {
      json line{{"request_id", "r" + std::to_string(request["prompt"].get<int>())},
                {"prompt_ids", request["prompt_ids"]},
                {"token_ids", json::array()},
                {"logprobs", json::array()}};
      for (const json& token : record["scored"]) {
        if (token["prompt"] == request["prompt"]) {
          line["token_ids"].push_back(token["token"]);
          line["logprobs"].push_back(token["logprob_decode"]);
        }
      }
      lines.push_back(line);
    }
    return lines;
  }

  ProgramRun score_file(const std::vector<json>& lines) {
    std::string text;
    for (const json& line : lines) {
      text += line.dump() + "\n";
    }
    write_file(folder() / "served.jsonl", text);
    return run({"rescore", january(), "--model", "mini", "--logprobs", "served.jsonl", "--quiet"});
  }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-e2e"};
};

TEST_F(Rescore, OfASoundBuildHasNoOutliersInAnyMode) {
  const ProgramRun done = run({"rescore", january(), "--model", "mini", "--prompts", "prompts.txt",
                               "--new-tokens", "24", "--quiet"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("verdict  no outliers"));
  const json record = report()["rescore"];
  EXPECT_EQ(report()["kind"], "rescore");
  EXPECT_THAT(record["outliers"], IsEmpty());
  EXPECT_EQ(record["requests"].size(), 12U) << "greedy and sampled";
  EXPECT_EQ(record["limit"], 1e-3);
  EXPECT_EQ(report()["builds"].size(), 2U);
  for (const json& token : record["scored"]) {
    EXPECT_LT(token["logprob_decode"], 0);
    if (token["mode"] == "greedy") {
      EXPECT_LT(token["margin"], 1e-3);
    }
  }
}

TEST_F(Rescore, OfOneBuildsTextByAnotherHasNoOutliers) {
  const ProgramRun done = rescore({january(), december()});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_NE(report()["builds"][0]["torch"], report()["builds"][1]["torch"]);
  EXPECT_THAT(report()["rescore"]["outliers"], IsEmpty());
}

TEST_F(Rescore, FindsAnOverwrittenCacheEntry) {
  EXPECT_THAT(found("overwrite@at=0,task=1,from=9"), ElementsAre(Pair(2, 9)));
}

TEST_F(Rescore, FindsAMaskThatIsOffByOne) {
  EXPECT_THAT(found("mask@task=2,from=7"), ElementsAre(Pair(3, 7)));
}

TEST_F(Rescore, FindsTheStaleCacheOfThePromptBefore) {
  EXPECT_THAT(found("stale@task=3,from=5"), ElementsAre(Pair(4, 5)));
}

TEST_F(Rescore, FindsAWrongPositionId) {
  EXPECT_THAT(found("position@task=1,from=6"), ElementsAre(Pair(2, 6)));
}

TEST_F(Rescore, FindsAPositionIdThatWasWrongOnce) {
  EXPECT_EQ(found("position@task=1,step=6").at(2), 6);
}

TEST_F(Rescore, FindsACacheIndexThatWraps) {
  constexpr int kCapacity = 20;
  const Failing failing = found("wrap@task=4,size=" + std::to_string(kCapacity));
  // Step n finds the keys of the prompt and of n - 2 tokens in the cache: it fails first where they
  // are one too many.
  EXPECT_THAT(failing, ElementsAre(Pair(5, kCapacity - static_cast<int>(prompt_length(5)) + 3)));
}

TEST_F(Rescore, FindsDecodingBeforePrefillHasFinished) {
  EXPECT_THAT(found("prefill@task=1,size=1"), ElementsAre(Pair(2, 2)));
  EXPECT_THAT(found("prefill@task=1,size=2,to=3"), ElementsAre(Pair(2, 2)))
      << "the keys that it made meanwhile stay wrong";
}

TEST_F(Rescore, TellsALateFaultByThePositions) {
  EXPECT_THAT(found("mask@task=0,from=20"), ElementsAre(Pair(1, 20)));
  const json document = report();
  for (const json& spread : document["rescore"]["spread"]) {
    const bool holds = spread["part"] == "all" || spread["part"] == "late";
    EXPECT_EQ(spread["outliers"] > 0, holds) << spread;
  }
}

TEST_F(Rescore, NamesThePeriodOfFailingRequests) {
  const Failing failing = found("stale@every=2,from=4");
  EXPECT_THAT(failing, ElementsAre(Pair(2, 4), Pair(4, 4), Pair(6, 4)));
  const json period = report()["rescore"]["request_period"];
  EXPECT_EQ(period["period"], 2);
  EXPECT_EQ(period["first"], 2);
}

TEST_F(Rescore, ClaimsNoPeriodFromTwoRequests) {
  EXPECT_THAT(found("mask@every=3,from=4"), ElementsAre(Pair(3, 4), Pair(6, 4)));
  EXPECT_TRUE(report()["rescore"]["request_period"].is_null());
}

TEST_F(Rescore, FindsAFaultInTheLogitsAlone) {
  EXPECT_THAT(found("nan@op=lm_head,task=1,step=8"), ElementsAre(Pair(2, 8)));
  EXPECT_EQ(report()["rescore"]["non_finite"], 1);
}

TEST_F(Rescore, FindsAFaultThatEveryRequestHas) {
  const ProgramRun done = rescore({january()}, "A:mask");
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_EQ(failing().size(), 6U);
  EXPECT_EQ(report()["rescore"]["limit"], 1e-3) << "it doesn't grow with what is wrong";
}

TEST_F(Rescore, NoFaultOfTheCacheTouchesARunWithoutOne) {
  EXPECT_EQ(rescore({january(), "--no-cache"}, "A:mask;stale;position;overwrite").status, 0);
  EXPECT_THAT(report()["rescore"]["outliers"], IsEmpty());
}

TEST_F(Rescore, GateIsTurnedOffByNever) {
  const ProgramRun done = rescore({january(), "--fail-on", "never"}, "A:stale@task=1,from=5");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(report()["rescore"]["outliers"], Not(IsEmpty()));
  EXPECT_THAT(done.out, Not(HasSubstr("tripped")));
}

TEST_F(Rescore, ShowsTheTextAroundTheFirstOutlierAndAgainWithShow) {
  const ProgramRun done = rescore({january()}, "A:stale@task=1,from=5");
  EXPECT_THAT(done.out, HasSubstr("\nfirst outliers\n  greedy prompt 2, step 5: |Δ| "));
  EXPECT_THAT(done.out, HasSubstr("\n    Water boils at"));
  const ProgramRun again = run({"show", "report.json"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(done.out.rfind(again.out, 0), 0U) << again.out;
}

TEST_F(Rescore, TakesTheTextOfASavedReport) {
  const std::vector<std::string> record = {
      "record",        january(),      "--model", "mini",  "--prompts", "prompts.txt", "--mode",
      "greedy,sample", "--new-tokens", "12",      "--out", "base.json", "--quiet"};
  ASSERT_EQ(run(record, {{"DRIFTAUDIT_TEST_FAULT", "A:mask@task=1,from=7"}}).status, 0);
  const ProgramRun done = run({"rescore", "base.json", december(), "--quiet"});
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_THAT(failing(), ElementsAre(Pair(2, 7)));
  EXPECT_EQ(report()["rescore"]["source"], "base.json");
  EXPECT_EQ(report()["builds"][0]["recorded"]["report"], "base.json");
  EXPECT_EQ(report()["rescore"]["requests"].size(), 12U);
}

TEST_F(Rescore, ScoresWhatAFileHolds) {
  ASSERT_EQ(rescore({january()}).status, 0);
  const std::vector<json> lines = served();
  const ProgramRun sound = score_file(lines);
  EXPECT_EQ(sound.status, 0) << sound.err;
  EXPECT_THAT(report()["rescore"]["outliers"], IsEmpty());
  EXPECT_EQ(report()["rescore"]["scored"].size(), 6U * 24U);

  std::vector<json> altered = lines;
  altered[3]["logprobs"][16] = altered[3]["logprobs"][16].get<double>() - 0.01;
  const ProgramRun found = score_file(altered);
  EXPECT_EQ(found.status, 1) << found.err;
  EXPECT_THAT(failing(), ElementsAre(Pair(4, 17)));
  EXPECT_THAT(found.out, HasSubstr("request r4: step 17 alone"));
}

TEST_F(Rescore, OfASoundBuildInHalfPrecisionHasNoOutliers) {
  const ProgramRun done = run({"rescore", december(), "--model", "mini", "--prompts", "prompts.txt",
                               "--dtype", "bfloat16", "--new-tokens", "10", "--quiet"});
  EXPECT_EQ(done.status, 0) << done.out << done.err;
  const json record = report()["rescore"];
  EXPECT_THAT(record["outliers"], IsEmpty());
  EXPECT_EQ(record["noise"]["dtype"], "bfloat16");
  EXPECT_GE(record["limit"], 4 * record["noise"]["step"].get<double>());
}

TEST_F(Rescore, FindsAFaultInHalfPrecisionWhereItIs) {
  const ProgramRun done =
      run({"rescore", december(), "--model", "mini", "--prompts", "prompts.txt", "--dtype",
           "bfloat16", "--mode", "greedy", "--new-tokens", "10", "--quiet"},
          {{"DRIFTAUDIT_TEST_FAULT", "A:stale@task=3,from=5"}});
  EXPECT_EQ(done.status, 1) << done.out << done.err;
  EXPECT_THAT(failing(), ElementsAre(Pair(4, 5)));
}

TEST_F(Rescore, TripsOnAFileThatIsWrongThroughout) {
  ASSERT_EQ(rescore({january()}).status, 0);
  json line = served()[0];
  for (json& logprob : line["logprobs"]) {
    logprob = logprob.get<double>() - 20;
  }
  EXPECT_EQ(score_file({line}).status, 1);
}

TEST_F(Rescore, NamesAnswersThatWereSwapped) {
  ASSERT_EQ(rescore({january()}).status, 0);
  std::vector<json> lines = served();
  for (const char* key : {"token_ids", "logprobs"}) {
    std::swap(lines[1][key], lines[4][key]);
  }
  const ProgramRun found = score_file(lines);
  EXPECT_EQ(found.status, 1) << found.err;
  EXPECT_THAT(found.out, HasSubstr("request r2 answers request r5"));
  EXPECT_THAT(found.out, HasSubstr("request r5 answers request r2"));
}

TEST_F(Rescore, OfABatchSaysHowItDiffersFromItsRequestsAlone) {
  const ProgramRun done = rescore({january(), "--batch", "3"});
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr(" batched requests have the same tokens alone"));
  const json document = report();
  for (const json& request : document["rescore"]["requests"]) {
    EXPECT_LT(request["alone"]["max"], 1e-3) << request;
    EXPECT_TRUE(request["alone"]["answers"].is_null()) << request;
  }
}

TEST_F(Rescore, NamesAnswersThatABatchSwapped) {
  const ProgramRun done = rescore({january(), "--batch", "6"}, "A:swap-frames");
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_THAT(done.out, HasSubstr("greedy prompt 1 answers prompt 2\n"));
  EXPECT_THAT(done.out, HasSubstr("greedy prompt 2 answers prompt 1\n"));
  EXPECT_THAT(done.out, HasSubstr("greedy prompt 1 has the answer that prompt 2 has alone"));
  EXPECT_THAT(failing(), ElementsAre(Pair(1, 1), Pair(2, 1)));
}

TEST_F(Rescore, FindsRowsOfABatchThatChangedPlaces) {
  const ProgramRun done = rescore({january(), "--batch", "6"}, "A:swap@step=7");
  EXPECT_EQ(done.status, 1) << done.err;
  EXPECT_THAT(failing(), ElementsAre(Pair(1, 7), Pair(2, 7)));
}

TEST_F(Rescore, NamesRowsThatChangedPlacesWhereNothingElseTellsThemApart) {
  write_file(folder() / "prompts.txt",
             "She had never forgotten that\nOnce upon a time\nWater boils at\nThe sun\n");
  const ProgramRun done = rescore({january(), "--batch", "4"}, "A:swap@step=7");
  EXPECT_EQ(done.status, 1) << done.err;
  ASSERT_EQ(prompt_length(1), prompt_length(2)) << "else the padding is another's";
  EXPECT_THAT(done.out, HasSubstr("greedy prompt 1 answers prompt 2 from step 7 on"));
  EXPECT_THAT(done.out, HasSubstr("greedy prompt 2 answers prompt 1 from step 7 on"));
}

TEST_F(Rescore, GoesToTheEndOfTheContext) {
  ASSERT_EQ(
      run({"model", "make", "--preset", "tiny", "--seed", "1", "--out", "tiny", "--quiet"}).status,
      0);
  const ProgramRun done =
      run({"rescore", january(), "--model", "tiny", "--prompts", "prompts.txt", "--mode", "greedy",
           "--new-tokens", "5000", "--ignore-eos", "--quiet"});
  EXPECT_EQ(done.status, 0) << done.err;
  const json document = report();
  const json& request = document["rescore"]["requests"][0];
  EXPECT_EQ(request["prompt_ids"].size() + request["tokens"].get<std::size_t>(),
            document["model"]["n_positions"].get<std::size_t>() + 1);
}

TEST_F(Rescore, WritesAReportThatReadsBackTheSame) {
  ASSERT_EQ(rescore({january()}, "A:stale@task=1,from=5").status, 1);
  const std::string bytes = read_file(folder() / "report.json");
  EXPECT_EQ(report_json(read_report(folder() / "report.json")), bytes);
}

TEST_F(Rescore, RefusesWhatMakesNoSense) {
  write_file(folder() / "served.jsonl", "{}\n");
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "rescore");
    const ProgramRun done = run(arguments);
    EXPECT_EQ(done.status, 2) << done.out;
    EXPECT_TRUE(has_one_error_line(done.err)) << done.err;
    EXPECT_FALSE(fs::exists(folder() / "report.json"));
    return done.err;
  };
  EXPECT_THAT(refused({"base.json"}), HasSubstr("a saved report can't score"));
  EXPECT_THAT(refused({january(), "base.json"}), HasSubstr("a saved report can't score"));
  EXPECT_THAT(refused({january(), "--mode", "score", "--text", "prompts.txt"}),
              HasSubstr("generated text"));
  EXPECT_THAT(refused({january(), december(), "--logprobs", "served.jsonl"}),
              HasSubstr("one build"));
  EXPECT_THAT(refused({january(), "--logprobs", "served.jsonl", "--seed", "3"}),
              HasSubstr("--seed: nothing is generated"));
  EXPECT_THAT(refused({january(), "--logprobs", "served.jsonl", "--out", "served.jsonl"}),
              HasSubstr("would be written over"));
  EXPECT_THAT(refused({january(), "--logprobs-temperature", "0.7"}),
              HasSubstr("add --logprobs FILE.jsonl"));
  EXPECT_THAT(refused({january(), "--outlier", "-1"}), HasSubstr("--outlier"));
  EXPECT_THAT(refused({january(), "--model", "mini", "--logprobs", "served.jsonl", "--quiet"}),
              HasSubstr("served.jsonl: line 1: \"prompt_ids\" is missing"));
  EXPECT_THAT(refused({january(), "--model", "mini", "--logprobs", "nowhere.jsonl", "--quiet"}),
              HasSubstr("nowhere.jsonl"));
}

}  // namespace
}  // namespace drift::e2e
