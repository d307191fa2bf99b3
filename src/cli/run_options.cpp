#include "cli/run_options.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/process.hpp"

#include "cli/checks.hpp"
#include "cli/planted_fault.hpp"
#include "cli/sided.hpp"

namespace drift {
namespace {

void require(bool holds, const std::string& what, const std::string& hint) {
  if (!holds) {
    throw usage_error(what, hint);
  }
}

std::vector<Prompt> text_windows(const RunOptions& options, const Model& model) {
  if (options.text.empty()) {
    return {};
  }
  const std::string text = read_file(options.text);
  std::vector<std::int32_t> ids;
  try {
    ids = model.tokenizer.encode(text);
  } catch (const Error& error) {
    throw usage_error(options.text + ": " + error.what(), error.hint());
  }
  require(ids.size() > 1, options.text + ": a text of fewer than two tokens can't be scored",
          "score a longer one");
  return score_windows(ids, model.tokenizer, model.config.n_positions);
}

}  // namespace

void add_run_options(CLI::App& command, RunOptions& options, std::vector<std::string> modes) {
  SettingsRecord& settings = options.settings;
  settings.modes = std::move(modes);
  command.add_option("--model", options.model, "auto, mini, gpt2, a folder or a weights file")
      ->capture_default_str();
  command
      .add_option(
          "--output-head", options.output_head,
          "tied: the token embedding; stored: the checkpoint's own (default: as config.json "
          "says)")
      ->check(CLI::IsMember({"tied", "stored"}));
  command.add_option("--prompts", options.prompts, "a shipped set (eight, alice-200) or a file")
      ->capture_default_str();
  command.add_option("--mode", settings.modes, "greedy, sample, score; several by commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"greedy", "sample", "score"}))
      ->capture_default_str();
  command.add_option("--text", options.text, "the text that the mode score feeds to both sides");
  command.add_option("--new-tokens", settings.new_tokens, "tokens generated for a prompt")
      ->check(whole_number(1, 1000000))
      ->capture_default_str();
  command.add_option("--top-k", settings.top_k, "sampling: keep the k highest (0: all)")
      ->check(whole_number(0, 1000000000))
      ->capture_default_str();
  command.add_option("--seed", settings.seed, "sampling: seeds the generator before each prompt")
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command.add_option("--temperature", settings.temperature, "sampling: divides the logits")
      ->check(number_between(1e-6, 1e6))
      ->capture_default_str();
  command
      .add_option("--sampler", settings.sampler,
                  "torch: each build's own generator; fixed: one of ours on both sides")
      ->check(CLI::IsMember({"torch", "fixed"}))
      ->capture_default_str();
  command.add_flag("--ignore-eos", settings.ignore_eos, "go on past the end-of-text token");
  command.add_flag("--no-cache", options.no_cache, "no KV cache: the whole context at each step");
  command.add_option("--batch", settings.batch, "prompts that run together, padded on the left")
      ->check(whole_number(1, 65536))
      ->capture_default_str();
  command.add_option("--dtype", settings.dtype, "float32, bfloat16, float16: computes in it")
      ->check(CLI::IsMember({"float32", "bfloat16", "float16"}))
      ->capture_default_str();
  command
      .add_option("--condition", options.conditions,
                  "[A:|B:|*:]NAME=VALUE: interop-threads, memory-limit, alignment or denormals of "
                  "the runners")
      ->allow_extra_args(false);
  command
      .add_option("--attention", options.attention,
                  "[A:|B:|*:]eager, sdpa or auto: by single operations, or by torch's "
                  "scaled_dot_product_attention (default: auto, what transformers do by default "
                  "where all builds can)")
      ->allow_extra_args(false);
  command
      .add_option("--on-divergence", settings.on_divergence,
                  "stop: compare up to a changed token; force: feed A's tokens to B")
      ->check(CLI::IsMember({"stop", "force"}))
      ->capture_default_str();
  command.add_option("--keep-top", settings.keep_top, "logits kept of each step, the highest")
      ->check(whole_number(2, 1000000))
      ->capture_default_str();
  add_runner_options(command, options);
}

void add_runner_options(CLI::App& command, RunOptions& options) {
  command.add_option("--threads", options.threads,
                     "[A:|B:|*:]N, intra-op threads of the runners (default 1)");
  command.add_option("--env", options.environment,
                     "[A:|B:|*:]NAME=VALUE, a variable of the runners; may be repeated");
  command
      .add_option("--runner-timeout", options.runner_timeout,
                  "seconds of silence after which a runner counts as hung")
      ->check(number_between(0.1, 1e6))
      ->capture_default_str();
  command.add_flag("--offline", options.offline, "fetch nothing");
}

void note_given(const CLI::App& command, RunOptions& options) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 0) {
      options.given.insert(option->get_name());
    }
  }
}

