#include "cli/saved_options.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "driftaudit/error.hpp"

#include "cli/sided.hpp"

namespace drift {
namespace {

/// Refuses options that say something else than the saved side.
class Contradictions {
 public:
  Contradictions(const SavedSide& side, const RunOptions& options)
      : side_(side), options_(options) {}

  template <class T>
  void check(const std::string& option, const T& given, const T& saved) const {
    if (options_.given.contains(option) && given != saved) {
      throw usage_error(fmt::format("{} {} contradicts {}, which was recorded with {}", option,
                                    in_words(given), side_.name, in_words(saved)),
                        "leave the option out, or record the side anew");
    }
  }

 private:
  static std::string in_words(const std::vector<std::string>& values) {
    return fmt::format("{}", fmt::join(values, ","));
  }
  static std::string in_words(bool value) { return value ? "on" : "off"; }
  template <class T>
  static std::string in_words(const T& value) {
    return fmt::format("{}", value);
  }

  const SavedSide& side_;
  const RunOptions& options_;
};

void check_prompts(const SavedSide& side, const RunOptions& options, const Model& model) {
  if (!options.given.contains("--prompts")) {
    return;
  }
  const PromptSet given = load_prompts(options.prompts, model.tokenizer, model.config);
  const PromptSet saved = side.prompts();
  const auto same = [](const Prompt& a, const Prompt& b) { return a.ids == b.ids; };
  if (!std::equal(given.prompts.begin(), given.prompts.end(), saved.prompts.begin(),
                  saved.prompts.end(), same)) {
    throw usage_error(fmt::format("--prompts {} contradicts {}, which was recorded with the "
                                  "prompts {}",
                                  options.prompts, side.name, saved.name),
                      "leave the option out, or record the side anew");
  }
}

}  // namespace

void adopt_saved(const SavedSide& side, const RunOptions& options, const Model& model,
                 AuditRequest& request) {
  const SettingsRecord& saved = side.report->settings;
  const SettingsRecord& given = options.settings;
  const Contradictions contradictions(side, options);
  contradictions.check("--mode", given.modes, saved.modes);
  contradictions.check("--new-tokens", given.new_tokens, saved.new_tokens);
  contradictions.check("--top-k", given.top_k, saved.top_k);
  contradictions.check("--seed", given.seed, saved.seed);
  contradictions.check("--temperature", given.temperature, saved.temperature);
  contradictions.check("--sampler", given.sampler, saved.sampler);
  contradictions.check("--ignore-eos", given.ignore_eos, saved.ignore_eos);
  contradictions.check("--no-cache", !options.no_cache, saved.cache);
  contradictions.check("--batch", given.batch, saved.batch);
  contradictions.check("--dtype", given.dtype, saved.dtype);
  contradictions.check("--text", options.text, saved.text);
  check_prompts(side, options, model);
  request.settings = saved;
  request.settings.on_divergence = given.on_divergence;
  check_batch(request.settings);
  if (options.given.contains("--keep-top")) {
    request.settings.keep_top = given.keep_top;
  }
  request.timeout_seconds = options.runner_timeout;
  request.prompts = side.prompts();
  request.text = side.text();
}

Model open_saved_model(const SavedSide& side, const RunOptions& options, Progress& progress) {
  const ModelRecord& saved = side.report->model;
  const bool by_name = saved.name == "mini" || saved.name == "gpt2";
  const bool given = options.given.contains("--model");
  const std::string name = given ? options.model : by_name ? saved.name : saved.source;
  if (!given && !by_name && !std::filesystem::exists(name)) {
    throw usage_error(fmt::format("{}: the model of {} isn't there any more", name, side.name),
                      "name where it is now with --model");
  }
  if (saved.head_differing > 0) {
    Contradictions(side, options).check("--output-head", options.output_head, saved.output_head);
  }
  ModelOptions how = model_options(options);
  if (saved.output_head_asked && options.output_head.empty()) {
    how.head = head_choice(saved.output_head);
  }
  Model model = open_model(name, how, progress);
  if (model.digest != saved.digest && model.head.differing > 0 && saved.output_head.empty() &&
      options.output_head.empty()) {
    // Before the choice was there a stored head that differs was always used.
    how.head = HeadChoice::kStored;
    model = open_model(name, how, progress);
  }
  if (model.digest != saved.digest) {
    throw usage_error(
        fmt::format("{} has other weights than the model of {} (SHA-256): {} and {}",
                    given ? "--model " + name : name, side.name, model.digest, saved.digest),
        "name the model that was recorded with --model, or record the side anew");
  }
  return model;
}

RunOptions with_saved_conditions(const SavedSide& side, const RunOptions& options,
                                 std::size_t live) {
  const char saved_letter = live == 0 ? 'B' : 'A';
  const std::string own = live == 0 ? "A:" : "B:";
  RunOptions taken = options;
  const auto refuse_saved = [&](const std::string& option, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      if (value.size() > 1 && value[1] == ':' && value[0] == saved_letter) {
        throw usage_error(
            fmt::format("{} {}: side {} is saved in {}", option, value, saved_letter, side.name),
            "what was recorded can't be run otherwise; record it anew");
      }
    }
  };
  refuse_saved("--threads", options.threads);
  refuse_saved("--env", options.environment);
  refuse_saved("--condition", options.conditions);
  refuse_saved("--attention", options.attention);
  // The recorded ones first: later ones win.
  if (side.record().threads > 0) {
    taken.threads.insert(taken.threads.begin(), own + std::to_string(side.record().threads));
  }
  std::vector<std::string> knobs;
  for (const auto& [name, value] : side.record().knobs) {
    knobs.push_back(fmt::format("{}{}={}", own, name, value));
  }
  taken.environment.insert(taken.environment.begin(), knobs.begin(), knobs.end());
  std::vector<std::string> conditions;
  for (const auto& [name, value] : unusual_conditions(side.record().conditions)) {
    conditions.push_back(fmt::format("{}{}={}", own, name, value));
  }
  taken.settings.dtype = side.report->settings.dtype;
  taken.conditions.insert(taken.conditions.begin(), conditions.begin(), conditions.end());
  return taken;
}

}  // namespace drift
