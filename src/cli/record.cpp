#include <memory>
#include <string>

#include <fmt/core.h>

#include "driftaudit/audit.hpp"
#include "driftaudit/error.hpp"

#include "cli/attention_options.hpp"
#include "cli/run_command.hpp"

namespace drift {
namespace {

struct RecordOptions {
  std::string side;
  RunOptions run;
  OutputOptions output;
};

Status record(const RecordOptions& options) {
  if (names_report(options.side)) {
    throw usage_error(options.side + ": is a saved report already", "name a build to record");
  }
  check_run_options(options.run);
  check_outputs(options.output, input_files(options.run, {options.side}));
  const std::unique_ptr<Progress> progress = progress_for(options.output.quiet);
  const SideAttention attention = planned_attention(options.run, {options.side}).front();
  const Model model = open_run_model(options.run, *progress);
  AuditRequest request = request_of(options.run, model);
  request.tool = kTool;
  request.logits = logits_of(options.output);
  request.sides = {open_side(options.side, 0, options.run, attention, *progress)};
  note_side(request.sides[0], 0, *progress);
  put_out(options.output, run_audit(request, model, *progress));
  if (!options.output.json) {
    fmt::print("next     after the upgrade: what changed?\n           driftaudit audit {} {}\n",
               options.output.out,
               request.sides[0].build.origin == BuildOrigin::kPin ? "NEW_BUILD" : options.side);
  }
  return Status::kDone;
}

}  // namespace

void add_record_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* command =
      app.add_subcommand("record", "run one build and save it: a baseline for after the upgrade");
  command
      ->add_option("side", options->side,
                   "a build: a release, a pin's name, a wheel file or a folder")
      ->required();
  add_run_options(*command, options->run, {"greedy", "sample"});
  add_output_options(*command, options->output, "");
  add_keep_logits_option(*command, options->output);
  command->get_option("--out")->required();
  set_action(*command, options, action, record);
}

}  // namespace drift
