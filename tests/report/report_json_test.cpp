#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/report.hpp"

#include "report/made_report.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;

class ReportJson : public ::testing::Test {
 protected:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-report"};
  fs::path path_ = folder_.path() / "report.json";

  Report read(const std::string& json) {
    write_file(path_, json);
    return read_report(path_);
  }
  /// The error that a JSON text gets, as `what | hint`.
  std::string refusal(const std::string& json) {
    try {
      read(json);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), ::testing::StartsWith(path_.string() + ": "));
      return std::string(error.what()).substr(path_.string().size() + 2) + " | " + error.hint();
    }
    return "accepted";
  }
  /// The refusal of a report, the made one, with its first `from` replaced.
  std::string refusal_with(const std::string& from, const std::string& to,
                           const Report& report = made_report()) {
    std::string json = report_json(report);
    const std::size_t at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return refusal(json.replace(at, from.size(), to));
  }
};

/// A report as it was written before steps had checksums.
std::string without_checksums(const std::string& json) {
  return std::regex_replace(json, std::regex(R"(,"checksum":"[0-9a-f]{16}")"), "");
}

TEST_F(ReportJson, WritesTheSameBytesAfterReading) {
  for (const Report& report : {made_report(), identical_report(), scored_report(), kept_report(),
                               bisect_report(), localize_report(), reveal_report(), sweep_report(),
                               rescore_report(), study_report(), Report{}}) {
    const std::string json = report_json(report);
    EXPECT_EQ(report_json(read(json)), json);
  }
}

TEST_F(ReportJson, SaysHowManyPromptsRanTogether) {
  EXPECT_THAT(report_json(made_report()), ::testing::Not(HasSubstr("\"batch\"")));
  Report report = made_report();
  report.settings.batch = 4;
  const std::string json = report_json(report);
  EXPECT_EQ(read(json).settings.batch, 4U);
  EXPECT_EQ(report_json(read(json)), json);
  EXPECT_THAT(refusal_with("\"batch\":4", "\"batch\":0", report),
              HasSubstr("/settings/batch: 0 where counting begins at 1"));
}

TEST_F(ReportJson, SaysWhichOutputHeadWasRun) {
  EXPECT_THAT(report_json(made_report()), ::testing::Not(HasSubstr("output_head")))
      << "reports of earlier releases don't say";
  Report report = made_report();
  report.model.output_head = "stored";
  report.model.output_head_asked = true;
  report.model.head_differing = 80;
  report.model.warnings = {"the head differs"};
  const std::string json = report_json(report);
  const ModelRecord back = read(json).model;
  EXPECT_EQ(back.output_head, "stored");
  EXPECT_TRUE(back.output_head_asked);
  EXPECT_EQ(back.head_differing, 80U);
  EXPECT_EQ(back.warnings, report.model.warnings);
  EXPECT_EQ(report_json(read(json)), json);
  EXPECT_THAT(refusal_with("\"output_head\":\"stored\"", "\"output_head\":\"other\"", report),
              HasSubstr("/model/output_head: unknown value \"other\""));
}

TEST_F(ReportJson, SaysWhichAttentionWhereItIsNotTheEagerOneOfBefore) {
  Report report = identical_report();
  EXPECT_THAT(report_json(report), ::testing::Not(HasSubstr("\"attention")));
  const SideAttention sdpa{Attention::kSdpa, ScoreScale::kDivide, "auto: why", "4.57.1"};
  const SideAttention multiplied{Attention::kEager, ScoreScale::kMultiply, "--attention", {}};
  report.builds[0].attention = sdpa;
  report.builds[1].attention = multiplied;
  const Report again = read(report_json(report));
  EXPECT_EQ(again.builds[0].attention, sdpa);
  EXPECT_EQ(again.builds[1].attention, multiplied);
  EXPECT_THAT(refusal_with("\"sdpa\"", "\"flash\"", report),
              HasSubstr("/builds/0/attention: unknown value \"flash\""));
}

