#include <memory>
#include <string>

#include "driftaudit/audit.hpp"
#include "driftaudit/error.hpp"

#include "cli/gate_options.hpp"
#include "cli/run_command.hpp"

namespace drift {
namespace {

struct CompareOptions {
  std::string old_report;
  std::string new_report;
  bool common = false;
  GateLimits gates;
  OutputOptions output;
};

Status compare(const CompareOptions& options) {
  for (const std::string& name : {options.old_report, options.new_report}) {
    if (!names_report(name)) {
      throw usage_error(name + ": not a saved report: its name ends in neither .json nor .json.zst",
                        "to run a build, use driftaudit audit");
    }
  }
  check_outputs(options.output, {report_file(options.old_report), report_file(options.new_report)});
  const std::unique_ptr<Progress> progress = progress_for(options.output.quiet);
  const auto [a, b] = open_saved_sides(options.old_report, options.new_report, *progress);
  Report report = compare_saved(a, b, options.common, kTool);
  const Status status = judge(options.gates, report);
  put_out(options.output, report);
  return status;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<CompareOptions>();
  CLI::App* command = app.add_subcommand("compare", "compare two saved reports");
  command->add_option("old", options->old_report, "a saved report; of an audit, FILE:A or FILE:B")
      ->required();
  command->add_option("new", options->new_report, "another")->required();
  command->add_flag("--common", options->common,
                    "compare what both have: modes, prompts, steps; else all must agree");
  add_gate_options(*command, options->gates);
  add_output_options(*command, options->output, "");
  set_action(*command, options, action, compare);
}

}  // namespace drift
