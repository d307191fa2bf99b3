#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/report.hpp"

#include "report/made_report.hpp"
#include "report/utf8.hpp"

namespace drift {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// An audit whose runners printed nothing and honoured all.
Report audit_report() {
  Report report = made_report();
  report.builds[1].log.clear();
  report.builds[1].doubtful_settings.clear();
  return report;
}

constexpr const char* kHeading =
    R"(model mini (the hub is out of reach) · 4 layers · 4.3 M parameters · 2 prompts × 60 tokens
A  torch 1.10.1  avx2  MKL 2020.0  1 thread  january-2022
B  torch 1.13.1  avx2  MKL 2020.0  1 thread  december-2022  ATEN_CPU_CAPABILITY=avx2

)";

constexpr const char* kEnding = R"(
verdict  tokens changed in 1 of 2 prompts
  8 of 12 steps changed, in 2 of 2 prompts (0 at the first step)
  largest change of a logit 3.05e-05
  earliest changed token: prompt 2, step 2, sample, attributed to logits and sampler
  closest call: gap 0.0124 at prompt 1, step 3 of B, 650 × the largest change of any gap
next     do tokens still change when both sides draw alike?
           driftaudit audit january-2022 december-2022 --env B:ATEN_CPU_CAPABILITY=avx2 --sampler fixed
         how do the sides compare past the changed token?
           driftaudit audit january-2022 december-2022 --env B:ATEN_CPU_CAPABILITY=avx2 --on-divergence force
)";

TEST(ReportTable, ShowsAWholeAuditIn120Columns) {
  EXPECT_EQ(
      report_table(audit_report(), false, 120),
      std::string(kHeading) +
          R"(greedy                            tokens  text  changed from  max |Δlogit|  smallest gap
  1  The capital of France is          5  same        step 2      3.05e-05        0.0124
  2  Q: What is 17 times 23?\nA:       3  same        step 2      3.05e-05        0.0124

sample                            tokens  text     changed from  max |Δlogit|  smallest gap  ends by
  1  The capital of France is          5  same           step 2      3.05e-05        0.0124
  2  Q: What is 17 times 23?\nA:       3  changed        step 2      3.05e-05        0.0124  A length, B eos
  prompt 2: the token of step 2 changed, attributed to logits and sampler
    A   the[ King] said
    B   the[ Queen] said
)" + kEnding);
}

