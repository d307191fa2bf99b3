#include "driftaudit/audit.hpp"

#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/report.hpp"

#include "cli/command.hpp"
#include "cli/output_options.hpp"
#include "cli/run_options.hpp"

namespace drift {
namespace {

struct AuditOptions {
  std::vector<std::string> sides;
  RunOptions run;
  OutputOptions output;
  std::string fail_on = "tokens";
};

void check(const AuditOptions& options) {
  if (options.sides.size() == 1) {
    throw usage_error(
        "an audit takes two sides, or none for the two default ones",
        "name a second build, such as driftaudit audit " + options.sides[0] + " 1.13.1");
  }
  check_run_options(options.run);
  check_outputs(options.output, {options.run.prompts, options.run.text, options.run.model});
}

std::vector<Side> open_sides(const AuditOptions& options, Progress& progress) {
  std::vector<Side> sides;
  for (std::size_t i = 0; i < options.sides.size(); ++i) {
    sides.push_back(open_side(options.sides[i], i, options.run, progress));
  }
  for (const std::string& name : sides[0].environment.dropped) {
    progress.note(fmt::format("warning: {} is set here but not passed on to the runners", name));
  }
  return sides;
}

Status gate(const AuditOptions& options, const Summary& summary) {
  const bool tokens = summary.verdict == "diverged";
  const bool bits = summary.verdict != "identical" || summary.non_finite > 0;
  if (options.fail_on == "tokens") {
    return tokens || summary.non_finite > 0 ? Status::kGate : Status::kDone;
  }
  return options.fail_on == "bits" && bits ? Status::kGate : Status::kDone;
}

Status audit(AuditOptions options) {
  check(options);
  if (options.sides.empty()) {
    options.sides = {"january-2022", "december-2022"};
  }
  const std::unique_ptr<Progress> progress = progress_for(options.output.quiet);
  const Model model = open_model(options.run.model, ModelOptions{options.run.offline}, *progress);
  AuditRequest request = request_of(options.run, model);
  request.sides = open_sides(options, *progress);
  Report report = run_audit(request, model, *progress);
  report.tool = "driftaudit " DRIFTAUDIT_VERSION;
  put_out(options.output, report);
  return gate(options, report.summary);
}

}  // namespace

void add_audit_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* command = app.add_subcommand("audit", "run two builds, diff them, write a report");
  command
      ->add_option("sides", options->sides,
                   "two builds: a release, a pin's name, a wheel file or a folder "
                   "(default: january-2022 december-2022)")
      ->expected(0, 2);
  add_run_options(*command, options->run, {"greedy", "sample"});
  command
      ->add_option("--fail-on", options->fail_on, "exit with 1 on changed tokens, bits, or never")
      ->check(CLI::IsMember({"tokens", "bits", "never"}))
      ->capture_default_str();
  add_output_options(*command, options->output, "report.json");
  command->callback([options, command, &action] {
    note_given(*command, options->run);
    settle_outputs(*command, options->output);
    action = [options] { return audit(*options); };
  });
}

}  // namespace drift
