#include "driftaudit/model.hpp"

#include <utility>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/paths.hpp"

#include "model/canonical.hpp"

namespace drift {
namespace {

/// Models are often padded to a round number of logits; more than this is another vocabulary.
constexpr std::size_t kMostPadding = 1024;

/// Which model a name means.
struct Choice {
  std::string name;
  std::string why;
  fs::path source;  // a folder, or a weights file in one
};

Choice mini(const std::string& why) { return {"mini", why, data_folder() / "models" / "mini"}; }

Choice fetched_gpt2(const ModelOptions& options, Progress& progress) {
  if (const auto found = find_hub_model(options.gpt2, progress)) {
    return {"gpt2", "cached", *found};
  }
  return {"gpt2", "fetched from the hub", fetch_gpt2(options, progress)};
}

Choice choose_automatically(const ModelOptions& options, Progress& progress) {
  if (const auto found = find_hub_model(options.gpt2, progress)) {
    return {"gpt2", "cached", *found};
  }
  if (options.offline || hub_is_off()) {
    return mini(fmt::format("gpt2 isn't cached, and {} is set",
                            options.offline ? "--offline" : "HF_HUB_OFFLINE"));
  }
  if (const auto reason = hub_out_of_reach(options.gpt2)) {
    return mini(fmt::format("gpt2 isn't cached, and the hub is out of reach: {}", *reason));
  }
  return fetched_gpt2(options, progress);
}

Choice choose(const std::string& name, const ModelOptions& options, Progress& progress) {
  if (name == "auto") {
    return choose_automatically(options, progress);
  }
  if (name == "gpt2") {
    return fetched_gpt2(options, progress);
  }
  if (name == "mini") {
    return mini("");
  }
  if (name.empty() || !fs::exists(name)) {
    throw usage_error(fmt::format("{}: no such model", name.empty() ? "\"\"" : name),
                      fmt::format("choose {}", kModelChoices));
  }
  return {name, "", name};
}

ModelConfig config_in(const fs::path& folder) {
  const fs::path file = folder / "config.json";
  if (!fs::exists(file)) {
    throw usage_error(fmt::format("{}: no model: config.json is missing", folder.string()),
                      "a model's folder needs config.json, weights and tokenizer files");
  }
  return read_model_config(file);
}

/// A folder's tokenizer; one that isn't there or isn't known costs only texts, not ids.
Tokenizer tokenizer_in(const fs::path& folder, const ModelConfig& config) {
  Tokenizer tokenizer = [&] {
    try {
      Tokenizer found = Tokenizer::from_folder(folder);
      if (found.size() + kMostPadding < config.vocab_size) {
        throw usage_error(
            fmt::format("{}: the tokenizer has {} ids, but config.json says that vocab_size is {}",
                        folder.string(), found.size(), config.vocab_size),
            "the tokenizer's files and the model must belong together; or give prompts as ids");
      }
      return found;
    } catch (const Error& error) {
      if (error.status() != Status::kUsage) {
        throw;
      }
      return Tokenizer::none(error);
    }
  }();
  tokenizer.fit_to(config.vocab_size);
  return tokenizer;
}

void note_left_out(const CheckpointFacts& facts, const ModelConfig& config, Progress& progress) {
  if (!facts.other_heads.empty()) {
    progress.note(fmt::format("note: left out, since a language model has no use for them: {}",
                              fmt::join(facts.other_heads, ", ")));
  }
  for (const std::string& note : config.notes) {
    progress.note("note: " + note);
  }
}

}  // namespace

Model open_model(const std::string& name, const ModelOptions& options, Progress& progress) {
  Choice choice = choose(name, options, progress);
  fs::path folder = choice.source;
  if (!fs::is_directory(folder)) {
    folder = fs::absolute(folder).parent_path();
  }
  ModelConfig config = config_in(folder);
  const bool config_tied = config.tied;
  Tokenizer tokenizer = tokenizer_in(folder, config);
  CanonicalWeights weights =
      canonical_weights(choice.source, folder / "config.json", config, options.head, progress);
  std::vector<std::string> warnings = tokenizer.warnings();
  if (std::string warning = head_warning(weights.facts.head, config_tied, options.head);
      !warning.empty()) {
    warnings.push_back(std::move(warning));
  }
  note_left_out(weights.facts, config, progress);
  return {std::move(choice.name),
          std::move(choice.why),
          std::move(choice.source),
          std::move(weights.file),
          std::move(weights.digest),
          std::move(weights.facts.dtype),
          weights.facts.head,
          options.head != HeadChoice::kConfig,
          std::move(weights.facts.other_heads),
          std::move(warnings),
          config,
          std::move(tokenizer)};
}

fs::path fetch_gpt2(const ModelOptions& options, Progress& progress) {
  return fetch_hub_model(options.gpt2, options.offline, progress);
}

}  // namespace drift
