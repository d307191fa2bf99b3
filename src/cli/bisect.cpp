#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "driftaudit/bisect_run.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/operation_question.hpp"
#include "driftaudit/pin.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/report.hpp"

#include "bisect/probe_store.hpp"
#include "cli/attention_options.hpp"
#include "cli/checks.hpp"
#include "cli/planted_fault.hpp"
#include "cli/run_command.hpp"
#include "cli/sided.hpp"

namespace drift {
namespace {

struct BisectOptions {
  std::string first;
  std::string last;
  std::string builds;
  bool all = false;
  bool exhaustive = false;
  bool keep = false;
  std::string measure = "bits";
  double max_logit_diff = -1;  ///< not given: negative
  std::string operation;
  RunOptions run;
  OutputOptions output;
};

/// Options of the run that mean nothing to an operation by itself.
void check_of_operation(const BisectOptions& options) {
  for (const char* name :
       {"--model", "--output-head", "--prompts", "--mode", "--text", "--new-tokens", "--top-k",
        "--seed", "--temperature", "--sampler", "--ignore-eos", "--no-cache", "--batch",
        "--attention", "--on-divergence", "--keep-top"}) {
    if (!options.operation.empty() && options.run.given.contains(name)) {
      throw usage_error(fmt::format("{}: --probe asks no model", name), "leave out one of the two");
    }
  }
}

void check(const BisectOptions& options) {
  check_of_operation(options);
  if (options.builds.empty() && options.last.empty()) {
    throw usage_error("a bisection takes the first and the last release, or a list of builds",
                      "such as driftaudit bisect 1.10.1 1.13.1, or --builds FILE");
  }
  if (options.exhaustive && !options.all) {
    throw usage_error("--exhaustive: only the search for all changes can skip none", "add --all");
  }
  check_alike(options.run, "a bisection runs all builds alike");
  check_run_options(options.run);
  check_outputs(options.output, input_files(options.run, {options.builds}));
}

std::vector<Candidate> candidates_of(const BisectOptions& options) {
  const std::vector<Pin> pins = load_pins();
  return options.builds.empty()
             ? release_candidates(pins, options.first, options.last)
             : listed_candidates(options.builds, pins, options.first, options.last);
}

Measure measure_of(const BisectOptions& options) {
  if (options.max_logit_diff >= 0) {
    return {Measure::Kind::kLogits, options.max_logit_diff};
  }
  return {options.measure == "tokens" ? Measure::Kind::kTokens : Measure::Kind::kBits, 0};
}

/// By what open_build() calls the build.
using AttentionOfBuilds = std::map<std::string, SideAttention>;

/// Of all builds of the range one kind, so that their answers can be compared.
AttentionOfBuilds attention_of(const BisectRequest& request, const BisectOptions& options) {
  AttentionOfBuilds attention;
  if (!options.operation.empty()) {
    return attention;
  }
  std::vector<std::string> builds;
  for (const Candidate& candidate : request.candidates) {
    builds.push_back(candidate.side);
  }
  const std::vector<SideAttention> planned = planned_attention(options.run, builds);
  for (std::size_t i = 0; i < builds.size(); ++i) {
    attention[builds[i]] = planned[i];
  }
  return attention;
}

Side open_candidate(const Candidate& candidate, const RunOptions& options,
                    const AttentionOfBuilds& attention, Progress& progress) {
  const auto own = attention.find(candidate.side);
  Side side = open_side(candidate.side, 0, options,
                        own == attention.end() ? SideAttention{} : own->second, progress);
  side.build.label = candidate.label;
  side.fault = planted_fault(candidate.label);
  return side;
}

BisectRequest request_of_bisection(const BisectOptions& options, Progress& progress) {
  BisectRequest request;
  request.candidates = candidates_of(options);
  request.settings = options.run.settings;
  request.measure = measure_of(options);
  request.all = options.all;
  request.exhaustive = options.exhaustive;
  request.keep = options.keep;
  const AttentionOfBuilds attention = attention_of(request, options);
  request.open = [&options, attention, &progress](const Candidate& candidate) {
    return open_candidate(candidate, options.run, attention, progress);
  };
  const auto own = parse_sided_environment(options.run.environment).of[0];
  const RunnerEnvironment environment = runner_environment(current_environment(), own);
  note_dropped(environment, progress);
  std::vector<SideAttention> of_candidates;
  for (const Candidate& candidate : request.candidates) {
    if (const auto found = attention.find(candidate.side); found != attention.end()) {
      of_candidates.push_back(found->second);
    }
  }
  request.circumstances = running_circumstances(kTool, parse_sided_threads(options.run.threads)[0],
                                                parse_sided_conditions(options.run.conditions)[0],
                                                environment.knobs, of_candidates);
  return request;
}

Report bisect_operation(const BisectOptions& options, BisectRequest request, Progress& progress) {
  request.operation = options.operation;
  request.settings.modes = {"operation"};
  return run_bisect(request, OperationQuestion(options.operation, options.run.runner_timeout),
                    progress);
}

Report bisect_model(const BisectOptions& options, BisectRequest request, Progress& progress) {
  const Model model = open_run_model(options.run, progress);
  const AuditRequest audit = request_of(options.run, model);
  request.prompts = audit.prompts.name;
  request.settings = audit.settings;
  return run_bisect(request, ModelQuestion(audit, model, request.measure), progress);
}

Status bisect_builds(const BisectOptions& options) {
  check(options);
  const std::unique_ptr<Progress> progress = progress_for(options.output.quiet);
  BisectRequest request = request_of_bisection(options, *progress);
  Report report = options.operation.empty()
                      ? bisect_model(options, std::move(request), *progress)
                      : bisect_operation(options, std::move(request), *progress);
  report.tool = kTool;
  put_out(options.output, report);
  return Status::kDone;
}

}  // namespace

void add_bisect_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<BisectOptions>();
  CLI::App* command =
      app.add_subcommand("bisect", "find the release, or the builds, where bits change");
  command->add_option("FIRST", options->first, "a release or a pin's name, such as 1.10.1");
  command->add_option("LAST", options->last, "a later one, such as 1.13.1");
  command->add_option("--builds", options->builds,
                      "a list of builds in order, one a line; FIRST and LAST are then lines of it "
                      "(default: its ends)");
  command->add_flag("--all", options->all, "every change in the range, not only one");
  command->add_flag("--exhaustive", options->exhaustive,
                    "with --all: also what lies between equal builds");
  command->add_flag("--keep", options->keep, "leave in the cache what had to be installed");
  CLI::Option* measure =
      command->add_option("--measure", options->measure, "what has to be equal: bits or tokens")
          ->check(CLI::IsMember({"bits", "tokens"}))
          ->capture_default_str();
  CLI::Option* logits = command
                            ->add_option("--max-logit-diff", options->max_logit_diff,
                                         "instead: no logit may differ by more than this")
                            ->check(number_between(0, 1e30))
                            ->excludes(measure);
  command
      ->add_option("--probe", options->operation,
                   "instead of a model: one operation by itself, such as softmax, by its bits")
      ->check(CLI::IsMember(OperationQuestion::names()))
      ->excludes(measure)
      ->excludes(logits);
  add_run_options(*command, options->run, {"greedy"});
  add_output_options(*command, options->output, "report.json");
  set_action(*command, options, action, bisect_builds);
}

}  // namespace drift
