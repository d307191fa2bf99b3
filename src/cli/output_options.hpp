#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "driftaudit/report.hpp"

namespace drift {

/// Where a command's result goes.
struct OutputOptions {
  std::string out;  ///< the report's path; empty: none is written
  std::string markdown;
  bool json = false;
  bool quiet = false;
  bool out_given = false;
  bool keep_logits = false;
};

/// Adds them to a command. `out` is the default path of the report, or empty.
void add_output_options(CLI::App& command, OutputOptions& options, const std::string& out);

/// Adds `--keep-logits`.
void add_keep_logits_option(CLI::App& command, OutputOptions& options);

/// Where all logits go, or empty.
std::filesystem::path logits_of(const OutputOptions& options);

/// With `--json` alone the report goes to stdout and to no file. To be called when the command line
/// has been parsed.
void settle_outputs(const CLI::App& command, OutputOptions& options);

/// An output must not replace an input or another output. Errors (usage).
void check_apart(const std::string& output, const std::vector<std::string>& others);

/// Learns now, not after the work, that an output can't be written. Errors (usage).
void check_writable(const std::string& path);

/// Learns now, not after the work, that an output can't be written or would replace an input or
/// another output. Errors (usage).
void check_outputs(const OutputOptions& options, const std::vector<std::string>& inputs);

/// Prints the report's view as wide as the terminal, coloured where it may be.
void print_table(const Report& report);

/// Writes the report and the Markdown, and prints the report's view (or the report itself).
void put_out(const OutputOptions& options, const Report& report);

}  // namespace drift
