#include "driftaudit/audit.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/report.hpp"

#include "cli/attention_options.hpp"
#include "cli/command.hpp"
#include "cli/gate_options.hpp"
#include "cli/output_options.hpp"
#include "cli/run_options.hpp"
#include "cli/saved_options.hpp"

namespace drift {
namespace {

struct AuditOptions {
  std::vector<std::string> sides;
  RunOptions run;
  OutputOptions output;
  GateLimits gates;
  bool bisect_run = false;
};

/// Which of the sides is saved, if one is.
std::optional<std::size_t> saved_index(const AuditOptions& options) {
  for (std::size_t i = 0; i < options.sides.size(); ++i) {
    if (names_report(options.sides[i])) {
      return i;
    }
  }
  return std::nullopt;
}

void check(const AuditOptions& options) {
  const std::vector<std::string>& sides = options.sides;
  if (sides.size() == 1) {
    throw usage_error("an audit takes two sides, or none for the two default ones",
                      "name a second build, such as driftaudit audit " + sides[0] + " 1.13.1");
  }
  if (std::count_if(sides.begin(), sides.end(), names_report) > 1) {
    throw usage_error("both sides are saved reports",
                      fmt::format("driftaudit compare {} {}", sides[0], sides[1]));
  }
  if (!saved_index(options)) {
    check_run_options(options.run);
  } else if (options.run.settings.on_divergence == "force" && saved_index(options) == 1U) {
    throw usage_error("--on-divergence force: side B is saved and can't be fed other tokens",
                      "name the saved report first");
  }
  check_outputs(options.output, input_files(options.run, sides));
}

/// A B that can't be used is no reason to stop a bisection: it is skipped.
template <class Use>
auto use_side(const AuditOptions& options, std::size_t i, const Use& use) {
  try {
    return use();
  } catch (const Error& error) {
    if (options.bisect_run && i == 1 && error.status() == Status::kUsage) {
      throw Error(Status::kBisectSkip, error.what(), error.hint());
    }
    throw;
  }
}

/// How the sides compute attention; of a saved one nothing.
std::vector<SideAttention> attention_of(const AuditOptions& options,
                                        const std::optional<SavedSide>& saved) {
  if (!saved) {
    return planned_attention(options.run, options.sides);
  }
  std::vector<SideAttention> attention(options.sides.size());
  const std::size_t live = *saved_index(options) == 0 ? 1 : 0;
  const RunOptions run = with_saved_conditions(*saved, options.run, live);
  attention[live] = use_side(
      options, live, [&] { return attention_beside(*saved, run, options.sides[live], live); });
  return attention;
}

AuditRequest request_for(const AuditOptions& options, const std::optional<SavedSide>& saved,
                         const std::vector<SideAttention>& attention, const Model& model,
                         Progress& progress) {
  AuditRequest request;
  if (saved) {
    adopt_saved(*saved, options.run, model, request);
  } else {
    request = request_of(options.run, model);
  }
  request.tool = kTool;
  request.logits = logits_of(options.output);
  request.sides.resize(options.sides.size());
  const std::optional<std::size_t> at = saved_index(options);
  for (std::size_t i = 0; i < options.sides.size(); ++i) {
    if (at == i) {
      request.sides[i].saved = saved;
      continue;
    }
    const RunOptions run = saved ? with_saved_conditions(*saved, options.run, i) : options.run;
    request.sides[i] = use_side(
        options, i, [&] { return open_side(options.sides[i], i, run, attention.at(i), progress); });
    note_side(request.sides[i], i, progress);
  }
  return request;
}

Status audit(AuditOptions options) {
  if (options.sides.empty()) {
    options.sides = {"january-2022", "december-2022"};
  }
  check(options);
  const std::unique_ptr<Progress> progress = progress_for(options.output.quiet);
  std::optional<SavedSide> saved;
  if (const std::optional<std::size_t> at = saved_index(options)) {
    saved = open_saved_side(options.sides[*at], *progress);
  }
  const std::vector<SideAttention> attention = attention_of(options, saved);
  const Model model = saved ? open_saved_model(*saved, options.run, *progress)
                            : open_run_model(options.run, *progress);
  const AuditRequest request = request_for(options, saved, attention, model, *progress);
  Report report = run_audit(request, model, *progress);
  const Status status = judge(options.gates, report);
  put_out(options.output, report);
  return status;
}

/// The statuses that `git bisect run` goes by: what can't run is skipped, what makes no sense stops
/// it.
Status audit_for_bisect(const AuditOptions& options) {
  try {
    return audit(options);
  } catch (const Error& error) {
    switch (error.status()) {
      case Status::kUsage:
        throw Error(Status::kBisectStop, error.what(), error.hint());
      case Status::kTrouble:
        throw Error(Status::kBisectSkip, error.what(), error.hint());
      default:
        throw;
    }
  }
}

}  // namespace

void add_audit_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* command = app.add_subcommand("audit", "run two builds, diff them, write a report");
  command
      ->add_option("sides", options->sides,
                   "two builds: a release, a pin's name, a wheel file, a folder, or a saved report "
                   "(default: january-2022 december-2022)")
      ->expected(0, 2);
  add_run_options(*command, options->run, {"greedy", "sample"});
  add_gate_options(*command, options->gates);
  add_output_options(*command, options->output, "report.json");
  add_keep_logits_option(*command, options->output);
  command->add_flag(kBisectRun, options->bisect_run,
                    "exit as git bisect run wants it: 0 same, 1 changed (by default any bit), 125 "
                    "B can't run, 129 bad usage");
  command->callback([options, command, &action] {
    note_given(*command, options->run);
    settle_outputs(*command, options->output);
    if (options->bisect_run && command->count("--fail-on") == 0) {
      options->gates.fail_on = "bits";
    }
    action = [options] {
      return options->bisect_run ? audit_for_bisect(*options) : audit(*options);
    };
  });
}

}  // namespace drift
