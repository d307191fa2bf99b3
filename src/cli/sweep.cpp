#include "driftaudit/sweep.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/measure.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/question.hpp"
#include "driftaudit/rescore.hpp"

#include "audit/sides.hpp"
#include "bisect/probe_store.hpp"
#include "cli/attention_options.hpp"
#include "cli/checks.hpp"
#include "cli/planted_fault.hpp"
#include "cli/run_command.hpp"
#include "cli/sided.hpp"

namespace drift {
namespace {

struct SweepOptions {
  std::vector<std::string> builds;
  std::vector<std::string> knobs;
  std::string preset;
  bool one_at_a_time = false;
  bool product = false;
  std::string keep_cells;
  std::string check;
  std::optional<double> outlier;
  unsigned jobs = 1;
  RunOptions run;
  OutputOptions output;
};

bool is_given_condition(const RunOptions& options, const std::string& name) {
  return std::any_of(options.conditions.begin(), options.conditions.end(),
                     [&](const std::string& text) {
                       return text.starts_with(name + "=") || text.starts_with("*:" + name + "=");
                     });
}

/// An option that a knob sets is the knob's business.
void check_knobs(const SweepOptions& options, const std::vector<Knob>& knobs) {
  const Sided environment = parse_sided_environment(options.run.environment);
  for (const Knob& knob : knobs) {
    const bool twice = (knob.name == "threads" && options.run.given.contains("--threads")) ||
                       (knob.name == "cache" && options.run.no_cache) ||
                       (knob.name == "sampler" && options.run.given.contains("--sampler")) ||
                       (knob.name == "dtype" && options.run.given.contains("--dtype")) ||
                       (knob.name == "batch" && options.run.given.contains("--batch")) ||
                       (knob.name == "attention" && options.run.given.contains("--attention")) ||
                       is_given_condition(options.run, knob.name) ||
                       environment.of[0].contains(knob.name);
    if (twice) {
      throw usage_error(
          fmt::format("{}: is a knob of this sweep and is set by an option too", knob.name),
          "leave out the option; a knob's first value is its base");
    }
  }
}

/// A preset's knobs, then those given; a given one takes its namesake's place.
std::vector<Knob> knobs_of(const SweepOptions& options) {
  const std::vector<Knob> given = parse_knobs(options.knobs);
  std::vector<Knob> knobs =
      options.preset.empty() ? std::vector<Knob>() : preset_knobs(options.preset, this_host());
  for (const Knob& knob : given) {
    const auto at = std::find_if(knobs.begin(), knobs.end(),
                                 [&](const Knob& other) { return other.name == knob.name; });
    if (at == knobs.end()) {
      knobs.push_back(knob);
    } else {
      *at = knob;
    }
  }
  if (knobs.empty() && options.builds.size() < 2) {
    throw usage_error("a sweep of one build takes a knob or a preset",
                      "such as --knob threads=1,2, or --preset study");
  }
  check_knobs(options, knobs);
  return knobs;
}

void check(const SweepOptions& options) {
  for (auto build = options.builds.begin(); build != options.builds.end(); ++build) {
    if (std::find(options.builds.begin(), build, *build) != build) {
      throw usage_error(*build + ": is named twice", "name each build once");
    }
    if (names_report(*build)) {
      throw usage_error(*build + ": is a saved report", "a sweep runs builds; name one");
    }
  }
  check_alike(options.run, "a sweep has no sides");
  if (options.run.given.contains("--on-divergence")) {
    throw usage_error("--on-divergence: the cells of a sweep run on their own", "leave it out");
  }
  if (options.outlier && options.check.empty()) {
    throw usage_error("--outlier: nothing is rescored", "add --check rescore");
  }
  if (!options.check.empty() && has_mode(options.run, "score")) {
    throw usage_error("--check rescore takes generated text: --mode greedy, sample or both",
                      "leave the mode score out");
  }
  if (options.keep_cells.empty() && options.run.given.contains("--keep-top")) {
    throw usage_error("--keep-top: no logits are kept", "add --keep-cells FOLDER");
  }
  check_run_options(options.run);
  check_outputs(options.output, input_files(options.run, options.builds));
}

std::vector<Side> open_sides(const SweepOptions& options,
                             const std::vector<SideAttention>& attention, Progress& progress) {
  std::vector<Side> sides;
  for (const std::string& build : options.builds) {
    sides.push_back(open_side(build, 0, options.run, attention.at(sides.size()), progress));
    sides.back().build.label = build;
    if (sides.size() == 1) {
      note_side(sides.back(), 0, progress);
    }
  }
  return sides;
}

/// The libraries that knobs are of and that some build has.
std::set<std::string> libraries_of(const std::vector<Side>& sides, double timeout_seconds) {
  std::set<std::string> libraries = {""};
  for (const Side& side : sides) {
    RunnerProcess runner(launch_of(side, side.build.label, timeout_seconds), wire::Job{});
    const RunnerFacts facts =
        facts_from(expect_event<wire::Hello>(runner.next(), side.build.label));
    if (facts.blas.starts_with("MKL")) {
      libraries.insert("MKL");
    }
    if (facts.has_onednn) {
      libraries.insert("oneDNN");
    }
    if (has_sdpa(side.build.version)) {
      libraries.insert(kSdpaOperation);
    }
  }
  return libraries;
}

/// A preset's knob begins with what the builds do by themselves.
void begin_with_usual(const SweepOptions& options, Attention usual, std::vector<Knob>& knobs) {
  const std::vector<Knob> given = parse_knobs(options.knobs);
  for (Knob& knob : knobs) {
    const bool is_given = std::any_of(given.begin(), given.end(),
                                      [&](const Knob& one) { return one.name == knob.name; });
    if (knob.name == "attention" && !is_given) {
      const std::string first = names_of(usual).at(static_cast<std::size_t>(usual));
      std::stable_partition(knob.values.begin(), knob.values.end(),
                            [&](const std::string& value) { return value == first; });
    }
  }
}

/// Leaves out a preset's knobs that no build would read.
void drop_unread(const SweepOptions& options, const std::vector<Side>& sides,
                 std::vector<Knob>& knobs, Progress& progress) {
  const std::vector<Knob> given = parse_knobs(options.knobs);
  const std::set<std::string> libraries = libraries_of(sides, options.run.runner_timeout);
  std::erase_if(knobs, [&](const Knob& knob) {
    const std::string library = library_of_knob(knob.name);
    const bool is_given = std::any_of(given.begin(), given.end(),
                                      [&](const Knob& one) { return one.name == knob.name; });
    const bool unread = !is_given && !libraries.contains(library);
    if (unread) {
      progress.note(fmt::format("{} is left out: no build here has {}", knob.name, library));
    }
    return unread;
  });
}

/// Everything that answers depend on besides the cells' values.
std::string identity_of(const AuditRequest& base, const std::vector<Side>& sides,
                        const Model& model) {
  const Side& first = sides.front();
  std::vector<SideAttention> attention;
  for (const Side& side : sides) {
    attention.push_back(side.attention);
  }
  std::string text = ModelQuestion(base, model, {}).identity() +
                     running_circumstances(kTool, first.threads, first.conditions,
                                           first.environment.knobs, attention) +
                     fmt::format("keep_top {}\n", base.settings.keep_top);
  for (const Side& side : sides) {
    text += fmt::format("{}\n{}\n", side.build.label, side.build.libraries_digest);
  }
  return text;
}

Report sweep(const SweepOptions& options, SweepRequest request, Progress& progress) {
  const std::vector<SideAttention> attention = planned_attention(options.run, options.builds);
  const Model model = open_run_model(options.run, progress);
  AuditRequest base = request_of(options.run, model);
  base.tool = kTool;
  if (options.keep_cells.empty()) {
    base.settings.keep_top = kLeastKept;
  }
  const std::vector<Side> sides = open_sides(options, attention, progress);
  if (!options.preset.empty()) {
    drop_unread(options, sides, request.knobs, progress);
    begin_with_usual(options, attention.front().kind, request.knobs);
    request.cells = planned_cells(sides.size(), request.knobs, request.one_at_a_time);
  }
  request.prompts = base.prompts.name;
  request.settings = base.settings;
  request.identity = identity_of(base, sides, model);
  const auto caller = current_environment();
  const auto own = parse_sided_environment(options.run.environment).of[0];
  const CellRunner run = [&](std::size_t index) {
    const PlannedCell& cell = request.cells.at(index);
    AuditRequest asked = cell_request(base, sides.at(cell.build), cell.values, caller, own);
    asked.sides[0].fault = planted_fault(std::to_string(index + 1));
    return run_cell(asked, cell.values, model);
  };
  CellRescorer rescorer;
  if (options.check == "rescore") {
    request.rescoring = options.outlier ? fmt::format("{}", *options.outlier) : "";
    rescorer = [&](std::size_t index, const Report& answer) {
      const PlannedCell& cell = request.cells.at(index);
      RescoreRequest asked;
      asked.scorer =
          cell_request(base, sides.at(cell.build), cell.values, caller, own).sides.front();
      asked.timeout_seconds = base.timeout_seconds;
      asked.outlier = options.outlier;
      asked.tool = kTool;
      const std::unique_ptr<Progress> silent = make_silent_progress();
      return rescore_report(answer, 0, "", asked, model, *silent);
    };
  }
  return run_sweep(request, run, rescorer, progress);
}

Status sweep_builds(const SweepOptions& options) {
  check(options);
  SweepRequest request;
  request.builds = options.builds;
  request.knobs = knobs_of(options);
  request.one_at_a_time = options.one_at_a_time || (!options.preset.empty() && !options.product);
  request.cells = planned_cells(options.builds.size(), request.knobs, request.one_at_a_time);
  request.tool = kTool;
  request.jobs = options.jobs;
  request.keep_cells = options.keep_cells;
  if (!options.keep_cells.empty()) {
    make_folders(options.keep_cells);
  }
  const std::unique_ptr<Progress> progress = progress_for(options.output.quiet);
  put_out(options.output, sweep(options, std::move(request), *progress));
  return Status::kDone;
}

}  // namespace

void add_sweep_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<SweepOptions>();
  CLI::App* command =
      app.add_subcommand("sweep", "run builds under many settings: which knobs move bits?");
  command
      ->add_option("BUILD", options->builds,
                   "builds: a release, a pin's name, a wheel file or a folder")
      ->required();
  command
      ->add_option("--knob", options->knobs,
                   "NAME=VALUE,VALUE,…; may be repeated. NAME: threads, cache, dtype, attention, a "
                   "condition, "
                   "load, repeats, prompt-order, batch, batch-position, sampler, or a variable of "
                   "the runners, which an "
                   "empty value unsets (docs/sweep.md has the values); \\, is a comma in a value")
      ->allow_extra_args(false);
  command->add_option("--preset", options->preset, "study or cpu: knobs known to move bits")
      ->check(CLI::IsMember({"study", "cpu"}));
  CLI::Option* single = command->add_flag(
      "--one-at-a-time", options->one_at_a_time,
      "turn each knob alone, away from its first value (the default with --preset)");
  command
      ->add_flag("--product", options->product,
                 "all combinations of values (the default without --preset)")
      ->excludes(single);
  command->add_option("--keep-cells", options->keep_cells,
                      "a folder for each cell's report, to be compared later");
  command
      ->add_option("--check", options->check,
                   "rescore: score each cell's tokens again in one prefill, and say which requests "
                   "fail and which knob moves that")
      ->check(CLI::IsMember({"rescore"}));
  command
      ->add_option("--outlier", options->outlier,
                   "with --check rescore: a token is an outlier where its log-probabilities differ "
                   "by more (default: what the noise and the type's steps allow, at least 0.001)")
      ->check(number_between(0, 1e6));
  command->add_option("--jobs", options->jobs, "runner processes at work at once; moves no bit")
      ->check(whole_number(1, 256))
      ->capture_default_str();
  add_run_options(*command, options->run, {"greedy"});
  add_output_options(*command, options->output, "report.json");
  set_action(*command, options, action, sweep_builds);
}

}  // namespace drift
