#include "driftaudit/study.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/question.hpp"

#include "bisect/probe_store.hpp"
#include "cli/attention_options.hpp"
#include "cli/checks.hpp"
#include "cli/planted_fault.hpp"
#include "cli/run_command.hpp"
#include "cli/sided.hpp"

namespace drift {
namespace {

constexpr const char* kCapability = "ATEN_CPU_CAPABILITY";
constexpr std::uint32_t kQuickOpenings = 20;
constexpr std::uint32_t kQuickTokens = 40;
/// Enough of the logits to draw from fits into memory for every step up to here.
constexpr std::uint32_t kMostDrawnFrom = 1000;

struct StudyOptions {
  std::vector<std::string> ends;
  std::vector<std::string> between;
  std::string openings = "alice-200";
  std::uint32_t opening_tokens = 100;
  bool quick = false;
  bool until_flip = false;
  RunOptions run;
  OutputOptions output;
};

/// The first build and the last; the original's where none is named.
std::pair<std::string, std::string> ends_of(const StudyOptions& options) {
  if (options.ends.empty()) {
    return {"1.10.1", "1.13.1"};
  }
  if (options.ends.size() != 2) {
    throw usage_error(fmt::format("a study takes two builds or none, not {}", options.ends.size()),
                      "name the first and the last; --between names those between");
  }
  return {options.ends[0], options.ends[1]};
}

std::vector<std::string> between_of(const StudyOptions& options) {
  const bool original = options.ends.empty() && !options.run.given.contains("--between");
  return original ? std::vector<std::string>{"1.11.0", "1.12.0", "1.12.1"} : options.between;
}

/// Options of what the study varies itself, or compares by.
void check_own(const RunOptions& run) {
  for (const auto& [option, why] :
       {std::pair("--mode", "a study runs greedy and sample, and scores nothing"),
        std::pair("--text", "a study scores nothing"),
        std::pair("--no-cache", "a study runs with the KV cache and without"),
        std::pair("--on-divergence", "a study stops where tokens part, and forces sampled text"),
        std::pair("--batch", "a study runs each prompt alone"),
        std::pair("--keep-top", "a study's report keeps no logits")}) {
    if (run.given.contains(option)) {
      throw usage_error(fmt::format("{}: {}", option, why), "leave it out");
    }
  }
  check_alike(run, "a study's two builds run alike");
  if (run.given.contains("--threads") && parse_sided_threads(run.threads)[0] < 2) {
    throw usage_error("--threads 1: a study compares one thread with several",
                      "name 2 or more, or leave it out");
  }
}

void check(const StudyOptions& options) {
  const auto [first, last] = ends_of(options);
  std::vector<std::string> builds = between_of(options);
  for (auto build = builds.begin(); build != builds.end(); ++build) {
    if (*build == first || *build == last || std::find(builds.begin(), build, *build) != build) {
      throw usage_error("--between: " + *build + " is named twice", "name each build once");
    }
  }
  builds.insert(builds.begin(), {first, last});
  for (const std::string& build : builds) {
    if (names_report(build)) {
      throw usage_error(build + ": is a saved report", "a study runs builds; name one");
    }
  }
  check_own(options.run);
  const std::uint32_t top_k = options.run.settings.top_k;
  if (options.until_flip && (top_k == 0 || top_k > kMostDrawnFrom)) {
    throw usage_error(fmt::format("--tokens-until-flip: keeps every logit that is drawn from, and "
                                  "--top-k {} draws from too many",
                                  top_k),
                      fmt::format("take --top-k 1 to {}", kMostDrawnFrom));
  }
  builds.push_back(options.openings);
  check_outputs(options.output, input_files(options.run, std::move(builds)));
}

/// All but one condition run on so many threads: as asked, else the original's 4 or as many as
/// there are cores, but several.
std::uint32_t several_threads(const RunOptions& run) {
  if (run.given.contains("--threads")) {
    return parse_sided_threads(run.threads)[0];
  }
  constexpr std::uint32_t kOriginal = 4;
  return std::max(2U, std::min(kOriginal, this_host().cores));
}

/// A build on several threads, with whatever kernels it chooses.
Side open_usual(const std::string& build, const std::string& fault, const StudyOptions& options,
                const SideAttention& attention, Progress& progress) {
  Side side = open_side(build, 0, options.run, attention, progress);
  side.build.label = build;
  side.threads = several_threads(options.run);
  side.fault = planted_fault(fault);
  return side;
}

void set_generic(Side& side, const RunOptions& run) {
  std::map<std::string, std::string> caller = current_environment();
  std::map<std::string, std::string> own = parse_sided_environment(run.environment).of[0];
  caller.erase(kCapability);
  own[kCapability] = "default";
  side.environment = runner_environment(caller, own);
}

/// The generic kernels can't be compared with themselves.
void check_kernels(const Side& side) {
  const auto at = side.environment.variables.find(kCapability);
  if (at != side.environment.variables.end() && at->second == "default") {
    throw usage_error(
        fmt::format("{}=default: a study compares generic kernels with others", kCapability),
        "unset it, or name vector kernels such as avx2");
  }
}

/// Of the first build, the last and those between: one kind, so that all can be compared.
std::vector<SideAttention> attention_of(const StudyOptions& options) {
  std::vector<std::string> builds = between_of(options);
  const auto [first, last] = ends_of(options);
  builds.insert(builds.begin(), {first, last});
  return planned_attention(options.run, builds);
}

void open_conditions(const StudyOptions& options, const std::vector<SideAttention>& attention,
                     StudyRequest& request, Progress& progress) {
  using enum StudyCondition;
  const auto [first, last] = ends_of(options);
  const Side usual_first = open_usual(first, "", options, attention.at(0), progress);
  const Side usual_last =
      first == last ? usual_first : open_usual(last, "", options, attention.at(1), progress);
  check_kernels(usual_first);
  note_side(usual_first, 0, progress);
  for (std::size_t i = 0; i < kStudyConditions; ++i) {
    const auto condition = static_cast<StudyCondition>(i);
    Side& side = request.sides.at(i);
    side = condition == kFirst || condition == kFirstGeneric ? usual_first : usual_last;
    side.fault = planted_fault(condition_name(condition));
    if (condition == kLastSingle) {
      side.threads = 1;
    }
    if (condition == kFirstGeneric || condition == kLastGeneric) {
      set_generic(side, options.run);
    }
  }
}

void open_between(const StudyOptions& options, const std::vector<SideAttention>& attention,
                  StudyRequest& request, Progress& progress) {
  const std::vector<std::string> labels = between_of(options);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::string& label = labels[i];
    RangeBuild& build = request.between.emplace_back();
    build.label = label;
    try {
      build.side = open_usual(label, label, options, attention.at(i + 2), progress);
    } catch (const Error& error) {
      if (error.is_interruption()) {
        throw;
      }
      throw_if_disk_full(error);
      build.reason = error.what();
    }
  }
}

/// Everything that answers depend on.
std::string identity_of(const StudyRequest& request, const Model& model) {
  AuditRequest openings = request.base;
  openings.prompts = request.openings;
  openings.settings.new_tokens = request.opening_tokens;
  const Side& first = request.sides.front();
  std::vector<SideAttention> attention;
  for (const Side& side : request.sides) {
    attention.push_back(side.attention);
  }
  for (const RangeBuild& build : request.between) {
    attention.push_back(build.side ? build.side->attention : SideAttention{});
  }
  std::string text = ModelQuestion(request.base, model, {}).identity() +
                     ModelQuestion(openings, model, {}).identity() +
                     running_circumstances(kTool, first.threads, first.conditions,
                                           first.environment.knobs, attention);
  for (const Side& side : request.sides) {
    text += fmt::format("{}\n{}\n", side.build.label, side.build.libraries_digest);
  }
  for (const RangeBuild& build : request.between) {
    text += fmt::format("{}\n{}\n", build.label,
                        build.side ? build.side->build.libraries_digest : "left out");
  }
  return text;
}

Report study(const StudyOptions& options, Progress& progress) {
  const std::vector<SideAttention> attention = attention_of(options);
  const Model model = open_run_model(options.run, progress);
  StudyRequest request;
  request.base = request_of(options.run, model);
  request.base.tool = kTool;
  request.openings = load_prompts(options.openings, model.tokenizer, model.config);
  request.opening_tokens = options.opening_tokens;
  request.quick = options.quick;
  request.until_flip = options.until_flip;
  if (options.quick) {
    std::vector<Prompt>& openings = request.openings.prompts;
    openings.resize(std::min<std::size_t>(openings.size(), kQuickOpenings));
    request.opening_tokens =
        options.run.given.contains("--opening-tokens") ? options.opening_tokens : kQuickTokens;
  }
  open_conditions(options, attention, request, progress);
  open_between(options, attention, request, progress);
  request.identity = identity_of(request, model);
  const StudyRunner run = [&](const AuditRequest& asked, Progress& part) {
    return run_audit(asked, model, part);
  };
  return run_study(request, run, progress);
}

Status run_the_study(const StudyOptions& options) {
  check(options);
  const std::unique_ptr<Progress> progress = progress_for(options.output.quiet);
  put_out(options.output, study(options, *progress));
  return Status::kDone;
}

}  // namespace

void add_study_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<StudyOptions>();
  CLI::App* command = app.add_subcommand(
      "study", "the whole study: prompts, builds, kernels, threads, gaps, chance of a flip");
  command->add_option("BUILD", options->ends,
                      "the first build and the last: releases, pins' names, wheel files or folders "
                      "(default 1.10.1 and 1.13.1, and those between that the original looked at)");
  command->add_option("--between", options->between, "builds between them, by commas, oldest first")
      ->delimiter(',');
  command
      ->add_option("--openings", options->openings,
                   "texts whose gaps are looked at: a shipped set or a file")
      ->capture_default_str();
  command->add_option("--opening-tokens", options->opening_tokens, "tokens generated for each")
      ->check(whole_number(1, 1000000))
      ->capture_default_str();
  command->add_flag("--quick", options->quick, "the first 20 openings, 40 tokens each");
  command->add_flag("--tokens-until-flip", options->until_flip,
                    "sample the openings too: how many tokens until one is another?");
  add_run_options(*command, options->run, {"greedy", "sample"});
  add_output_options(*command, options->output, "report.json");
  set_action(*command, options, action, run_the_study);
}

}  // namespace drift
