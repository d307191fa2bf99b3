#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/reveal_run.hpp"
#include "driftaudit/saved_side.hpp"
#include "driftaudit/tree_drawing.hpp"

#include "cli/checks.hpp"
#include "cli/run_command.hpp"

namespace drift {
namespace {

/// Longer rows take minutes, and their trees pages.
constexpr std::uint64_t kLongest = 8192;
constexpr std::uint64_t kMostProofRows = 10000;
constexpr std::uint64_t kMostRowsPerCall = 100000;
constexpr std::uint64_t kLargestShape = 4096;

struct RevealOptions {
  std::string operation;
  std::vector<std::string> builds;
  std::vector<std::size_t> lengths = {8, 16, 100};
  std::size_t proof_rows = 1000;
  std::size_t rows_per_call = 0;
  std::string shape;
  std::string svg;
  std::string dot;
  RunOptions run;
  OutputOptions output;
};

/// "16x64": rows and columns.
ProductShape shape_from(const std::string& text) {
  ProductShape shape;
  const std::size_t cross = text.find('x');
  const auto count = [&](const std::string& digits) {
    if (cross == std::string::npos || !whole_number(1, kLargestShape)(digits).empty()) {
      throw usage_error(fmt::format("--shape {}: not the rows and columns of a product", text),
                        fmt::format("as in --shape 11x768, each from 1 to {}", kLargestShape));
    }
    return static_cast<std::size_t>(std::stoul(digits));
  };
  shape.rows = count(text.substr(0, cross));
  shape.columns = count(text.substr(cross + 1));
  return shape;
}

bool has_prefix(const std::string& value) {
  return value.starts_with("A:") || value.starts_with("B:");
}

void check_sides(const RevealOptions& options) {
  for (const std::string& build : options.builds) {
    if (names_report(build)) {
      throw usage_error(build + ": a saved report has no kernels to ask",
                        "name the build that it was made with");
    }
  }
  const bool sided =
      std::any_of(options.run.environment.begin(), options.run.environment.end(), has_prefix) ||
      std::any_of(options.run.threads.begin(), options.run.threads.end(), has_prefix);
  if (sided && options.builds.size() > 2) {
    throw usage_error("--env and --threads: more than two builds are asked alike",
                      "leave out A: and B:");
  }
}

void check(const RevealOptions& options) {
  const std::vector<std::string>& known = revealed_operations();
  if (std::find(known.begin(), known.end(), options.operation) == known.end()) {
    throw usage_error(options.operation + ": no operation whose order can be revealed",
                      fmt::format("one of {}", fmt::join(known, ", ")));
  }
  check_sides(options);
  if (!options.shape.empty() && options.operation != "matmul") {
    throw usage_error("--shape: only matmul has a product", "leave it out");
  }
  if (options.rows_per_call > 0 && (options.operation == "matmul" || options.operation == "dot")) {
    throw usage_error("--rows-per-call: " + options.operation + " is asked row by row",
                      "leave it out");
  }
  std::vector<std::size_t> sorted = options.lengths;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    throw usage_error("--length: a length is named twice", "name each once");
  }
  check_outputs(options.output, {options.svg, options.dot});
  check_apart(options.svg, {options.dot});
}

/// The file of one tree: as named where there is but one, else with its side and its length.
std::filesystem::path drawing_path(const std::string& named, const Report& report,
                                   const RevealedOrder& order) {
  const std::filesystem::path path = named;
  if (report.reveal->trees.size() == 1) {
    return path;
  }
  const std::string side =
      report.builds.size() < 2 ? "" : fmt::format("-{}", static_cast<char>('A' + order.build));
  std::filesystem::path own = path.parent_path() / path.stem();
  own += fmt::format("{}-{}", side, order.length);
  own += path.extension();
  return own;
}

using Drawing = std::string (*)(const SumTree& tree, const std::string& title);

void draw(const std::string& named, Drawing drawing, const Report& report, bool quiet) {
  for (const RevealedOrder& order : report.reveal->trees) {
    if (named.empty() || order.tree.empty()) {
      continue;
    }
    const std::string title =
        fmt::format("{} of {} elements, {}, {}", order.operation, order.length,
                    report.builds[order.build].label,
                    order.status == "proved" ? "proved" : "consistent, not proved");
    const std::filesystem::path path = drawing_path(named, report, order);
    write_file(path, drawing(tree_from_text(order.tree), title));
    if (!quiet) {
      fmt::print("tree     {}\n", path.string());
    }
  }
}

RevealRequest request_for(const RevealOptions& options, Progress& progress) {
  RevealRequest request;
  request.lengths = options.lengths;
  request.question.operation = options.operation;
  request.question.proof_rows = options.proof_rows;
  request.question.batching.rows = options.rows_per_call;
  if (!options.shape.empty()) {
    request.question.shape = shape_from(options.shape);
  }
  request.timeout_seconds = options.run.runner_timeout;
  for (std::size_t i = 0; i < options.builds.size(); ++i) {
    const std::size_t index = std::min<std::size_t>(i, 1);
    request.sides.push_back(open_side(options.builds[i], index, options.run, {}, progress));
    note_side(request.sides.back(), i, progress);
  }
  return request;
}

Status reveal(const RevealOptions& options) {
  check(options);
  check_writable(options.svg);
  check_writable(options.dot);
  const std::unique_ptr<Progress> progress = progress_for(options.output.quiet);
  Report report = run_reveal(request_for(options, *progress), *progress);
  report.tool = kTool;
  put_out(options.output, report);
  draw(options.svg, tree_svg, report, options.output.json);
  draw(options.dot, tree_dot, report, options.output.json);
  return Status::kDone;
}

}  // namespace

void add_reveal_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<RevealOptions>();
  CLI::App* command = app.add_subcommand("reveal", "the order in which a build's kernel adds");
  command
      ->add_option("operation", options->operation,
                   fmt::format("one of {}", fmt::join(revealed_operations(), ", ")))
      ->required();
  command->add_option("builds", options->builds, "one or more; neighbours are compared")
      ->required();
  command->add_option("--length", options->lengths, "terms of a sum; several by commas")
      ->delimiter(',')
      ->check(whole_number(1, kLongest))
      ->capture_default_str();
  command->add_option("--rows", options->proof_rows, "random rows that a tree must replay")
      ->check(whole_number(1, kMostProofRows))
      ->capture_default_str();
  command
      ->add_option("--rows-per-call", options->rows_per_call,
                   "rows of each call (0: as many as there are)")
      ->check(whole_number(0, kMostRowsPerCall))
      ->capture_default_str();
  command->add_option("--shape", options->shape,
                      "matmul: rows and columns of its product (default 16x16)");
  command->add_option("--svg", options->svg, "draw each tree there");
  command->add_option("--dot", options->dot, "write each tree there as a Graphviz graph");
  add_runner_options(*command, options->run);
  add_output_options(*command, options->output, "");
  set_action(*command, options, action, reveal);
}

}  // namespace drift
