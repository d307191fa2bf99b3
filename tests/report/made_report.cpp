#include "report/made_report.hpp"

#include <limits>

namespace drift {
namespace {

BuildRecord build(const std::string& label, const std::string& torch, const std::string& blas) {
  BuildRecord b;
  b.label = label;
  b.torch = torch;
  b.torch_git = "302ee7bfb604ebef384602c56e3853efed262030";
  b.libtorch_sha256 = std::string(64, 'a');
  b.cpu_capability = "AVX2";
  b.blas = blas;
  b.threads = 1;
  b.blas_threads = 1;
  b.blas_dispatch = "avx2";
  b.string_abi = "old";
  b.repeatable = true;
  b.tokens_per_second = 812.5;
  b.peak_memory_bytes = 123456789;
  return b;
}

Run run(std::uint32_t side, const std::string& mode, std::uint32_t prompt) {
  Run r;
  r.build = side;
  r.mode = mode;
  r.prompt = prompt;
  r.prompt_text = prompt == 1 ? "The capital of France is" : "Q: What is 17 times 23?\nA:";
  r.prompt_ids = prompt == 1 ? std::vector<std::int32_t>{464, 3139, 286, 4881, 318}
                             : std::vector<std::int32_t>{48, 25, 1867};
  for (std::int32_t i = 0; i < 3; ++i) {
    r.steps.push_back(made_step(10 + i, -31.25F - static_cast<float>(i), 0.5));
    if (mode == "sample") {
      r.steps.back().draw_digest = 0x1234abcd;
    }
  }
  r.text = " the King said";
  return r;
}

PromptComparison compared(const std::string& mode, std::uint32_t prompt) {
  PromptComparison p;
  p.mode = mode;
  p.prompt = prompt;
  p.steps = 3;
  p.steps_changed = 2;
  p.first_changed_step = 2;
  p.max_abs_logit_diff = 3.0517578125e-05;
  p.max_ulp = 4;
  p.max_gap_change = 1.9073486328125e-05;
  p.max_kl = 1.5e-11;
  p.smallest_gap = SmallestGap{0.0124, prompt, 3, 'B'};
  p.min_step_margin = 650.0;
  return p;
}

void fill_summary(Summary& s) {
  s.verdict = "same_tokens";
  s.steps = 6;
  s.steps_changed = 4;
  s.prompts = 2;
  s.prompts_changed = 2;
  s.max_abs_logit_diff = 3.0517578125e-05;
  s.smallest_gap = SmallestGap{0.0124, 1, 3, 'B'};
  s.max_gap_change = 1.9073486328125e-05;
  s.margin = 650.117;
  s.min_step_margin = 650.0;
}

void diverge(Report& report) {
  // Prompt 2, sampled: B's second token is another one.
  for (Run& r : report.runs) {
    if (r.build == 1 && r.mode == "sample" && r.prompt == 2) {
      r.steps[1].token = 14;
      r.text = " the Queen said";
      r.stopped = Stop::kEndOfText;
    }
  }
  PromptComparison& p = report.comparison.back();
  p.steps = 2;
  p.steps_changed = 1;
  p.first_token_change = 2;
  p.token_change_cause = TokenChangeCause::kBoth;
  p.steps_not_compared = 1;
  report.summary.verdict = "diverged";
  report.by_mode[1].second.verdict = "diverged";
}

}  // namespace

void fill_head(Report& report) {
  report.tool = "driftaudit 0.1.0";
  report.created = "2026-01-31T12:00:00Z";
  report.host = {"AMD EPYC 7713", "Debian GNU/Linux 12", "Linux 6.1.0", 2, {"avx", "fma", "avx2"}};
  report.model = {"mini",
                  "the hub is out of reach",
                  "models/mini",
                  std::string(64, 'c'),
                  "float16",
                  4,
                  256,
                  4,
                  512,
                  4096,
                  4340000,
                  "",
                  false,
                  0,
                  {}};
  report.prompts = "eight";
  report.settings.modes = {"greedy", "sample"};
  report.builds = {build("january-2022", "1.10.1", "MKL 2020.0"),
                   build("december-2022", "1.13.1", "MKL 2020.0")};
  report.tokens = {{10, " the"}, {11, " King"}, {12, " said"}, {13, "\xe2\x80"}, {14, " Queen"}};
}

Step made_step(std::int32_t token, float logit, double gap) {
  Step s;
  s.token = token;
  s.logit = logit;
  s.top = {{token, logit}, {token + 1, logit - static_cast<float>(gap)}};
  s.gap = gap;
  s.logsumexp = double{logit} + 0.7;
  s.digest = std::string(31, '0') + static_cast<char>('0' + token % 10);
  return s;
}

Report made_report() {
  Report report;
  fill_head(report);
  report.builds[1].knobs = {{"ATEN_CPU_CAPABILITY", "avx2"}};
  report.builds[1].blas_threads.reset();
  report.builds[1].repeatable.reset();
  report.builds[1].peak_address_bytes = 987654321;
  report.builds[1].doubtful_settings = {
      {"ONEDNN_MAX_CPU_ISA", "AVX2", "unknown", "oneDNN doesn't say"}};
  report.builds[1].log = "a warning \x1b[31m and a stray byte \xff and \\x41\n";
  for (const char* mode : {"greedy", "sample"}) {
    for (std::uint32_t prompt = 1; prompt <= 2; ++prompt) {
      report.runs.push_back(run(0, mode, prompt));
      report.runs.push_back(run(1, mode, prompt));
      report.comparison.push_back(compared(mode, prompt));
    }
    report.by_mode.emplace_back(mode, Summary{});
    fill_summary(report.by_mode.back().second);
  }
  Step& odd = report.runs[0].steps[1];
  odd.fed = 14;
  odd.non_finite = 2;
  odd.top.push_back({13, -std::numeric_limits<float>::infinity()});
  odd.top.push_back({14, std::numeric_limits<float>::quiet_NaN()});
  odd.logsumexp = std::numeric_limits<double>::infinity();
  report.runs[1].steps[0].logit = -0.0F;
  report.runs[1].steps[0].given = 11;
  report.runs[1].steps[0].given_logprob = -0.1;
  report.runs[1].text += "\xff\\xff";
  fill_summary(report.summary);
  report.summary.steps = 12;
  report.summary.steps_changed = 8;
  diverge(report);
  return report;
}

Report identical_report() {
  Report report;
  fill_head(report);
  report.settings.modes = {"greedy"};
  report.runs = {run(0, "greedy", 1), run(1, "greedy", 1)};
  PromptComparison p;
  p.mode = "greedy";
  p.prompt = 1;
  p.steps = 3;
  p.max_gap_change = 0;
  p.max_kl = 0;
  p.smallest_gap = SmallestGap{0.5, 1, 1, 'A'};
  report.comparison = {p};
  report.summary.steps = 3;
  report.summary.prompts = 1;
  report.summary.smallest_gap = p.smallest_gap;
  report.summary.max_gap_change = 0;
  report.by_mode = {{"greedy", report.summary}};
  return report;
}

Report kept_report() {
  Report report = identical_report();
  report.kind = "compare";
  report.basis = "top64";
  report.settings.dtype = "bfloat16";
  report.builds[0].conditions = {2, std::uint64_t{3} << 30U, 16, true};
  report.builds[0].recorded =
      RecordedBuild{"base.json", "driftaudit 0.1.0", "2026-01-30T12:00:00Z", report.host};
  PromptComparison& p = report.comparison[0];
  p.steps_changed = p.steps_on_kept = 2;
  p.gap_changes_unknown = 1;
  p.ties = 1;
  p.first_changed_step = 2;
  p.max_abs_logit_diff = 3.0517578125e-05;
  p.max_kl.reset();
  Summary& s = report.summary;
  s.verdict = "same_tokens";
  s.steps_changed = s.steps_on_kept = 2;
  s.gap_changes_unknown = 1;
  s.ties = 1;
  s.prompts_changed = 1;
  s.max_abs_logit_diff = p.max_abs_logit_diff;
  report.by_mode = {{"greedy", s}};
  report.warnings = {"A ran on another processor: AMD EPYC 7713"};
  report.gates = {
      {"--fail-on tokens", false, "no token changed"},
      {"--max-logit-diff 0.001", true, "undecided: of 2 changed steps only kept logits"}};
  report.logits = LogitsRecord{"base.logits", 1234, std::string(64, 'b')};
  return report;
}

Report scored_report() {
  Report report = identical_report();
  report.settings.modes = {"score"};
  report.settings.text = "text.txt";
  for (Run& r : report.runs) {
    r.mode = "score";
    r.stopped = Stop::kFed;
    for (Step& s : r.steps) {
      s.given = s.token;
      s.given_logprob = -0.7;
    }
  }
  PromptComparison& p = report.comparison[0];
  p.mode = "score";
  p.steps_changed = 3;
  p.first_changed_step = 1;
  p.max_abs_logit_diff = 3.0517578125e-05;
  p.max_kl = 2.5e-10;
  Summary& s = report.summary;
  s.verdict = "same_tokens";
  s.steps_changed = 3;
  s.prompts_changed = s.first_steps_changed = 1;
  s.max_abs_logit_diff = p.max_abs_logit_diff;
  s.smallest_gap.reset();
  s.max_gap_change.reset();
  s.perplexity_a = 23.456789;
  s.perplexity_b = 23.456801;
  s.kl_percentiles = {{"50", 1e-11}, {"90", 5e-11}, {"99", 2e-10}, {"100", 2.5e-10}};
  s.top1_agreement = 1;
  report.by_mode = {{"score", s}};
  return report;
}

}  // namespace drift
