#include "driftaudit/audit.hpp"

#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

#include <fmt/core.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/report.hpp"

#include "cli/checks.hpp"
#include "cli/command.hpp"
#include "cli/sided.hpp"

namespace drift {
namespace {

struct AuditOptions {
  std::vector<std::string> sides;
  std::string model = "auto";
  std::string prompts = "eight";
  std::string text;
  SettingsRecord settings;
  bool no_cache = false;
  std::vector<std::string> threads;
  std::vector<std::string> environment;
  double runner_timeout = 300;
  std::string fail_on = "tokens";
  std::string out = "report.json";
  std::string markdown;
  bool json = false;
  bool quiet = false;
  bool offline = false;
};

void require(bool holds, const std::string& what, const std::string& hint) {
  if (!holds) {
    throw usage_error(what, hint);
  }
}

bool has_mode(const AuditOptions& options, const std::string& mode) {
  const std::vector<std::string>& modes = options.settings.modes;
  return std::find(modes.begin(), modes.end(), mode) != modes.end();
}

/// What the parser alone can't see.
void check(const AuditOptions& options) {
  require(options.sides.size() != 1, "an audit takes two sides, or none for the two default ones",
          "name a second build, such as driftaudit audit " +
              (options.sides.empty() ? "" : options.sides[0]) + " 1.13.1");
  require(!has_mode(options, "score") || !options.text.empty(), "--mode score: no text to score",
          "name a file with --text");
  require(has_mode(options, "score") || options.text.empty(),
          "--text: only the mode score reads a text", "add --mode score");
  std::vector<std::string> modes = options.settings.modes;
  std::sort(modes.begin(), modes.end());
  require(std::adjacent_find(modes.begin(), modes.end()) == modes.end(),
          "--mode: a mode is named twice", "name each once");
}

/// An output must not replace an input or the other output.
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

/// Learns now, not after the run, that an output can't be written.
void check_writable(const std::string& path) {
  if (!path.empty()) {
    const AtomicFile probe(path);
  }
}

std::vector<Side> open_sides(const AuditOptions& options, Progress& progress) {
  const Sided environment = parse_sided_environment(options.environment);
  const std::vector<std::uint32_t> threads = parse_sided_threads(options.threads);
  const std::string fault = environment_value("DRIFTAUDIT_TEST_FAULT");
  std::vector<Side> sides;
  for (std::size_t i = 0; i < options.sides.size(); ++i) {
    Side side;
    side.build = open_build(options.sides[i], BuildOptions{options.offline}, progress);
    side.runner = open_runner(side.build, progress).program;
    side.environment = runner_environment(current_environment(), environment.of[i]);
    side.threads = threads[i];
    if (fault.rfind(i == 0 ? "A:" : "B:", 0) == 0) {
      side.fault = fault.substr(2);
    }
    sides.push_back(std::move(side));
  }
  for (const std::string& name : sides[0].environment.dropped) {
    progress.note(fmt::format("warning: {} is set here but not passed on to the runners", name));
  }
  return sides;
}

std::vector<Prompt> text_windows(const AuditOptions& options, const Model& model) {
  if (options.text.empty()) {
    return {};
  }
  std::vector<std::int32_t> ids;
  try {
    ids = model.tokenizer.encode(read_file(options.text));
  } catch (const Error& error) {
    const std::string what = error.what();
    const bool named = what.rfind(options.text, 0) == 0;
    throw usage_error(named ? what : options.text + ": " + what, error.hint());
  }
  require(ids.size() > 1, options.text + ": a text of fewer than two tokens can't be scored",
          "score a longer one");
  return score_windows(ids, model.tokenizer, model.config.n_positions);
}

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
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
  check_apart(options.out, {options.prompts, options.text, options.markdown, options.model});
  check_apart(options.markdown, {options.prompts, options.text, options.model});
  check_writable(options.out);
  check_writable(options.markdown);
  if (options.sides.empty()) {
    options.sides = {"january-2022", "december-2022"};
  }
  const std::unique_ptr<Progress> progress = progress_for(options.quiet);
  const Model model = open_model(options.model, ModelOptions{options.offline}, *progress);
  AuditRequest request;
  request.settings = options.settings;
  request.settings.cache = !options.no_cache;
  request.settings.text = options.text;
  request.timeout_seconds = options.runner_timeout;
  request.prompts = load_prompts(options.prompts, model.tokenizer, model.config);
  request.text = text_windows(options, model);
  request.sides = open_sides(options, *progress);

  Report report = run_audit(request, model, *progress);
  report.tool = "driftaudit " DRIFTAUDIT_VERSION;
  if (!options.out.empty()) {
    write_report(report, options.out);
  }
  if (!options.markdown.empty()) {
    write_file(options.markdown, report_markdown(report));
  }
  if (options.json) {
    fmt::print("{}", report_json(report));
  } else {
    const bool colour = ::isatty(STDOUT_FILENO) != 0 && environment_value("NO_COLOR").empty();
    fmt::print("{}", report_table(report, colour, terminal_width()));
    if (!options.out.empty()) {
      fmt::print("report   {} ({})\n", options.out,
                 format_bytes(std::filesystem::file_size(options.out)));
    }
  }
  return gate(options, report.summary);
}

void add_run_options(CLI::App& command, AuditOptions& options) {
  SettingsRecord& settings = options.settings;
  settings.modes = {"greedy", "sample"};
  command.add_option("--model", options.model, "auto, mini, gpt2, a folder or a weights file")
      ->capture_default_str();
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
  command
      .add_option("--on-divergence", settings.on_divergence,
                  "stop: compare up to a changed token; force: feed A's tokens to B")
      ->check(CLI::IsMember({"stop", "force"}))
      ->capture_default_str();
  command.add_option("--keep-top", settings.keep_top, "logits kept of each step, the highest")
      ->check(whole_number(2, 1000000))
      ->capture_default_str();
  command.add_option("--threads", options.threads,
                     "[A:|B:|*:]N, intra-op threads of the runners (default 1)");
  command.add_option("--env", options.environment,
                     "[A:|B:|*:]NAME=VALUE, a variable of the runners; may be repeated");
  command
      .add_option("--runner-timeout", options.runner_timeout,
                  "seconds of silence after which a runner counts as hung")
      ->check(number_between(0.1, 1e6))
      ->capture_default_str();
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
  add_run_options(*command, *options);
  command
      ->add_option("--fail-on", options->fail_on, "exit with 1 on changed tokens, bits, or never")
      ->check(CLI::IsMember({"tokens", "bits", "never"}))
      ->capture_default_str();
  CLI::Option* out = command->add_option("--out", options->out, "the report's path");
  out->capture_default_str();
  command->add_option("--markdown", options->markdown, "write a summary in Markdown there");
  command->add_flag("--json", options->json, "the report on stdout (and to --out only if given)");
  command->add_flag("--quiet", options->quiet, "no progress");
  command->add_flag("--offline", options->offline, "fetch nothing");
  command->callback([options, out, &action] {
    action = [options, to_file = out->count() > 0] {
      if (options->json && !to_file) {
        options->out.clear();
      }
      return audit(*options);
    };
  });
}

}  // namespace drift