TEST(ReportTable, CutsPromptsAndWrapsSentencesFor80Columns) {
  const std::string table = report_table(audit_report(), false, 80);
  EXPECT_THAT(table, HasSubstr(
                         R"(
greedy                    tokens  text  changed from  max |Δlogit|  smallest gap
  1  The capital of Fra…       5  same        step 2      3.05e-05        0.0124
  2  Q: What is 17 time…       3  same        step 2      3.05e-05        0.0124
)"));
  EXPECT_THAT(table, HasSubstr(
                         R"(
  closest call: gap 0.0124 at prompt 1, step 3 of B, 650 × the largest change of
    any gap
)"));
}

TEST(ReportTable, ColoursOnlyWhatChanged) {
  std::string table = report_table(audit_report(), true, 120);
  EXPECT_THAT(table, HasSubstr("      3  \x1b[31mchanged\x1b[0m        step 2"));
  EXPECT_THAT(table, HasSubstr("    A   the\x1b[32m King\x1b[0m said\n"));
  EXPECT_THAT(table, HasSubstr("    B   the\x1b[31m Queen\x1b[0m said\n"));
  std::size_t escapes = 0;
  for (std::size_t at = 0; (at = table.find('\x1b', at)) != std::string::npos; ++at) {
    ++escapes;
  }
  EXPECT_EQ(escapes, 6U);
  EXPECT_THAT(report_table(identical_report(), true, 80), Not(HasSubstr("\x1b")));
}

TEST(ReportTable, ShowsEqualSides) {
  EXPECT_EQ(
      report_table(identical_report(), false, 80),
      R"(model mini (the hub is out of reach) · 4 layers · 4.3 M parameters · 1 prompt × 60 tokens
A  torch 1.10.1  avx2  MKL 2020.0  1 thread  january-2022
B  torch 1.13.1  avx2  MKL 2020.0  1 thread  december-2022

greedy                    tokens  text  changed from  max |Δlogit|  smallest gap
  1  The capital of Fra…       5  same             –             0           0.5

verdict  identical
  the logits of all 3 compared steps are the same bytes
  closest call: gap 0.5 at prompt 1, step 1 of A
next     does it hold over more text?
           driftaudit audit january-2022 december-2022 --mode greedy --prompts alice-200
)");
}

TEST(ReportTable, ShowsAScoredText) {
  EXPECT_THAT(report_table(scored_report(), false, 80), HasSubstr(
                                                            R"(
score              positions  changed from  top token from  max |Δlogit|    max KL
  1  The capital…          3        step 1               –      3.05e-05  2.50e-10
  perplexity     A 23.456789 · B 23.456801
  KL(A‖B), nats  50 % 1.00e-11 · 90 % 5.00e-11 · 99 % 2.00e-10 · 100 % 2.50e-10
  top token      the same at 100 % of 3 positions

verdict  same tokens, other bits
)"));
}

TEST(ReportTable, AlignsWideCharactersByColumns) {
  Report report = audit_report();
  for (drift::Run& run : report.runs) {
    if (run.prompt == 2) {
      run.prompt_text = "東京はどこ 😀";
    }
  }
  EXPECT_THAT(report_table(report, false, 120), HasSubstr(
                                                    R"(
greedy                         tokens  text  changed from  max |Δlogit|  smallest gap
  1  The capital of France is       5  same        step 2      3.05e-05        0.0124
  2  東京はどこ 😀                  3  same        step 2      3.05e-05        0.0124
)"));
}

TEST(ReportTable, NeverPassesControlCharactersOn) {
  Report report = audit_report();
  report.runs[0].prompt_text = "a\x1b[31mb";
  report.builds[0].label = "x\x1b]0;y\x07";
  report.tokens[11] = "\x1b[2J";
  EXPECT_THAT(report_table(report, false, 120), Not(HasSubstr("\x1b")));
  EXPECT_THAT(report_markdown(report), Not(HasSubstr("\x1b")));
}

TEST(ReportTable, NamesASideThatIsNotRepeatableFirst) {
  Report report = audit_report();
  report.builds[1].repeatable = false;
  report.builds[1].threads = 4;
  const std::string table = report_table(report, false, 120);
  EXPECT_THAT(table, StartsWith("warning  B (december-2022) is not repeatable: "));
  EXPECT_THAT(table, HasSubstr("--threads 1\n"));
  EXPECT_THAT(verdict_sentence(report), StartsWith("B (december-2022) is not repeatable: "));
  EXPECT_THAT(report_markdown(report), HasSubstr("**Warning:** B (december-2022) is not"));
}

TEST(ReportTable, SaysWhichOfManyPromptsAreLeftOut) {
  Report report = identical_report();
  report.comparison.clear();
  for (std::uint32_t prompt = 1; prompt <= 50; ++prompt) {
    for (std::uint32_t side = 0; side < 2; ++side) {
      report.runs.push_back(report.runs[side]);
      report.runs.back().prompt = prompt;
      report.runs.back().prompt_text = "opening";
    }
    PromptComparison p;
    p.mode = "greedy";
    p.prompt = prompt;
    p.steps = 3;
    p.smallest_gap = SmallestGap{100.0 - prompt, prompt, 1, 'A'};
    report.comparison.push_back(p);
  }
  report.comparison[1].first_token_change = 2;
  report.comparison[1].token_change_cause = TokenChangeCause::kLogits;
  const std::string table = report_table(report, false, 80);
  EXPECT_THAT(table, HasSubstr("\n   2  opening"));  // its text changed
  EXPECT_THAT(table, HasSubstr("\n  32  opening"));  // the 19 smallest gaps
  EXPECT_THAT(table, Not(HasSubstr("\n  31  opening")));
  EXPECT_THAT(table, HasSubstr("  … and 30 prompts of unchanged text or wider gaps"));
}

TEST(ReportTable, ShowsNoMoreThanAFewDivergedTexts) {
  Report report = audit_report();
  report.comparison.assign(9, report.comparison.back());
  const std::string table = report_table(report, false, 80);
  EXPECT_THAT(table, HasSubstr("  … and 4 prompts more with a changed token"));
}

TEST(ReportTable, FitsALongContinuationIntoTheWidth) {
  Report report = audit_report();
  for (drift::Run& run : report.runs) {
    const std::vector<Step> steps = run.steps;
    for (int i = 0; i < 30; ++i) {
      run.steps.insert(run.steps.begin(), made_step(10, -1, 1));
      run.steps.push_back(made_step(12, -1, 1));
    }
  }
  report.comparison.back().first_token_change = 32;
  const std::string table = report_table(report, false, 80);
  const std::size_t begin = table.find("    B  ");
  const std::string line = table.substr(begin, table.find('\n', begin) - begin);
  EXPECT_THAT(line, AllOf(HasSubstr("  …the the the"), HasSubstr("[ Queen] said"),
                          ::testing::EndsWith("…")));
  EXPECT_EQ(display_width(line), 80U);
}

TEST(ReportTable, ShowsBsOwnChoiceWhereTheTokenWasImposed) {
  Report report = audit_report();
  report.settings.on_divergence = "force";
  for (drift::Run& run : report.runs) {
    if (run.build == 1 && run.mode == "sample") {
      run.steps[1].fed = 11;
    }
  }
  const std::string table = report_table(report, false, 80);
  EXPECT_THAT(table, HasSubstr("    B   the[ Queen] said\n"));
  EXPECT_THAT(table, Not(HasSubstr("past the changed token")));
}

TEST(ReportTable, SuggestsTheSameRunWithAllItsSettings) {
  Report report = audit_report();
  report.settings.top_k = 0;
  report.settings.seed = 7;
  report.settings.temperature = 2.5;
  report.settings.cache = false;
  report.settings.ignore_eos = true;
  report.settings.on_divergence = "force";
  report.builds[1].threads = 2;
  EXPECT_THAT(report_table(report, false, 120),
              HasSubstr("december-2022 --top-k 0 --seed 7 --temperature 2.5 --on-divergence force "
                        "--ignore-eos --no-cache --env B:ATEN_CPU_CAPABILITY=avx2 --threads B:2 "));
}

TEST(ReportTable, SuggestsOnlyWhatRunsInBatches) {
  Report report = audit_report();
  report.settings.batch = 4;
  const std::string table = report_table(report, false, 120);
  EXPECT_THAT(table, HasSubstr("in batches of 4\n"));
  EXPECT_THAT(table, HasSubstr("driftaudit audit january-2022 december-2022 --batch 4 "));
  EXPECT_THAT(table, Not(HasSubstr("driftaudit localize")));
  EXPECT_THAT(table, Not(HasSubstr("--on-divergence force")));
  for (BuildRecord& build : report.builds) {
    build.knobs.clear();
  }
  report.settings.sampler = "fixed";
  EXPECT_THAT(report_table(report, false, 120),
              HasSubstr("driftaudit bisect 1.10.1 1.13.1 --batch 4\n"));
}

TEST(VerdictSentence, SaysWhatChangedAndHowCloseTheNearestTokenCame) {
  Report report = audit_report();
  report.summary.verdict = "same_tokens";
  report.summary.first_steps_changed = 1;
  for (PromptComparison& p : report.comparison) {
    p.first_token_change.reset();
  }
  EXPECT_EQ(verdict_sentence(report),
            "same tokens, other bits: 8 of 12 steps changed, in 2 of 2 prompts (1 at the first "
            "step); largest change of a logit 3.05e-05; closest call: gap 0.0124 at prompt 1, step "
            "3 of B, 650 × the largest change of any gap; no greedy token could have flipped: each "
            "gap is over 2 × its step's largest change of a logit.");
  report.summary.steps_flip_possible = 1;
  EXPECT_THAT(verdict_sentence(report), HasSubstr("at 1 greedy step a flip isn't ruled out"));
  report.basis = "top64";
  EXPECT_THAT(verdict_sentence(report), HasSubstr("largest change of a logit at least 3.05e-05"));
}

TEST(VerdictSentence, NeverCallsNumbersThatAreNotFiniteIdenticalWithoutSayingSo) {
  Report report = identical_report();
  report.summary.non_finite = 6;
  EXPECT_THAT(verdict_sentence(report),
              AllOf(StartsWith("identical, but with numbers that aren't finite"),
                    HasSubstr("6 logits are NaN or infinite")));
}

TEST(VerdictSentence, SaysWhenNothingWasCompared) {
  EXPECT_EQ(verdict_sentence(Report{}), "nothing was compared.");
}

TEST(Suggestions, SetAVariableOnce) {
  Report report = scored_report();
  report.builds[0].knobs = report.builds[1].knobs = {{"ATEN_CPU_CAPABILITY", "avx2"}};
  const std::string table = report_table(report, false, 80);
  EXPECT_THAT(table, HasSubstr("--env '*:ATEN_CPU_CAPABILITY=default'"));
  EXPECT_THAT(table, Not(HasSubstr("audit january-2022 december-2022 --env ATEN_CPU_CAPABILITY")));
}

TEST(Suggestions, AskForTheReleaseWhereBothAreReleases) {
  Report report = scored_report();
  EXPECT_THAT(report_table(report, false, 80), HasSubstr("driftaudit bisect 1.10.1 1.13.1"));
  report.builds[1].torch = "1.13.1+cu117";
  EXPECT_THAT(report_table(report, false, 80), HasSubstr("driftaudit bisect 1.10.1 1.13.1"));
  report.builds[1].torch = "2.0.0a0+git1234";
  EXPECT_THAT(report_table(report, false, 80), Not(HasSubstr("driftaudit bisect")));
  report.builds[1] = report.builds[0];
  EXPECT_THAT(report_table(report, false, 80), Not(HasSubstr("driftaudit bisect")));
}

TEST(ReportTable, MarksWhatKeptLogitsCanOnlyBound) {
  const std::string table = report_table(kept_report(), false, 100);
  EXPECT_THAT(table, HasSubstr("≥ 3.05e-05"));
  EXPECT_THAT(table, HasSubstr("of 2 changed steps only the kept logits (top64) were compared"));
  EXPECT_THAT(table, HasSubstr("largest change of a logit at least 3.05e-05"));
  EXPECT_THAT(table, HasSubstr("the kept logits show no flip, but can't rule one out"));
  EXPECT_THAT(report_table(scored_report(), false, 100), Not(HasSubstr("≥")));
  EXPECT_THAT(report_markdown(kept_report()), HasSubstr("≥ 3.05e-05"));
}

TEST(ReportTable, SaysWhichGatesTrippedAndWhy) {
  const std::string table = report_table(kept_report(), false, 100);
  EXPECT_THAT(table, HasSubstr("tripped  --max-logit-diff 0.001: undecided"));
  EXPECT_THAT(table, Not(HasSubstr("--fail-on tokens"))) << "passed";
  const std::string markdown = report_markdown(kept_report());
  EXPECT_THAT(markdown, HasSubstr("| `--fail-on tokens` | passed | no token changed |"));
  EXPECT_THAT(markdown, HasSubstr("| `--max-logit-diff 0.001` | **tripped** |"));
}

TEST(ReportTable, WarnsFirstOfConditionsThatDiffer) {
  EXPECT_THAT(report_table(kept_report(), false, 200),
              StartsWith("warning  the sides ran under different conditions, which may explain a "
                         "change: A ran on another processor"));
  EXPECT_THAT(report_table(kept_report(), false, 200),
              HasSubstr("recorded 2026-01-30T12:00:00Z in base.json"));
}

TEST(ReportTable, OfARecordingShowsItsRuns) {
  Report report = identical_report();
  report.kind = "record";
  report.builds.resize(1);
  report.runs.resize(1);
  report.comparison.clear();
  report.by_mode.clear();
  report.summary = Summary{};
  const std::string table = report_table(report, false, 100);
  EXPECT_THAT(table, HasSubstr("The capital of France is       5      3           0.5   length"));
  EXPECT_THAT(table, HasSubstr("verdict  recorded\n  3 steps in 1 run\n  smallest gap 0.5 at "
                               "prompt 1, step 1"));
  EXPECT_THAT(table, Not(HasSubstr("next")));
}

TEST(Suggestions, AskForGenericKernelsUnlessTheyRan) {
  Report report = scored_report();
  EXPECT_THAT(report_table(report, false, 80), HasSubstr("--env '*:ATEN_CPU_CAPABILITY=default'"));
  report.builds[0].cpu_capability = report.builds[1].cpu_capability = "DEFAULT";
  EXPECT_THAT(report_table(report, false, 80), Not(HasSubstr("--env")));
}

TEST(Suggestions, KeepWhatTheReportWasMadeWith) {
  Report report = identical_report();
  report.model.name = "my models/it's";
  report.model.why = "";
  report.prompts = "alice-200";
  report.settings.new_tokens = 100;
  EXPECT_THAT(report_table(report, false, 80),
              HasSubstr("driftaudit audit january-2022 december-2022 --model 'my models/it'\\''s' "
                        "--prompts alice-200 --mode greedy --new-tokens 200\n"));
}

TEST(Suggestions, KeepTheOutputHeadThatWasAskedFor) {
  Report report = identical_report();
  report.model.why = "";
  report.model.output_head = "stored";
  EXPECT_THAT(report_table(report, false, 80), Not(HasSubstr("--output-head")));
  report.model.output_head_asked = true;
  EXPECT_THAT(report_table(report, false, 80), HasSubstr("--model mini --output-head stored"));
}

TEST(ReportTable, WarnsOfTheModelFirst) {
  Report report = identical_report();
  report.model.warnings = {"the checkpoint's head differs"};
  EXPECT_THAT(report_table(report, false, 80),
              HasSubstr("warning  the checkpoint's head differs\n"));
  EXPECT_THAT(verdict_sentence(report), StartsWith("the checkpoint's head differs; "));
}

TEST(ReportMarkdown, HoldsTheSameContent) {
  EXPECT_EQ(report_markdown(audit_report()),
            R"(## driftaudit: tokens changed in 1 of 2 prompts

Model mini (the hub is out of reach) · 4 layers · 4.3 M parameters · 2 prompts × 60 tokens

| side | torch | kernels | BLAS | threads | name | knobs |
| --- | --- | --- | --- | --- | --- | --- |
| A | torch 1.10.1 | avx2 | MKL 2020.0 | 1 thread | january-2022 |  |
| B | torch 1.13.1 | avx2 | MKL 2020.0 | 1 thread | december-2022 | ATEN\_CPU\_CAPABILITY=avx2 |

| greedy | tokens | text | changed from | max \|Δlogit\| | smallest gap | ends by |
| --- | --- | --- | --- | --- | --- | --- |
| 1. The capital of France is | 5 | same | step 2 | 3.05e-05 | 0.0124 |  |
| 2. Q: What is 17 times 23?\\nA: | 3 | same | step 2 | 3.05e-05 | 0.0124 |  |

| sample | tokens | text | changed from | max \|Δlogit\| | smallest gap | ends by |
| --- | --- | --- | --- | --- | --- | --- |
| 1. The capital of France is | 5 | same | step 2 | 3.05e-05 | 0.0124 |  |
| 2. Q: What is 17 times 23?\\nA: | 3 | **changed** at step 2 (logits and sampler) | step 2 | 3.05e-05 | 0.0124 | A length, B eos |

- 8 of 12 steps changed, in 2 of 2 prompts (0 at the first step)
- largest change of a logit 3.05e-05
- earliest changed token: prompt 2, step 2, sample, attributed to logits and sampler
- closest call: gap 0.0124 at prompt 1, step 3 of B, 650 × the largest change of any gap

Next: do tokens still change when both sides draw alike?

    driftaudit audit january-2022 december-2022 --env B:ATEN_CPU_CAPABILITY=avx2 --sampler fixed

Next: how do the sides compare past the changed token?

    driftaudit audit january-2022 december-2022 --env B:ATEN_CPU_CAPABILITY=avx2 --on-divergence force
)");
  EXPECT_THAT(
      report_markdown(scored_report()),
      AllOf(HasSubstr("| 1. The capital of France is | 3 | step 1 | – | 3.05e-05 | 2.50e-10 |"),
            HasSubstr("- perplexity: A 23.456789 · B 23.456801\n")));
}

/// Two builds of which each has both kinds of attention.
Report of_new_builds(Attention kind) {
  Report report = scored_report();
  report.builds[0].torch = "2.5.1";
  report.builds[1].torch = "2.8.0";
  for (BuildRecord& build : report.builds) {
    build.attention.kind = kind;
  }
  return report;
}

TEST(ReportTable, SaysWhichAttentionWhereThereIsAChoice) {
  EXPECT_THAT(report_table(scored_report(), false, 120), Not(HasSubstr("attention")));
  Report report = of_new_builds(Attention::kSdpa);
  EXPECT_THAT(report_table(report, false, 120), HasSubstr("  1 thread  sdpa attention  january"));
  EXPECT_THAT(report_markdown(report), AllOf(HasSubstr("| threads | attention | name |"),
                                             HasSubstr("| 1 thread | sdpa | january-2022 |")));
  report = of_new_builds(Attention::kEager);
  report.builds[1].attention.scale = ScoreScale::kMultiply;
  EXPECT_THAT(report_table(report, false, 120),
              AllOf(HasSubstr("  1 thread  eager attention                               january"),
                    HasSubstr("  eager attention (scaled as transformers 5.4)  december")));
}

TEST(ReportTable, SaysInOneWordWhatAllBuildsOfARangeComputed) {
  Report report = bisect_report();
  EXPECT_THAT(report_table(report, false, 120), Not(HasSubstr("attention")));
  for (BuildRecord& build : report.builds) {
    build.torch = "2.8.0";
    build.attention.kind = Attention::kSdpa;
  }
  EXPECT_THAT(report_table(report, false, 120), HasSubstr(" · sdpa attention · prompts eight"));
  report.builds[0].attention = {Attention::kEager, ScoreScale::kMultiply, {}, {}};
  EXPECT_THAT(report_table(report, false, 120), Not(HasSubstr("attention")));
  for (BuildRecord& build : report.builds) {
    build.attention.kind = Attention::kEager;
  }
  EXPECT_THAT(report_table(report, false, 120),
              HasSubstr(" · eager attention (scaled as each build's transformers) · "));
}

TEST(Suggestions, SpellAttentionOutWhereTheDefaultIsAnother) {
  EXPECT_THAT(report_table(of_new_builds(Attention::kSdpa), false, 120),
              Not(HasSubstr("--attention")));
  const std::string eager = report_table(of_new_builds(Attention::kEager), false, 120);
  EXPECT_THAT(eager, HasSubstr("driftaudit bisect 2.5.1 2.8.0 --attention eager\n"));
  EXPECT_THAT(eager, HasSubstr("--attention eager --env '*:ATEN_CPU_CAPABILITY=default'"));
  Report report = of_new_builds(Attention::kSdpa);
  report.builds[1].attention.kind = Attention::kEager;
  const std::string mixed = report_table(report, false, 120);
  EXPECT_THAT(mixed, Not(HasSubstr("driftaudit bisect"))) << "that has no sides";
  EXPECT_THAT(mixed, HasSubstr(" --attention B:eager "));
}

TEST(Suggestions, NeverSendAVenvsAttentionToReleasesThatHaveAnother) {
  Report report = of_new_builds(Attention::kEager);
  report.builds[1].attention.transformers = "4.41.2";
  EXPECT_THAT(
      report_table(report, false, 120),
      AllOf(HasSubstr("driftaudit bisect 2.5.1 2.8.0 --attention eager\n"),
            HasSubstr("driftaudit audit january-2022 december-2022 --text text.txt --mode score "
                      "--env")))
      << "the same two builds choose the same again, releases don't";
  report.builds[1].attention.transformers = "5.0.0";
  report.builds[0].attention.scale = report.builds[1].attention.scale = ScoreScale::kMultiply;
  EXPECT_THAT(report_table(report, false, 120), HasSubstr("driftaudit bisect"));
  report.model.n_head = 32;  // heads of 8
  EXPECT_THAT(report_table(report, false, 120), Not(HasSubstr("driftaudit bisect")));
}

TEST(ReportTable, SpellsDtypeAndConditionsOutAgain) {
  Report report = audit_report();
  report.settings.dtype = "bfloat16";
  report.builds[0].conditions.alignment = 16;
  report.builds[1].conditions.flush_denormals = true;
  const std::string table = report_table(report, false, 200);
  EXPECT_THAT(table, HasSubstr(" parameters · bfloat16"));
  EXPECT_THAT(table, HasSubstr("alignment=16"));
  EXPECT_THAT(table, HasSubstr("denormals=flush"));
  EXPECT_THAT(table, HasSubstr(" --dtype bfloat16"));
  EXPECT_THAT(table, HasSubstr(" --condition A:alignment=16 --condition B:denormals=flush"));
  EXPECT_THAT(table, Not(HasSubstr("driftaudit localize")));
  report.builds[1].conditions = report.builds[0].conditions;
  EXPECT_THAT(report_table(report, false, 200), HasSubstr(" --condition alignment=16"));
}

TEST(VerdictSentence, NamesTies) {
  Report report = audit_report();
  report.summary.ties = 2;
  EXPECT_THAT(verdict_sentence(report),
              HasSubstr("at 2 greedy steps the two highest logits are equal, and the lower id is "
                        "chosen"));
}

}  // namespace
}  // namespace drift
