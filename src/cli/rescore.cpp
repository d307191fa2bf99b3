#include "driftaudit/rescore.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "cli/attention_options.hpp"
#include "cli/checks.hpp"
#include "cli/planted_fault.hpp"
#include "cli/run_command.hpp"
#include "cli/saved_options.hpp"

namespace drift {
namespace {

struct RescoreCommand {
  std::string side;
  std::string against;
  std::string logprobs;
  std::optional<double> outlier;
  LogprobRule rule;
  std::string fail_on = "outliers";
  RunOptions run;
  OutputOptions output;
};

/// The build that scores.
const std::string& scorer_name(const RescoreCommand& options) {
  return options.against.empty() ? options.side : options.against;
}

/// With a file nothing is generated: what generation is asked has no meaning.
void check_logprobs(const RescoreCommand& options) {
  if (!options.against.empty()) {
    throw usage_error("--logprobs: takes one build, the one that scores",
                      "leave out " + options.against);
  }
  for (const char* option :
       {"--prompts", "--mode", "--new-tokens", "--top-k", "--seed", "--temperature", "--sampler",
        "--ignore-eos", "--no-cache", "--batch", "--keep-top"}) {
    if (options.run.given.contains(option)) {
      throw usage_error(fmt::format("{}: nothing is generated with --logprobs", option),
                        "leave it out");
    }
  }
}

void check(const RescoreCommand& options) {
  if (names_report(scorer_name(options))) {
    const bool saved = options.against.empty() && options.logprobs.empty();
    throw usage_error(scorer_name(options) + ": a saved report can't score",
                      saved ? "name a build after it" : "name a build");
  }
  if (has_mode(options.run, "score") || !options.run.text.empty()) {
    throw usage_error("rescore takes generated text: --mode greedy, sample or both",
                      "the mode score of audit scores a text under two builds");
  }
  if (options.run.settings.on_divergence == "force") {
    throw usage_error("--on-divergence force: each build's own text is rescored",
                      "rescore side B of a forced audit's report: report.json:B");
  }
  if (options.logprobs.empty() && options.rule != LogprobRule{}) {
    throw usage_error(
        "--logprobs-temperature, -top-k, -top-p, -base: say how a file's log-probabilities were "
        "made",
        "leave it out, or add --logprobs FILE.jsonl");
  }
  if (!options.logprobs.empty()) {
    check_logprobs(options);
  } else if (!names_report(options.side)) {
    check_run_options(options.run);
  }
  check_outputs(options.output,
                input_files(options.run, {options.side, options.against, options.logprobs}));
}

RescoreRequest request_for(const RescoreCommand& options, Side scorer) {
  RescoreRequest request;
  request.scorer = std::move(scorer);
  request.timeout_seconds = options.run.runner_timeout;
  request.outlier = options.outlier;
  if (options.rule != LogprobRule{}) {
    request.rule = options.rule;
  }
  request.tool = kTool;
  return request;
}

/// Scores a file. Its one build is side A.
Report score_file(const RescoreCommand& options, Progress& progress) {
  const SideAttention attention = planned_attention(options.run, {options.side}).front();
  const Model model = open_run_model(options.run, progress);
  const Side scorer = open_side(options.side, 0, options.run, attention, progress);
  note_side(scorer, 0, progress);
  return rescore_file(options.logprobs, request_for(options, scorer), model, progress);
}

Report score_saved(const RescoreCommand& options, Progress& progress) {
  const SavedSide saved = open_saved_side(options.side, progress);
  const RunOptions run = with_saved_conditions(saved, options.run, 1);
  const SideAttention attention = attention_beside(saved, run, options.against, 1);
  const Model model = open_saved_model(saved, options.run, progress);
  AuditRequest unused;
  adopt_saved(saved, options.run, model, unused);  // refuses what contradicts the recording
  const Side scorer = open_side(options.against, 1, run, attention, progress);
  note_side(scorer, 0, progress);
  Report report = rescore_report(*saved.report, saved.build, saved.name,
                                 request_for(options, scorer), model, progress);
  report.builds[0].recorded = saved.recorded();
  report.warnings = differing_conditions(report);
  return report;
}

/// The requests of a batch, each by itself.
std::vector<DecodedRequest> decoded_alone(AuditRequest request, const Model& model,
                                          Progress& progress) {
  request.settings.batch = 1;
  request.first_prompts_twice = false;
  request.sides[0].fault = planted_fault("alone");
  return decoded_requests(run_audit(request, model, progress), 0);
}

/// Decodes, then scores in another process.
Report score_run(const RescoreCommand& options, Progress& progress) {
  const std::vector<SideAttention> attention =
      planned_attention(options.run, {options.side, scorer_name(options)});
  const Model model = open_run_model(options.run, progress);
  AuditRequest request = request_of(options.run, model);
  request.tool = kTool;
  request.sides = {open_side(options.side, 0, options.run, attention[0], progress)};
  note_side(request.sides[0], 0, progress);
  const Side scorer = open_side(scorer_name(options), 1, options.run, attention[1], progress);
  note_side(scorer, 1, progress);
  const Report decoded = run_audit(request, model, progress);
  Report report = rescore_report(decoded, 0, "", request_for(options, scorer), model, progress);
  report.warnings = differing_conditions(report);
  if (request.settings.batch > 1) {
    compare_alone(decoded_requests(decoded, 0), decoded_alone(request, model, progress),
                  *report.rescore);
  }
  return report;
}

Status rescore_command(const RescoreCommand& options) {
  check(options);
  const std::unique_ptr<Progress> progress = progress_for(options.output.quiet);
  Report report = !options.logprobs.empty()    ? score_file(options, *progress)
                  : names_report(options.side) ? score_saved(options, *progress)
                                               : score_run(options, *progress);
  if (options.fail_on != "never") {
    report.gates = {judge_outliers(*report.rescore)};
  }
  put_out(options.output, report);
  return any_tripped(report.gates) ? Status::kGate : Status::kDone;
}

/// How a file's log-probabilities were made from raw logits.
void add_rule_options(CLI::App& command, LogprobRule& rule) {
  command
      .add_option("--logprobs-temperature", rule.temperature,
                  "the file's log-probabilities are of logits divided by this")
      ->check(number_between(1e-3, 1e3));
  command
      .add_option("--logprobs-top-k", rule.top_k,
                  "they are renormalised over so many highest logits; 0: over all")
      ->check(CLI::Range(0U, 1000000U));
  command
      .add_option("--logprobs-top-p", rule.top_p,
                  "they are renormalised over the smallest set of this probability; 1: over all")
      ->check(number_between(1e-6, 1));
  command.add_option("--logprobs-base", rule.base, "their logarithm's base: 2 or 10 (default: e)")
      ->check(CLI::IsMember({2U, 10U}));
}

}  // namespace

void add_rescore_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RescoreCommand>();
  CLI::App* command = app.add_subcommand(
      "rescore", "decode, then score prompt and text in one prefill, token by token");
  command
      ->add_option("side", options->side,
                   "the build that decodes (a release, a pin's name, a wheel file or a folder), or "
                   "a saved report; with --logprobs the one that scores")
      ->required();
  command->add_option("against", options->against, "the build that scores (default: the same)");
  command->add_option("--logprobs", options->logprobs,
                      "score what a server generated: a file with, on each line, {\"request_id\", "
                      "\"prompt_ids\", \"token_ids\", \"logprobs\"}");
  command
      ->add_option("--outlier", options->outlier,
                   "a token is an outlier where its log-probabilities differ by more (default: "
                   "what the noise and the type's steps allow, at least 0.001)")
      ->check(number_between(0, 1e6));
  add_rule_options(*command, options->rule);
  command->add_option("--fail-on", options->fail_on, "exit with 1 on outliers, or never")
      ->check(CLI::IsMember({"outliers", "never"}))
      ->capture_default_str();
  add_run_options(*command, options->run, {"greedy", "sample"});
  add_output_options(*command, options->output, "report.json");
  set_action(*command, options, action, rescore_command);
}

}  // namespace drift
