#include "report/spelt_command.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/utf8.hpp"

namespace drift {
namespace {

void append_settings(const SettingsRecord& settings, std::string& command) {
  const SettingsRecord defaults;
  if (settings.top_k != defaults.top_k) {
    command += fmt::format(" --top-k {}", settings.top_k);
  }
  if (settings.seed != defaults.seed) {
    command += fmt::format(" --seed {}", settings.seed);
  }
  if (settings.temperature != defaults.temperature) {
    command += fmt::format(" --temperature {}", settings.temperature);
  }
  if (settings.sampler != defaults.sampler) {
    command += " --sampler " + settings.sampler;
  }
  if (settings.dtype != defaults.dtype) {
    command += " --dtype " + settings.dtype;
  }
  if (settings.on_divergence != defaults.on_divergence) {
    command += " --on-divergence " + settings.on_divergence;
  }
  if (settings.ignore_eos) {
    command += " --ignore-eos";
  }
  if (!settings.cache) {
    command += " --no-cache";
  }
  append_batch(settings, command);
}

}  // namespace

std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
    return word;
  }
  std::string quoted = "'";
  for (const char c : word) {
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

bool has_mode(const Report& report, const std::string& mode) {
  const std::vector<std::string>& modes = report.settings.modes;
  return std::find(modes.begin(), modes.end(), mode) != modes.end();
}

void append_batch(const SettingsRecord& settings, std::string& command) {
  if (settings.batch > 1) {
    command += fmt::format(" --batch {}", settings.batch);
  }
}

void append_model(const ModelRecord& model, std::string& command) {
  if (model.why.empty()) {
    command += " --model " + quoted(visible(model.name));
  }
  if (model.output_head_asked && !model.output_head.empty()) {
    command += " --output-head " + model.output_head;
  }
}

void append_knob(const std::string& side, const std::string& name, const std::string& value,
                 std::string& command) {
  command += " --env ";
  command += quoted(visible(fmt::format("{}{}={}", side, name, value)));
}

void append_knobs(const std::vector<BuildRecord>& builds, const std::string& but,
                  std::string& command) {
  const bool alike = builds.size() == 2 && builds[0].knobs == builds[1].knobs;
  for (std::size_t i = 0; i < (alike ? 1 : builds.size()); ++i) {
    for (const auto& [name, value] : builds[i].knobs) {
      if (name != but) {
        append_knob(alike ? "" : (i == 0 ? "A:" : "B:"), name, value, command);
      }
    }
  }
  for (std::size_t i = 0; i < builds.size(); ++i) {
    if (builds[i].threads > 1) {
      command += fmt::format(" --threads {}:{}", i == 0 ? "A" : "B", builds[i].threads);
    }
  }
}

void append_conditions(const std::vector<BuildRecord>& builds, std::string& command) {
  const bool alike = builds.size() == 2 && builds[0].conditions == builds[1].conditions;
  for (std::size_t i = 0; i < (alike ? 1 : builds.size()); ++i) {
    for (const auto& [name, value] : unusual_conditions(builds[i].conditions)) {
      command +=
          fmt::format(" --condition {}{}={}", alike ? "" : (i == 0 ? "A:" : "B:"), name, value);
    }
  }
}

void append_attention(const std::vector<BuildRecord>& builds, std::string& command) {
  std::vector<AttentionFacts> facts;
  for (const BuildRecord& build : builds) {
    facts.push_back({build.torch, build.attention.transformers.value_or("")});
  }
  const Attention chosen = auto_attention(facts).kind;
  const bool alike = std::all_of(builds.begin(), builds.end(), [&](const BuildRecord& build) {
    return build.attention.kind == builds.front().attention.kind;
  });
  for (std::size_t i = 0; i < (alike ? std::min<std::size_t>(builds.size(), 1) : builds.size());
       ++i) {
    if (const Attention kind = builds[i].attention.kind; kind != chosen) {
      command += fmt::format(" --attention {}{}", alike ? "" : (i == 0 ? "A:" : "B:"),
                             names_of(kind).at(static_cast<std::size_t>(kind)));
    }
  }
}

std::string audit_command(const Report& report, const CommandChange& change) {
  const SettingsRecord defaults;
  std::string command = "driftaudit " + change.verb;
  for (const BuildRecord& build : report.builds) {
    command += " " + quoted(visible(build.label));
  }
  append_model(report.model, command);
  if (has_mode(report, "score")) {
    command += " --text " + quoted(visible(report.settings.text));
  }
  if (change.prompts && report.prompts != "eight") {
    command += " --prompts " + quoted(visible(report.prompts));
  }
  if (report.settings.modes != std::vector<std::string>{"greedy", "sample"}) {
    command += fmt::format(" --mode {}", fmt::join(report.settings.modes, ","));
  }
  append_settings(report.settings, command);
  append_knobs(report.builds, change.replaced_knob, command);
  append_conditions(report.builds, command);
  append_attention(report.builds, command);
  if (change.new_tokens && report.settings.new_tokens != defaults.new_tokens) {
    command += fmt::format(" --new-tokens {}", report.settings.new_tokens);
  }
  return command + (change.options.empty() ? "" : " " + change.options);
}

}  // namespace drift