TEST_F(ReportJson, WritesToAFileWhatItGivesAsText) {
  write_report(made_report(), path_);
  EXPECT_EQ(read_file(path_), report_json(made_report()));
}

TEST_F(ReportJson, IsCompressedWhereItsNameSaysSo) {
  const fs::path path = folder_.path() / "report.json.zst";
  write_report(made_report(), path);
  EXPECT_LT(fs::file_size(path), report_json(made_report()).size());
  EXPECT_EQ(report_json(read_report(path)), report_json(made_report()));
}

TEST_F(ReportJson, RefusesADamagedCompressedReport) {
  const fs::path path = folder_.path() / "report.json.zst";
  write_report(made_report(), path);
  std::string bytes = read_file(path);
  const auto refused = [&](const std::string& content) {
    write_file(path, content);
    try {
      read_report(path);
    } catch (const Error& error) {
      return std::string(error.what()).substr(path.string().size());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refused(bytes.substr(0, bytes.size() - 5)), HasSubstr(": ends too early"));
  EXPECT_THAT(refused(report_json(made_report())), HasSubstr("not Zstandard"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  EXPECT_THAT(refused(bytes), ::testing::Not("accepted"));
}

TEST_F(ReportJson, OpensReportsOfTheFirstSchemaForEver) {
  const Report report = read_report(DRIFTAUDIT_SOURCE_FOLDER "/tests/report/data/audit-1.json");
  EXPECT_EQ(report.kind, "audit");
  ASSERT_EQ(report.runs.size(), 8U);
  EXPECT_EQ(report.runs[0].steps.size(), 3U);
  EXPECT_EQ(report.runs[0].steps[0].top.size(), 4U);
  EXPECT_EQ(report.builds[1].torch, "1.13.1+cu117");
  EXPECT_EQ(report.builds[1].attention, SideAttention{}) << "there was no other";
  EXPECT_EQ(report.summary.verdict, "same_tokens");
  EXPECT_TRUE(report.gates.empty());
  EXPECT_FALSE(report.logits);
}

TEST_F(ReportJson, RefusesAStepWhoseFiguresWereEdited) {
  EXPECT_THAT(refusal_with("[[10,-31.25],[11,-31.75]],\"gap\":0.5",
                           "[[10,-31.25],[11,-31.5]],\"gap\":0.25"),
              HasSubstr("/runs/0/steps/0: the step's figures contradict its checksum"));
  EXPECT_THAT(refusal_with("00000000000000000000000000000000", "00000000000000000000000000000009"),
              HasSubstr("/runs/0/steps/0: the step's figures contradict its checksum"));
  EXPECT_THAT(refusal_with("\"token\":10", "\"token\":11"), HasSubstr("checksum"));
  EXPECT_THAT(refusal_with("\"logsumexp\":-30.55", "\"logsumexp\":-30.5"), HasSubstr("checksum"));
}

TEST_F(ReportJson, RefusesKeptLogitsThatContradictEachOther) {
  std::string json = without_checksums(report_json(made_report()));
  json.replace(json.find("[11,-31.75]"), 11, "[11,-31]");
  EXPECT_THAT(refusal(json), HasSubstr("/runs/0/steps/0/top/1: out of order"));
  EXPECT_THAT(refusal_with("\"gap\":0.5", "\"gap\":0.25"),
              HasSubstr("/runs/0/steps/0/gap: not the difference of the two highest logits"));
}

TEST_F(ReportJson, RefusesALogitsFileElsewhere) {
  EXPECT_NE(report_json(kept_report()).find("\"base.logits\""), std::string::npos);
  std::string json = report_json(kept_report());
  json.replace(json.find("base.logits"), 11, "../b.logits");
  EXPECT_THAT(refusal(json), HasSubstr("/logits: not a file's name"));
}

TEST_F(ReportJson, ReadsBackWhatWasWritten) {
  const Report report = made_report();
  const Report back = read(report_json(report));
  ASSERT_EQ(back.runs.size(), report.runs.size());
  EXPECT_EQ(back.builds[1].log, report.builds[1].log);
  EXPECT_EQ(back.builds[1].peak_address_bytes, 987654321U);
  EXPECT_EQ(back.builds[1].doubtful_settings.at(0).answer, "oneDNN doesn't say");
  EXPECT_TRUE(back.builds[0].doubtful_settings.empty());
  EXPECT_EQ(back.builds[1].knobs, report.builds[1].knobs);
  EXPECT_EQ(back.builds[0].blas_threads, 1U);
  EXPECT_EQ(back.builds[0].blas_dispatch, "avx2");
  EXPECT_FALSE(back.builds[1].repeatable.has_value());
  EXPECT_EQ(back.runs[1].text, report.runs[1].text);
  EXPECT_EQ(back.runs[2].prompt_text, "Q: What is 17 times 23?\nA:");
  EXPECT_EQ(back.tokens, report.tokens);
  const Step& odd = back.runs[0].steps[1];
  EXPECT_EQ(odd.fed, 14);
  EXPECT_EQ(odd.non_finite, 2U);
  EXPECT_EQ(odd.top[2].logit, -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(odd.top[3].logit));
  EXPECT_EQ(odd.logsumexp, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::signbit(back.runs[1].steps[0].logit));
  EXPECT_EQ(back.runs[1].steps[0].given, 11);
  EXPECT_EQ(back.runs[1].steps[0].given_logprob, -0.1);
  EXPECT_EQ(back.runs[4].steps[0].draw_digest, 0x1234abcdU);
  EXPECT_EQ(back.runs[7].stopped, Stop::kEndOfText);
  EXPECT_EQ(back.comparison.back().token_change_cause, TokenChangeCause::kBoth);
  EXPECT_EQ(back.summary.smallest_gap->side, 'B');
  EXPECT_EQ(back.by_mode[1].first, "sample");
  EXPECT_EQ(read(report_json(scored_report())).summary.kl_percentiles.at("99"), 2e-10);
}

TEST_F(ReportJson, KeepsEveryFloatsBits) {
  Report report = identical_report();
  Step& step = report.runs[0].steps[0];
  std::vector<TokenLogit>& top = step.top;
  top.clear();
  // Patterns spread over all exponents, normal and denormal, and both signs.
  for (std::uint64_t bits = 1; bits < 0xff800000; bits += 0x000fa3c7) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isfinite(value)) {
      top.push_back({static_cast<std::int32_t>(top.size()), value});
    }
  }
  std::sort(top.begin(), top.end(),
            [](const TokenLogit& x, const TokenLogit& y) { return x.logit > y.logit; });
  step.gap = double{top[0].logit} - double{top[1].logit};
  const Report back = read(report_json(report));
  ASSERT_EQ(back.runs[0].steps[0].top.size(), top.size());
  for (std::size_t i = 0; i < top.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(back.runs[0].steps[0].top[i].logit),
              std::bit_cast<std::uint32_t>(top[i].logit));
  }
}

