#include <memory>
#include <string>

#include <fmt/core.h>

#include "driftaudit/report.hpp"

#include "cli/command.hpp"
#include "cli/output_options.hpp"

namespace drift {
namespace {

struct ShowOptions {
  std::string report;
  bool markdown = false;
};

Status show(const ShowOptions& options) {
  const Report report = read_report(options.report);
  if (options.markdown) {
    fmt::print("{}", report_markdown(report));
  } else {
    print_table(report);
  }
  return Status::kDone;
}

}  // namespace

void add_show_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "show a saved report again");
  command->add_option("report", options->report, "its file")->required();
  command->add_flag("--markdown", options->markdown, "in Markdown, on stdout");
  command->callback([options, &action] { action = [options] { return show(*options); }; });
}

}  // namespace drift
