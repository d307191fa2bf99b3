#include "cli/output_options.hpp"

#include <cstdio>
#include <filesystem>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/progress.hpp"

namespace drift {
namespace {

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

}  // namespace

void check_apart(const std::string& output, const std::vector<std::string>& others) {
  std::error_code ignored;
  const auto place = [&](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  for (const std::string& other : others) {
    if (!output.empty() && !other.empty() && place(output) == place(other)) {
      throw usage_error(output + ": would be written over another file of this run",
                        "choose another path for it");
    }
  }
}

void check_writable(const std::string& path) {
  if (!path.empty()) {
    const AtomicFile probe(path);
  }
}

void add_output_options(CLI::App& command, OutputOptions& options, const std::string& out) {
  options.out = out;
  CLI::Option* path = command.add_option("--out", options.out, "the report's path");
  if (!out.empty()) {
    path->capture_default_str();
  }
  command.add_option("--markdown", options.markdown, "write a summary in Markdown there");
  command.add_flag("--json", options.json, "the report on stdout (and to --out only if given)");
  command.add_flag("--quiet", options.quiet, "no progress");
}

void settle_outputs(const CLI::App& command, OutputOptions& options) {
  options.out_given = command.get_option("--out")->count() > 0;
  if (options.json && !options.out_given) {
    options.out.clear();
  }
}

void add_keep_logits_option(CLI::App& command, OutputOptions& options) {
  command.add_flag("--keep-logits", options.keep_logits,
                   "all logits in a file beside the report: OUT.logits");
}

std::filesystem::path logits_of(const OutputOptions& options) {
  return options.keep_logits ? logits_path(options.out) : std::filesystem::path();
}

void check_outputs(const OutputOptions& options, const std::vector<std::string>& inputs) {
  if (options.keep_logits && options.out.empty()) {
    throw usage_error("--keep-logits: there is no report for the logits to stand beside",
                      "name one with --out");
  }
  const std::string logits = logits_of(options).string();
  std::vector<std::string> others = inputs;
  check_apart(logits, others);
  others.push_back(logits);
  check_apart(options.markdown, others);
  others.push_back(options.markdown);
  check_apart(options.out, others);
  check_writable(options.out);
  check_writable(options.markdown);
  check_writable(logits);
}

void print_table(const Report& report) {
  const bool colour = ::isatty(STDOUT_FILENO) != 0 && environment_value("NO_COLOR").empty();
  fmt::print("{}", report_table(report, colour, terminal_width()));
}

void put_out(const OutputOptions& options, const Report& report) {
  if (!options.out.empty()) {
    write_report(report, options.out);
  }
  if (!options.markdown.empty()) {
    write_file(options.markdown, report_markdown(report));
  }
  if (options.json) {
    fmt::print("{}", report_json(report));
    return;
  }
  print_table(report);
  if (!options.out.empty()) {
    fmt::print("report   {} ({})\n", options.out,
               format_bytes(std::filesystem::file_size(options.out)));
  }
  if (report.logits) {
    fmt::print("logits   {} ({})\n", logits_of(options).string(),
               format_bytes(report.logits->bytes));
  }
}

}  // namespace drift