TEST_F(ReportJson, ReadsAFloatFromItsDigitsNotByWayOfADouble) {
  std::string json = report_json(identical_report());
  const std::string logit = "\"logit\":-31.25";
  json = without_checksums(json);
  // Above the middle of 1 and the next float by less than a double can tell.
  json.replace(json.find(logit), logit.size(), "\"logit\":1.0000000596046447754");
  EXPECT_EQ(read(json).runs[0].steps[0].logit, std::nextafter(1.0F, 2.0F));
}

TEST_F(ReportJson, WritesFloatsInTheirShortestForm) {
  Report report = identical_report();
  report.runs[0].steps[0].logit = 0.1F;
  report.runs[0].steps[0].gap = 0.1;
  EXPECT_THAT(report_json(report), HasSubstr(R"("token":10,"logit":0.1,)"));
  EXPECT_THAT(report_json(report), HasSubstr(R"("gap":0.1,)"));
}

TEST_F(ReportJson, WritesAStepALine) {
  EXPECT_THAT(
      report_json(identical_report()),
      HasSubstr(R"("stopped":"length","steps":[
{"token":10,"logit":-31.25,"top":[[10,-31.25],[11,-31.75]],"gap":0.5,"logsumexp":-30.55,)"
                R"("digest":"00000000000000000000000000000000","checksum":"605d7e795d994760"},
{"token":11,)"));
}

TEST_F(ReportJson, EscapesTokensThatAreNoText) {
  Report report = identical_report();
  report.tokens = {{1, "\xe2\x80"}, {2, "\n"}, {3, "\\x"}, {4, "\\"}, {5, "é"}};
  EXPECT_THAT(report_json(report), HasSubstr(R"("1":"\\xe2\\x80",
"2":"\\x0a",
"3":"\\x5cx",
"4":"\\",
"5":"é")"));
  EXPECT_EQ(read(report_json(report)).tokens, report.tokens);
}

TEST_F(ReportJson, RefusesWhatIsNoReport) {
  EXPECT_THAT(refusal("[]"), HasSubstr("not a report"));
  EXPECT_THAT(refusal("{}"), HasSubstr("not a report"));
  EXPECT_THAT(refusal("hello"), HasSubstr("line 1: not JSON"));
  EXPECT_THAT(refusal(R"({"schema":"other/1"})"), HasSubstr("its schema is \"other/1\""));
}

TEST_F(ReportJson, RefusesANewerSchemaAndSaysWhatToDo) {
  EXPECT_THAT(refusal_with("driftaudit/1", "driftaudit/2"),
              ::testing::AllOf(HasSubstr("its schema is \"driftaudit/2\""), HasSubstr("update")));
}

TEST_F(ReportJson, RefusesATruncatedReportAtEveryPoint) {
  const std::string json = report_json(made_report());
  for (std::size_t size = 0; size + 2 < json.size(); size += 97) {
    EXPECT_THAT(refusal(json.substr(0, size)), HasSubstr("line ")) << size;
  }
  EXPECT_THAT(refusal(json.substr(0, json.find("\"host\""))), HasSubstr("line 6: ends too early"));
}

TEST_F(ReportJson, NamesTheLineThatIsNotJson) {
  EXPECT_THAT(refusal_with("\"host\":", "\"host\";"), HasSubstr("line 6: not JSON"));
}

TEST_F(ReportJson, NamesThePlaceOfAWrongType) {
  EXPECT_THAT(refusal_with("\"logit\":-31.25", "\"logit\":true"),
              HasSubstr("/runs/0/steps/0/logit: true or false where a number is expected"));
  EXPECT_THAT(refusal_with("\"threads\":1", "\"threads\":\"1\""),
              HasSubstr("/builds/0/threads: text where a whole number is expected"));
  EXPECT_THAT(refusal_with("[10,-31.25]", "[10]"),
              HasSubstr("/runs/0/steps/0/top/0: not a pair of id and logit"));
  EXPECT_THAT(refusal_with("\"steps\":[\n", "\"steps\":[1,\n"),
              HasSubstr("/runs/0/steps: a whole number where an object a step is expected"));
}

TEST_F(ReportJson, NamesAMissingKeyAndOneThatStandsTwice) {
  EXPECT_THAT(refusal_with("\"gap\":0.5,", ""), HasSubstr("/runs/0/steps/0/gap: missing"));
  EXPECT_THAT(refusal_with("\"gap\":0.5,", "\"gap\":0.5,\"gap\":0.5,"),
              HasSubstr("/runs/0/steps/0/gap: the key stands twice"));
  EXPECT_THAT(refusal_with("\"tool\":", "\"kind\":\"audit\",\"tool\":"),
              HasSubstr("/kind: the key stands twice"));
}

TEST_F(ReportJson, RefusesAnUnknownKey) {
  EXPECT_THAT(refusal_with("\"cores\":2", "\"cores\":2,\"sockets\":1"),
              HasSubstr("/host/sockets: no such key"));
  EXPECT_THAT(refusal_with("\"gap\":0.5", "\"gap\":0.5,\"logprob\":0.5"),
              HasSubstr("/runs/0/steps/0/logprob: no such key"));
}

TEST_F(ReportJson, RefusesNumbersOutOfRange) {
  EXPECT_THAT(refusal_with("\"logit\":-31.25", "\"logit\":1e39"),
              HasSubstr("/runs/0/steps/0/logit: a number out of range"));
  EXPECT_THAT(refusal_with("\"gap\":0.5", "\"gap\":1e999"), HasSubstr("a number out of range"));
  EXPECT_THAT(refusal_with("\"token\":10", "\"token\":2147483648"),
              HasSubstr("/runs/0/steps/0/token: a number outside 0 to 2147483647"));
  EXPECT_THAT(refusal_with("\"token\":10", "\"token\":-1"), HasSubstr("outside 0 to"));
  EXPECT_THAT(refusal_with("\"token\":10", "\"token\":1.5"),
              HasSubstr("a number with a fraction where a whole number"));
  EXPECT_THAT(refusal_with("\"prompt\":1", "\"prompt\":0"), HasSubstr("/runs/0/prompt: 0 where"));
  EXPECT_THAT(refusal_with("\"build\":1", "\"build\":2"),
              HasSubstr("/runs/1/build: no such build"));
}

TEST_F(ReportJson, RefusesUnknownNames) {
  EXPECT_THAT(refusal_with("\"kind\":\"audit\"", "\"kind\":\"bisection\""), HasSubstr("/kind: "));
  EXPECT_THAT(refusal_with("\"mode\":\"greedy\"", "\"mode\":\"beam\""), HasSubstr("\"beam\""));
  EXPECT_THAT(refusal_with("\"stopped\":\"length\"", "\"stopped\":\"tired\""),
              HasSubstr("/runs/0/stopped: unknown value \"tired\""));
  EXPECT_THAT(refusal_with("\"verdict\":\"diverged\"", "\"verdict\":\"fine\""),
              HasSubstr("/summary/verdict"));
  EXPECT_THAT(refusal_with("\"inf\"", "\"infinite\""), HasSubstr("/runs/0/steps/1/"));
  EXPECT_THAT(refusal_with("0000000000\"", "000000000\""), HasSubstr("hexadecimal"));
  EXPECT_THAT(refusal_with("\"10\":", "\"010\":"), HasSubstr("/tokens/010: not a token's id"));
}

TEST_F(ReportJson, RefusesModesThatThereAreNot) {
  Report report = made_report();
  for (const std::string mode : {"greedy; touch x #", "greedy\x1b[2J", ""}) {
    report.settings.modes = {"greedy", mode};
    EXPECT_THAT(refusal(report_json(report)), HasSubstr("/settings/modes/1: no such mode"));
  }
}

TEST_F(ReportJson, RefusesAVerdictThatItsPromptsDoNotGive) {
  Report report = made_report();
  ASSERT_EQ(report.summary.verdict, "diverged");
  report.summary.verdict = "identical";
  EXPECT_THAT(refusal(report_json(report)),
              HasSubstr("/summary/verdict: \"identical\", but by its prompts it is \"diverged\""));
  report = made_report();
  report.by_mode[0].second.verdict = "identical";
  EXPECT_THAT(refusal(report_json(report)),
              HasSubstr("/summary/by_mode/greedy/verdict: \"identical\""));
}

TEST_F(ReportJson, RefusesABisectionOfNothing) {
  Report report = bisect_report();
  report.bisect->candidates.clear();
  EXPECT_THAT(refusal(report_json(report)), HasSubstr("/bisect/candidates: empty"));
}

TEST_F(ReportJson, RefusesASweepWithoutValuesOrThatDoesNotSayHowItRan) {
  Report report = sweep_report();
  report.sweep->knobs[0].values.clear();
  EXPECT_THAT(refusal(report_json(report)), HasSubstr("/sweep/knobs/0/values: empty"));
  report = sweep_report();
  ASSERT_EQ(report.sweep->cells[0].state, "ran");
  report.sweep->cells[0].ran_as.reset();
  EXPECT_THAT(refusal(report_json(report)),
              HasSubstr("/sweep/cells/0/ran_as: null, though the cell ran"));
}

TEST_F(ReportJson, RefusesARequestWhoseFirstOutlierIsAnother) {
  for (const std::uint32_t step : {0U, 1U, 999999U}) {
    Report report = rescore_report();
    auto& requests = report.rescore->requests;
    const auto sound = std::find_if(requests.begin(), requests.end(),
                                    [](const auto& request) { return !request.first_outlier; });
    ASSERT_NE(sound, requests.end());
    sound->first_outlier = step;
    EXPECT_THAT(refusal(report_json(report)),
                HasSubstr("/first_outlier: not the first of its scored tokens"));
  }
}

TEST_F(ReportJson, RefusesABisectionThatContradictsItself) {
  const Report report = bisect_report();
  EXPECT_THAT(refusal_with("\"class\":2", "\"class\":3", report),
              HasSubstr("/bisect/candidates/6/class: no such class"));
  EXPECT_THAT(refusal_with("ddd0\"", "ddd\"", report),
              HasSubstr("/bisect/candidates/0/digest: not 32 hexadecimal digits"));
  EXPECT_THAT(refusal_with("\"kind\":\"bisect\"", "\"kind\":\"audit\"", report),
              HasSubstr("/comparison: missing"));
  EXPECT_THAT(refusal_with("\"kind\":\"audit\"", "\"kind\":\"bisect\""),
              HasSubstr("/bisect: missing"));
}

TEST_F(ReportJson, RefusesALocalizationThatIsNone) {
  const Report report = localize_report();
  EXPECT_THAT(refusal_with("\"kind\":\"localize\"", "\"kind\":\"bisect\"", report),
              HasSubstr("/bisect: missing"));
  EXPECT_THAT(refusal_with("\"step\":2", "\"step\":0", report),
              HasSubstr("/localize/step: 0 where counting begins at 1"));
  EXPECT_THAT(refusal_with("\"condition\":\"rows\"", "\"condition\":\"moon\"", report),
              HasSubstr("/localize/isolation/0/conditions/0/condition: unknown value"));
}

TEST_F(ReportJson, KeepsTheOrdersThatALocalizationRevealed) {
  Report report = localize_report();
  report.reveal = reveal_report().reveal;
  const std::string json = report_json(report);
  const Report back = read(json);
  EXPECT_EQ(report_json(back), json);
  ASSERT_TRUE(back.localize && back.reveal);
  EXPECT_EQ(back.reveal->trees.size(), 8U);
  EXPECT_FALSE(read(report_json(localize_report())).reveal);
}

TEST_F(ReportJson, RefusesARevealThatContradictsItself) {
  const Report report = reveal_report();
  EXPECT_THAT(refusal_with("\"tree\":\"((0+1)+2)+3\"", "\"tree\":\"(0+1)+2\"", report),
              HasSubstr("/reveal/trees/2/tree: not over as many terms as the length says"));
  EXPECT_THAT(refusal_with("\"tree\":\"((0+1)+2)+3\"", "\"tree\":\"((0+1)+1)+3\"", report),
              HasSubstr("/reveal/trees/2/tree: "));
  EXPECT_THAT(refusal_with("\"proved_rows\":609", "\"proved_rows\":1000", report),
              HasSubstr("/reveal/trees/5/status: not what the tree and its proof say"));
  EXPECT_THAT(refusal_with("\"status\":\"consistent\"", "\"status\":\"proved\"", report),
              HasSubstr("/reveal/trees/5/status: "));
  EXPECT_THAT(refusal_with("\"status\":\"proved\"", "\"status\":\"likely\"", report),
              HasSubstr("/reveal/trees/0/status: unknown value"));
  EXPECT_THAT(refusal_with("\"build\":1", "\"build\":2", report),
              HasSubstr("/reveal/trees/1/build: no such build"));
  EXPECT_THAT(refusal_with("\"same\":true", "\"same\":false", report),
              HasSubstr("/reveal/comparisons/0/same: not what the trees say"));
  EXPECT_THAT(refusal_with("\"proved\":false", "\"proved\":true", report),
              HasSubstr("/reveal/comparisons/2/proved: "));
  EXPECT_THAT(refusal_with("\"length\":5,\"same\"", "\"length\":6,\"same\"", report),
              HasSubstr("/reveal/comparisons/2: no such trees"));
}

TEST_F(ReportJson, RefusesASweepThatContradictsItself) {
  const Report report = sweep_report();
  EXPECT_THAT(refusal_with("\"class\":1", "\"class\":2", report),
              HasSubstr("/sweep/cells/1/class: there is none of that index"));
  EXPECT_THAT(refusal_with("\"ran_as\":3", "\"ran_as\":4", report),
              HasSubstr("/sweep/cells/3/ran_as: there is none"));
  EXPECT_THAT(refusal_with("\"cells\":[0,2]", "\"cells\":[0,5]", report),
              HasSubstr("/sweep/classes/0/cells: there is none"));
  EXPECT_THAT(
      refusal_with("\"differing\":{\"a\":0,\"b\":1}", "\"differing\":{\"a\":0,\"b\":5}", report),
      HasSubstr("/sweep/knobs/0/differing: there is none"));
  EXPECT_THAT(refusal_with("\"other_kernels\":{\"a\":0,\"b\":1}",
                           "\"other_kernels\":{\"a\":0,\"b\":5}", report),
              HasSubstr("/sweep/knobs/0/other_kernels: there is none"));
  EXPECT_THAT(refusal_with("\"cells\":{\"a\":0,\"b\":1}", "\"cells\":{\"a\":7,\"b\":1}", report),
              HasSubstr("/sweep/knobs/0/first_token_change: there is none"));
  EXPECT_THAT(refusal_with("\"state\":\"failed\"", "\"state\":\"tired\"", report),
              HasSubstr("unknown value \"tired\""));
  EXPECT_THAT(refusal_with("\"kind\":\"audit\"", "\"kind\":\"sweep\""),
              HasSubstr("/sweep: missing"));
}

TEST_F(ReportJson, ReadsWhatRescoringFound) {
  const Report back = read(report_json(rescore_report()));
  ASSERT_TRUE(back.rescore);
  EXPECT_EQ(back.rescore->scored.size(), 16U);
  EXPECT_EQ(back.rescore->outliers.size(), 4U);
  EXPECT_TRUE(std::isnan(back.rescore->outliers[3].logprob_prefill));
  EXPECT_EQ(back.rescore->requests[1].answers->prompt, 3U);
  EXPECT_EQ(back.rescore->spread[2].outliers, 3U);
  ASSERT_TRUE(back.rescore->noise);
  EXPECT_EQ(back.rescore->noise->own, 2e-6);
  EXPECT_FALSE(back.rescore->rule);
}

TEST_F(ReportJson, ReadsTheRuleOfAFileAndReportsWithoutNoise) {
  Report report = rescore_report();
  report.rescore->noise.reset();
  const LogprobRule rule{.temperature = 0.7, .top_k = 20, .top_p = 0.9};
  report.rescore->rule = RescoreRule{rule, false, 8, 16, 1e-6, 2e-6};
  const Report back = read(report_json(report));
  EXPECT_FALSE(back.rescore->noise);
  ASSERT_TRUE(back.rescore->rule);
  EXPECT_EQ(back.rescore->rule->rule, rule);
  EXPECT_EQ(back.rescore->rule->fitted, 8U);
}

TEST_F(ReportJson, RefusesARescoreThatContradictsItself) {
  const Report report = rescore_report();
  EXPECT_THAT(refusal_with("\"scored_by\":1", "\"scored_by\":2", report),
              HasSubstr("/rescore/scored_by: no such build"));
  EXPECT_THAT(refusal_with("\"decoded_by\":0", "\"decoded_by\":2", report),
              HasSubstr("/rescore/decoded_by: no such build"));
  EXPECT_THAT(refusal_with("\"limit\":0.001", "\"limit\":3", report),
              HasSubstr("/rescore/outliers: not the scored tokens above the limit"));
  EXPECT_THAT(refusal_with("\"limit\":0.001", "\"limit\":1e-7", report),
              HasSubstr("/rescore/outliers: not the scored tokens above the limit"));
  EXPECT_THAT(refusal_with("\"first_outlier\":null", "\"first_outlier\":0", report),
              HasSubstr("/rescore/requests/0/first_outlier: "));
  EXPECT_THAT(refusal_with("\"first_outlier\":2", "\"first_outlier\":3", report),
              HasSubstr("/rescore/requests/1/first_outlier: not the first"));
  EXPECT_THAT(refusal_with("\"outliers\":3,\"first", "\"outliers\":2,\"first", report),
              HasSubstr("/rescore/requests/1/outliers: "));
  EXPECT_THAT(refusal_with("\"step\":3", "\"step\":4", report),
              HasSubstr("/rescore/scored/2: not the next token of the requests"));
  EXPECT_THAT(refusal_with("\"tokens\":4", "\"tokens\":5", report),
              HasSubstr("/rescore/scored/4: not the next token"));
  EXPECT_THAT(refusal_with("\"part\":\"all\"", "\"part\":\"late\"", report),
              HasSubstr("/rescore/spread: its first part isn't"));
  EXPECT_THAT(refusal_with("\"mode\":\"greedy\"", "\"mode\":\"score\"", report),
              HasSubstr("unknown value"));
}

TEST_F(ReportJson, RefusesAStudyThatContradictsItself) {
  const Report report = study_report();
  const auto refused = [&](const char* from, const char* to, const char* what) {
    EXPECT_THAT(refusal_with(from, to, report), HasSubstr(what));
  };
  refused("\"a\":3,\"b\":4,\"mode\"", "\"a\":3,\"b\":5,\"mode\"",
          "/study/pairs/4/b: there is none of that index");
  refused("\"label\":\"1.13.1\",\"ran_as\":1", "\"label\":\"1.13.1\",\"ran_as\":9",
          "/study/range/2/ran_as: there is none");
  refused("\"ran_as\":2,\"set\":1", "\"ran_as\":5,\"set\":1",
          "/study/gaps/runs/3/ran_as: there is none");
  refused("\"ran_as\":2,\"set\":1", "\"ran_as\":2,\"set\":3",
          "/study/gaps/runs/3/set: there is none");
  refused("\"step\":14,\"run\":1", "\"step\":14,\"run\":6", "/study/gaps/smallest: there is none");
  refused("\"step\":9,\"a\":0,\"b\":5", "\"step\":9,\"a\":0,\"b\":6",
          "/study/gaps/largest_change: there is none");
  refused("\"counts\":[3,0,9997]", "\"counts\":[3,9997]",
          "/study/gaps/histogram/bands/1/counts: not one more");
  refused("{\"a\":1,\"b\":3,\"rate\"", "{\"a\":6,\"b\":3,\"rate\"",
          "/study/flips/1/a: there is none");
  refused("\"interval\":\"given\"", "\"interval\":\"guessed\"", "unknown value \"guessed\"");
  refused("\"what\":\"kernels\"", "\"what\":\"weather\"", "unknown value \"weather\"");
  refused("\"name\":\"last again\"", "\"name\":\"middle\"", "unknown value \"middle\"");
  Report single = report;
  single.builds.resize(1);
  EXPECT_THAT(refusal(report_json(single)), HasSubstr("/builds: a study has two or more"));
  EXPECT_THAT(refusal_with("\"kind\":\"audit\"", "\"kind\":\"study\""),
              HasSubstr("/study: missing"));
}

TEST_F(ReportJson, RefusesDeepNesting) {
  EXPECT_THAT(refusal(std::string(200000, '[')), HasSubstr("nested too deep"));
}

TEST_F(ReportJson, AnUnwritablePathIsAnErrorAndLeavesNothing) {
  EXPECT_THROW(write_report(made_report(), folder_.path() / "missing" / "r.json"), Error);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

}  // namespace
}  // namespace drift