bool has_mode(const RunOptions& options, const std::string& mode) {
  const std::vector<std::string>& modes = options.settings.modes;
  return std::find(modes.begin(), modes.end(), mode) != modes.end();
}

void check_run_options(const RunOptions& options) {
  require(!has_mode(options, "score") || !options.text.empty(), "--mode score: no text to score",
          "name a file with --text");
  require(has_mode(options, "score") || options.text.empty(),
          "--text: only the mode score reads a text", "add --mode score");
  std::vector<std::string> modes = options.settings.modes;
  std::sort(modes.begin(), modes.end());
  require(std::adjacent_find(modes.begin(), modes.end()) == modes.end(),
          "--mode: a mode is named twice", "name each once");
  check_batch(options.settings);
  require(options.settings.batch == 1 || has_mode(options, "greedy") || has_mode(options, "sample"),
          "--batch: windows of a text are scored alone", "leave it out, or add --mode greedy");
}

void check_batch(const SettingsRecord& settings) {
  require(settings.batch == 1 || settings.on_divergence != "force",
          fmt::format("--batch {} and --on-divergence force: prompts of a batch can't be fed "
                      "another side's tokens",
                      settings.batch),
          "leave out one of the two");
}

void check_alike(const RunOptions& options, const std::string& why) {
  const Sided environment = parse_sided_environment(options.environment);
  const std::vector<std::uint32_t> threads = parse_sided_threads(options.threads);
  const std::vector<Conditions> conditions = parse_sided_conditions(options.conditions);
  const auto attention = parse_sided_attention(options.attention);
  require(environment.of[0] == environment.of[1] && threads[0] == threads[1] &&
              conditions[0] == conditions[1] && attention[0] == attention[1],
          "--env, --threads, --condition and --attention: " + why, "leave out A: and B:");
}

std::vector<std::string> input_files(const RunOptions& options, std::vector<std::string> others) {
  others.insert(others.end(), {options.prompts, options.text, options.model});
  return others;
}

AuditRequest request_of(const RunOptions& options, const Model& model) {
  AuditRequest request;
  request.settings = options.settings;
  request.settings.cache = !options.no_cache;
  request.settings.text = options.text;
  request.timeout_seconds = options.runner_timeout;
  request.prompts = load_prompts(options.prompts, model.tokenizer, model.config);
  request.text = text_windows(options, model);
  return request;
}

ModelOptions model_options(const RunOptions& options) {
  ModelOptions model;
  model.offline = options.offline;
  model.head = head_choice(options.output_head);
  return model;
}

Model open_run_model(const RunOptions& options, Progress& progress) {
  return open_model(options.model, model_options(options), progress);
}

void note_dropped(const RunnerEnvironment& environment, Progress& progress) {
  for (const std::string& name : environment.dropped) {
    progress.note(fmt::format("warning: {} is set here but not passed on to the runners", name));
  }
}

void note_side(const Side& side, std::size_t index, Progress& progress) {
  const std::uint32_t cores = this_host().cores;
  if (cores > 0 && side.threads > cores) {
    progress.note(
        fmt::format("warning: {} threads on {} cores: OpenMP's threads then wait for one "
                    "another, and a run may take very long",
                    side.threads, cores));
  }
  if (index == 0) {
    note_dropped(side.environment, progress);
  }
}

Side open_side(const std::string& name, std::size_t index, const RunOptions& options,
               SideAttention attention, Progress& progress) {
  const Sided environment = parse_sided_environment(options.environment);
  Side side;
  side.build = open_build(name, BuildOptions{options.offline}, progress);
  side.runner = open_runner(side.build, progress).program;
  side.environment = runner_environment(current_environment(), environment.of.at(index));
  side.threads = parse_sided_threads(options.threads).at(index);
  side.dtype = options.settings.dtype;
  side.conditions = parse_sided_conditions(options.conditions).at(index);
  side.attention = std::move(attention);
  side.fault = planted_fault(index == 0 ? "A" : "B");
  return side;
}

}  // namespace drift
