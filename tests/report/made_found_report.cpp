// Reports of the kinds that find something: bisect, localize, reveal, sweep, rescore, study.
#include <limits>
#include <tuple>

#include <fmt/core.h>

#include "report/made_report.hpp"

namespace drift {

Report bisect_report() {
  Report report;
  fill_head(report);
  report.kind = "bisect";
  report.settings.modes = {"greedy"};
  report.tokens.clear();
  BisectRecord& b = report.bisect.emplace();
  b.all = true;
  b.probes = 6;
  b.part = BisectPart{"greedy", 2, 1};
  b.max_logit_diff = 0.5;
  const std::string digest = std::string(31, 'd');
  b.candidates = {{"1.10.1", "2021-12-15", "full", true, 0, digest + "0"},
                  {"1.10.2", "2022-01-27", "assumed", {}, {}, {}},
                  {"1.11.0", "2022-03-10", "full", true, 0, digest + "0"},
                  {"1.12.0", "2022-06-28", "full", false, 1, digest + "1"},
                  {"1.12.1", "2022-08-05", "part", false, {}, digest + "2"},
                  {"1.13.0", "2022-10-28", "skipped", {}, {}, {}},
                  {"1.13.1", "2022-12-15", "full", false, 2, digest + "3"}};
  b.boundaries = {{"1.11.0", "1.12.0", true, {}}, {"1.12.0", "1.13.1", false, {"1.13.0"}}};
  b.classes = {{"1.10.1", "1.11.0"}, {"1.12.0"}, {"1.13.1"}};
  b.skipped = {{"1.13.0", "1.13.0: its runner doesn't compile"}};
  b.assumed = {"1.10.2"};
  return report;
}

namespace {

LocalizedOperation localized_operation(const std::string& name, bool same, std::optional<bool> own,
                                       double max_abs) {
  LocalizedOperation operation;
  operation.name = name;
  operation.shape = {1, 2, 1, 9};
  operation.same = same;
  operation.inputs_same = same || (own == true && name.starts_with("block.0."));
  operation.own = own;
  if (own == true) {
    operation.own_change = OwnChange{max_abs / 8, 3};
  }
  if (!same) {
    operation.max_abs_diff = max_abs;
    operation.mean_abs_diff = max_abs / 4;
    operation.max_ulp = 12;
    operation.mean_ulp = 1.5;
  }
  return operation;
}

IsolatedOperation isolated_softmax() {
  IsolatedOperation isolated;
  isolated.operation = "block.0.attn.softmax";
  isolated.function = "softmax";
  isolated.rows = "the last dimension";
  isolated.lengths_tried = {{1, 65}, {127, 129}};
  isolated.lengths_same = {{1, 7}, {9, 9}};
  isolated.lengths_differ = {{8, 8}, {10, 129}};
  isolated.rows_tried = 17408;
  isolated.rows_differ = 6000;
  isolated.share_differ = 0.375;
  isolated.conditions = {{"rows", {1, 2, 7, 64}, {}, {}},
                         {"alignment", {0, 4, 16, 32}, {}, {{64, 129}}},
                         {"threads", {1, 2}, {}, {}}};
  return isolated;
}

}  // namespace

Report localize_report() {
  Report report = identical_report();
  report.kind = "localize";
  report.comparison.clear();
  report.summary = {};
  report.by_mode.clear();
  report.builds[1].libtorch_sha256 = std::string(64, 'b');
  LocalizeRecord& l = report.localize.emplace();
  l.prompt = 1;
  l.step = 2;
  l.cached = true;
  l.memory_budget = 1U << 30U;
  l.first_difference = "block.0.attn.softmax";
  l.own = {"block.0.attn.softmax", "block.1.attn.softmax"};
  l.operations = {localized_operation("embed.sum", true, false, 0),
                  localized_operation("block.0.attn.softmax", false, true, 2.5e-8),
                  localized_operation("block.0.mlp.residual", false, false, 1e-6),
                  localized_operation("block.1.attn.keys", false, false, 2e-6),
                  localized_operation("block.1.attn.softmax", false, true, 5e-8),
                  localized_operation("block.1.mlp.residual", false, false, 3e-6),
                  localized_operation("lm_head", false, std::nullopt, 4e-6)};
  l.operations.back().non_finite = 1;
  l.growth = {{"embeddings", "embed.sum", 0, 0, 0, 0},
              {"block 0", "block.0.mlp.residual", 1e-6, 2.5e-7, 12, 1.5},
              {"block 1", "block.1.mlp.residual", 3e-6, 7.5e-7, 12, 1.5},
              {"lm_head", "lm_head", 4e-6, 1e-6, 12, 1.5}};
  l.reentries = {{"block.1.attn.keys", 2e-6, 12}};
  l.isolation = {isolated_softmax(),
                 {"ln_f", "fold", "", "its inputs aren't known", {}, {}, {}, 0, 0, {}, {}}};
  l.sources = {{"softmax", "", {"SoftMaxKernel.cpp"}, {"vec_reduce_all"}}};
  l.compare = "https://github.com/pytorch/pytorch/compare/aaaa...bbbb";
  return report;
}

Report reveal_report() {
  Report report;
  fill_head(report);
  report.kind = "reveal";
  report.model = {};
  report.prompts.clear();
  report.settings = {};
  report.tokens.clear();
  const Proof proof{"sleef_expf8_u10", "times the sum's reciprocal", 1000, 1000};
  const Proof short_proof{"exp", "divided by the sum", 1000, 609};
  RevealRecord& r = report.reveal.emplace();
  r.operation = "softmax";
  r.lengths = {2, 4, 5, 6};
  r.sources = {{"softmax", "", {"SoftMaxKernel.cpp"}, {"vec_reduce_all"}}};
  r.compare = "https://github.com/pytorch/pytorch/compare/aaaa...bbbb";
  r.trees = {
      {0, "softmax", 2, "proved", "0+1", "serial", "", "", 3, proof},
      {1, "softmax", 2, "proved", "0+1", "serial", "", "", 3, proof},
      {0, "softmax", 4, "proved", "((0+1)+2)+3", "serial", "", "", 30, proof},
      {1, "softmax", 4, "proved", "(0+2)+(1+3)", "fold 2 apart, neighbours", "", "", 30, proof},
      {0, "softmax", 5, "proved", "(((0+1)+2)+3)+4", "serial", "", "", 40, proof},
      {1, "softmax", 5, "consistent", "((0+2)+(1+3))+4", "fold; then the last 1", "",
       "no exponential at hand replays every row; tried exp", 40, short_proof},
      {0, "softmax", 6, "not explained", "", "", "it adds in no fixed order", "", 50, {}},
      {1, "softmax", 6, "not a sum", "", "", "its means run", "", 50, {}}};
  r.comparisons = {{0, 1, 2, true, true, "both serial"},
                   {0, 1, 4, false, true, "1.10.1: serial; 1.13.1: fold 2 apart, neighbours"},
                   {0, 1, 5, false, false, "1.10.1: serial; 1.13.1: fold; then the last 1"}};
  return report;
}

Report sweep_report() {
  Report report;
  fill_head(report);
  report.kind = "sweep";
  report.settings.modes = {"greedy"};
  report.builds.resize(1);
  report.builds[0].label = "1.10.1";
  report.builds[0].blas_dispatch = "zen";
  report.builds.resize(4, report.builds[0]);
  report.builds[1].blas_dispatch = "avx2";
  report.builds[3].repeatable = false;
  report.tokens = {{10, " the"}, {11, "\n"}};
  SweepRecord& s = report.sweep.emplace();
  s.one_at_a_time = true;
  const auto cell = [&](std::string threads, std::string mkl_cbwr) -> SweepCell& {
    s.cells.emplace_back().build = "1.10.1";
    s.cells.back().knobs = {{"MKL_CBWR", std::move(mkl_cbwr)}, {"threads", std::move(threads)}};
    return s.cells.back();
  };
  const std::string digest = std::string(31, 'd');
  for (const auto& [threads, mkl_cbwr, index] :
       {std::tuple("1", "", 0U), std::tuple("2", "", 1U), std::tuple("1", "AUTO", 0U)}) {
    SweepCell& ran = cell(threads, mkl_cbwr);
    ran.state = "ran";
    ran.digest = digest + std::to_string(index);
    ran.repeatable = true;
    ran.class_index = index;
    ran.ran_as = static_cast<std::uint32_t>(s.cells.size() - 1);
    ran.reports = {fmt::format("cell-{}.json.zst", s.cells.size())};
  }
  SweepCell& odd = cell("1", "AVX");
  odd.state = "nondeterministic";
  odd.repeatable = false;
  odd.ran_as = 3;
  odd.reason = "its two runs differ from step 2 of prompt 1 (greedy) on";
  SweepCell& failed = cell("1", "SSE2");
  failed.state = "failed";
  failed.reason = "killed by signal 4";
  s.classes = {{digest + "0", {0, 2}}, {digest + "1", {1}}};
  const SweepPair pair{0, 1};
  s.knobs.resize(3);
  SweepKnob& threads = s.knobs[0];
  threads.name = "threads";
  threads.values = {"1", "2"};
  threads.moves_bits = threads.moves_tokens = true;
  threads.pairs = threads.pairs_bits = threads.pairs_tokens = 1;
  threads.differing = pair;
  threads.pairs_kernels = 1;
  threads.other_kernels = pair;
  threads.first_token_change = SweepTokenChange{pair, "greedy", 2, 3, 10, 11};
  threads.known = "split sums";
  threads.notes = {"a manual: it shares work out"};
  SweepKnob& variable = s.knobs[1];
  variable.name = "MKL_CBWR";
  variable.values = {"", "AUTO", "AVX", "SSE2"};
  variable.moves_bits = variable.moves_tokens = false;
  variable.pairs = 1;
  variable.known = "pin paths";
  s.knobs[2].name = "cache";
  s.knobs[2].values = {"on", "off"};
  s.knobs[2].idle = SweepIdle{1, "no step follows another"};
  s.cells[0].rescore = SweepRescore{120, 0, 0.001, 1e-6, 1e-5, {}, {}};
  s.cells[1].rescore = SweepRescore{
      120, 31, 0.001, 2e-6, 4.5, {{"greedy", 2, 5, 30, {}, {}}, {"greedy", 4, 7, 1, 3, 6}}, {}};
  s.cells[1].rescore->request_period = RescorePeriod{2, 2};
  s.cells[2].rescore = s.cells[0].rescore;
  threads.failures = SweepKnobFailures{1, 1, pair};
  variable.failures = SweepKnobFailures{1, 0, {}};
  for (SweepCell& each : s.cells) {
    each.knobs["cache"] = "on";
  }
  return report;
}

Report rescore_report() {
  Report report;
  fill_head(report);
  report.kind = "rescore";
  report.settings.modes = {"greedy"};
  report.tokens = {{1, "One"}, {10, " a"}, {11, " b"}, {12, " c"}, {13, " d"}};
  RescoreRecord& r = report.rescore.emplace();
  r.decoded_by = 0;
  r.scored_by = 1;
  r.limit = 1e-3;
  for (std::uint32_t prompt = 1; prompt <= 4; ++prompt) {
    for (std::uint32_t step = 1; step <= 4; ++step) {
      const auto token = static_cast<std::int32_t>(9 + step);
      r.scored.push_back({"greedy", prompt, step, token, -0.5, -0.5 - 1e-6, 1, 0});
    }
    RescoredRequest& request = r.requests.emplace_back();
    request = {"greedy",
               prompt,
               {},
               "One\nday",
               {1},
               4,
               0,
               {},
               {},
               1e-6,
               1e-6,
               {},
               RescoreAlone{{}, 4, 2e-6, {}}};
  }
  for (const std::size_t at : {5, 6, 7, 15}) {
    r.scored[at].logprob_prefill = at == 15 ? std::numeric_limits<double>::quiet_NaN() : -3.25;
    r.scored[at].rank = at == 7 ? 1 : 4;
    r.scored[at].margin = at == 7 ? 0 : 2.75;
    r.outliers.push_back(r.scored[at]);
  }
  r.requests[1].outliers = 3;
  r.requests[1].first_outlier = 2;
  r.requests[1].max = 2.75;
  r.requests[1].answers = RescoreSwap{3, 2};
  r.requests[1].alone = RescoreAlone{2, 1, 1e-6, 3};
  r.requests[2].alone = RescoreAlone{4, 3, 1e-6, {}};
  r.requests[3].outliers = 1;
  r.requests[3].first_outlier = 4;
  r.non_finite = 1;
  r.not_chosen = 3;
  r.noise = RescoreNoise{1e-6, 2e-6, "float32", 9.5e-7, 1e-3, 1e-3};
  r.spread = {{"all", 16, 4, 1e-6, 2.75, 2.75},
              {"early", 8, 1, 1e-6, 2.75, 2.75},
              {"late", 8, 3, 1e-6, 2.75, 2.75}};
  report.gates = {{"--fail-on outliers", true, "4 of 16 tokens are outlying"}};
  return report;
}

Report study_report() {
  Report report = identical_report();
  report.kind = "study";
  report.runs.clear();
  report.tokens.clear();
  report.comparison.clear();
  report.by_mode.clear();
  report.prompts = "eight";
  report.settings.modes = {"greedy", "sample"};
  report.settings.new_tokens = 60;
  report.builds.resize(1);
  report.builds.resize(5, report.builds[0]);
  for (std::size_t i = 0; i < report.builds.size(); ++i) {
    BuildRecord& build = report.builds[i];
    const bool first = i == 0 || i == 3;
    build.label = first ? "1.10.1" : "1.13.1";
    build.torch = build.label + "+cu102";
    build.cpu_capability = i < 3 ? "AVX2" : "DEFAULT";
    build.threads = i == 2 ? 1 : 4;
    build.repeatable = true;
  }
  StudyRecord& s = report.study.emplace();
  s.pairs = {{"upgrade", 0, 1, "greedy", true, 8, 0, 480, 471, 6, 1.07e-4, 1.2e-4},
             {"upgrade", 0, 1, "greedy", false, 8, 0, 480, 470, 6, 1.07e-4, 1.2e-4},
             {"upgrade", 0, 1, "sample", true, 8, 1, 460, 455, 6, 1.07e-4, 1.5e-4},
             {"kernels", 1, 4, "greedy", true, 8, 0, 480, 480, 8, 1e-4, 1.5e-4},
             {"generic upgrade", 3, 4, "greedy", true, 8, 0, 480, 0, 0, 0, 0},
             {"threads", 1, 2, "greedy", true, 8, 0, 480, 3, 1, 2e-5, 2e-5}};
  s.range = {{"1.10.1", 0, "", true, {}, 0, 0, 0},
             {"1.12.0", {}, "it isn't in the cache", {}, {}, 0, 0, 0},
             {"1.13.1", 1, "", true, false, 960, 930, 1}};
  StudyGaps& g = s.gaps;
  g.openings = "alice-200";
  g.prompts = 200;
  g.tokens = 100;
  g.runs = {{"first", 0, 0, 20000, 512.5},          {"last", 1, 1, 20000, 500},
            {"last again", 1, 1, 20000, 501},       {"last, 1 thread", 2, 1, 20000, 300},
            {"first, generic", 3, 2, 20000, 200.5}, {"last, generic", 4, 2, 20000, 210}};
  g.distinct_sets = 3;
  g.smallest = StudyGap{0.0005, 7, 14, 1};
  g.smallest_text = "So she set to work";
  g.largest_change = StudyGapChange{0.0002, 3, 9, 0, 5};
  g.margin = 2.5;
  g.end_steps = 10;
  g.median_first = 0.75;
  g.median_last = 5.5;
  g.loop_share = 0.625;
  g.histogram = {{0.01, 1}, {{1, 50, {0, 4000, 6000}}, {51, 100, {3, 0, 9997}}}};
  s.flips = {{0,
              1,
              {20000,
               19000,
               0,
               3e-5,
               368,
               0.08,
               0.23,
               {4, 2.5, 6.25},
               FlipBasis{500.5, 367, 3.75, 4.5, 4.25, "given"}}},
             {1, 3, {20000, 0, 0, 0, 368, 0.08, 0.23, {0, {}, {}}, {}}}};
  StudySampled& d = s.sampled.emplace();
  d.prompts = 200;
  d.steps = 20000;
  d.loop_share = 0.01;
  d.argmax = {20000, 19500, 1, 3e-5, 368, 0.02, 0.9, {14, 11, 18}, {}};
  d.mean_total_variation = 5e-6;
  d.draws = {8, 7, 9};
  d.same_draws = 20000;
  d.draws_changed = 1;
  return report;
}

}  // namespace drift
