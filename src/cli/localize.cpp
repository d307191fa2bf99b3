#include "driftaudit/localize.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/report.hpp"
#include "driftaudit/reveal_run.hpp"

#include "base/byte_count.hpp"
#include "cli/attention_options.hpp"
#include "cli/checks.hpp"
#include "cli/run_command.hpp"
#include "model/escapes.hpp"

namespace drift {
namespace {

struct LocalizeOptions {
  std::vector<std::string> sides;
  std::string prompt;  ///< a number or a text; empty: not given
  std::uint32_t step = 0;
  std::string memory;
  bool no_isolation = false;
  RunOptions run;
  OutputOptions output;
};

/// A bare whole number is a prompt's place, whatever its size.
std::optional<std::uint32_t> prompt_number(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) {
    throw usage_error(fmt::format("--prompt {}: there is no such prompt", text),
                      "a bare number is a prompt's place in --prompts, from 1");
  }
  return number;
}

void check(const LocalizeOptions& options) {
  for (const std::string& side : options.sides) {
    if (names_report(side)) {
      throw usage_error(
          side + ": a saved report can't be localized, since nothing can be run of it",
          "name a build, such as 1.10.1 or a venv's folder");
    }
  }
  const std::vector<std::string>& modes = options.run.settings.modes;
  if (modes.size() != 1 || modes[0] == "score") {
    throw usage_error("--mode: one pass is localized, of the mode greedy or sample",
                      "leave out --mode, or name one of them");
  }
  if (options.run.settings.dtype != "float32") {
    throw usage_error(
        fmt::format("--dtype {}: only a float32 pass can be localized", options.run.settings.dtype),
        "leave out --dtype");
  }
  if (options.run.given.contains("--new-tokens") &&
      options.step > options.run.settings.new_tokens) {
    throw usage_error(
        fmt::format("--step {}: a run has {} steps", options.step, options.run.settings.new_tokens),
        "leave out --new-tokens, or name an earlier step");
  }
  if (options.run.settings.batch > 1) {
    throw usage_error(fmt::format("--batch {}: one prompt is traced, which runs alone",
                                  options.run.settings.batch),
                      "leave it out");
  }
  check_run_options(options.run);
  check_outputs(options.output, input_files(options.run, options.sides));
}

/// The one prompt that was given as text, with the escapes that prompt files have.
PromptSet given_prompt(const std::string& text, const Model& model) {
  Prompt prompt;
  prompt.text = unescape(text);
  prompt.ids = model.tokenizer.encode(prompt.text);
  if (prompt.ids.size() > model.config.n_positions) {
    throw usage_error(fmt::format("--prompt: {} tokens, more than the model's context of {}",
                                  prompt.ids.size(), model.config.n_positions),
                      "give a shorter one");
  }
  return {"--prompt", {std::move(prompt)}};
}

/// Both sides' attention, the same operations on both.
std::vector<SideAttention> attention_of(const LocalizeOptions& options) {
  std::vector<SideAttention> attention = planned_attention(options.run, options.sides);
  if (attention[0].kind != attention[1].kind) {
    throw usage_error(
        "--attention: a pass is localized operation by operation, and other attention "
        "has other operations",
        "name one for both sides; audit compares two");
  }
  return attention;
}

LocalizeRequest request_for(const LocalizeOptions& options, const Model& model,
                            const std::vector<SideAttention>& attention, Progress& progress) {
  LocalizeRequest request;
  request.audit = request_of(options.run, model);
  request.audit.tool = kTool;
  request.prompt = prompt_number(options.prompt);
  if (!options.prompt.empty() && !request.prompt) {
    request.audit.prompts = given_prompt(options.prompt, model);
  }
  if (options.step > 0) {
    request.step = options.step;
  }
  if (!options.memory.empty()) {
    request.memory = byte_count(options.memory);
  }
  request.isolation = !options.no_isolation;
  for (std::size_t i = 0; i < options.sides.size(); ++i) {
    request.audit.sides.push_back(
        open_side(options.sides[i], i, options.run, attention.at(i), progress));
    note_side(request.audit.sides.back(), i, progress);
  }
  return request;
}

/// The first function that changed by itself and whose order can be asked for, with the lengths at
/// which to ask: the first that differs, and one of two vectors of eight.
std::optional<std::pair<std::string, std::vector<std::size_t>>> order_to_reveal(
    const LocalizeRecord& record) {
  constexpr std::size_t kTwoVectors = 16;
  const std::vector<std::string>& known = revealed_operations();
  for (const IsolatedOperation& isolated : record.isolation) {
    if (!isolated.lengths_differ.empty() &&
        std::find(known.begin(), known.end(), isolated.function) != known.end()) {
      // Shorter sums than of three terms have but one order.
      std::vector<std::size_t> lengths{
          std::max<std::size_t>(isolated.lengths_differ.front().first, 3)};
      if (lengths[0] != kTwoVectors) {
        lengths.push_back(kTwoVectors);
      }
      return std::make_pair(isolated.function, std::move(lengths));
    }
  }
  return std::nullopt;
}

Status localize(const LocalizeOptions& options) {
  check(options);
  const std::unique_ptr<Progress> progress = progress_for(options.output.quiet);
  const std::vector<SideAttention> attention = attention_of(options);
  const Model model = open_run_model(options.run, *progress);
  const LocalizeRequest request = request_for(options, model, attention, *progress);
  Report report = run_localize(request, model, *progress);
  if (const auto order = order_to_reveal(*report.localize)) {
    RevealRequest reveal;
    reveal.sides = request.audit.sides;
    reveal.question.operation = order->first;
    reveal.lengths = order->second;
    reveal.timeout_seconds = options.run.runner_timeout;
    report.reveal = run_reveal(reveal, *progress).reveal;
  }
  put_out(options.output, report);
  return Status::kDone;
}

}  // namespace

void add_localize_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<LocalizeOptions>();
  CLI::App* command = app.add_subcommand(
      "localize", "which operation changes, by itself or by its inputs, and at which lengths");
  command->add_option("sides", options->sides, "two builds, as for audit")->required()->expected(2);
  command->add_option("--prompt", options->prompt,
                      "a prompt's number in --prompts, or a text with C-style escapes (default: "
                      "the prompt that changes first)");
  command
      ->add_option("--step", options->step,
                   "the step whose pass is localized, from 1 (default: the prompt's first that "
                   "changes)")
      ->check(whole_number(1, 1U << 20U));
  command
      ->add_option("--memory", options->memory,
                   "bytes for recorded tensors, such as 512M or 2G (default: what it takes)")
      ->check(byte_count_check());
  command->add_flag("--no-isolation", options->no_isolation,
                    "don't sweep what changed over random rows");
  add_run_options(*command, options->run, {"greedy"});
  add_output_options(*command, options->output, "report.json");
  set_action(*command, options, action, localize);
}

}  // namespace drift
