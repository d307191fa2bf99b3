#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "report/rescore_view.hpp"
#include "report/spelt_command.hpp"
#include "report/study_view.hpp"
#include "report/sweep_view.hpp"
#include "report/utf8.hpp"
#include "report/verdict.hpp"
#include "report/view.hpp"

namespace drift {
namespace {

bool on_generic_kernels(const Report& report) {
  return std::all_of(report.builds.begin(), report.builds.end(), [](const BuildRecord& build) {
    return build.cpu_capability == "DEFAULT" || build.cpu_capability == "default";
  });
}

bool laid_to_sampler(const Report& report) {
  return std::any_of(report.comparison.begin(), report.comparison.end(), [](const auto& prompt) {
    return prompt.token_change_cause && prompt.token_change_cause != TokenChangeCause::kLogits;
  });
}

bool unrepeatable(const Report& report) {
  return std::any_of(report.builds.begin(), report.builds.end(),
                     [](const BuildRecord& build) { return build.repeatable == false; });
}

void suggest_for_unrepeatable(const Report& report, std::vector<Suggestion>& next) {
  const bool threaded = std::any_of(report.builds.begin(), report.builds.end(),
                                    [](const BuildRecord& build) { return build.threads > 1; });
  if (threaded) {
    next.push_back(
        {"is it repeatable on one thread?", audit_command(report, {"--threads 1", true, true})});
  }
  next.push_back({"are the builds' files sound?", "driftaudit builds doctor"});
}

void suggest_for_changed_tokens(const Report& report, std::vector<Suggestion>& next) {
  if (laid_to_sampler(report) && report.settings.sampler != "fixed") {
    next.push_back({"do tokens still change when both sides draw alike?",
                    audit_command(report, {"--sampler fixed", true, true})});
  }
  if (report.settings.on_divergence == "stop" && !has_mode(report, "score") &&
      report.settings.batch == 1) {
    next.push_back({"how do the sides compare past the changed token?",
                    audit_command(report, {"--on-divergence force", true, true})});
  }
}

/// "1.10.1" of "1.10.1+cu102"; empty for what is no release.
std::string release_of(const BuildRecord& build) {
  const std::string release = plain_version(build.torch);
  const bool numbers = release.find_first_not_of("0123456789.") == std::string::npos;
  return numbers && std::count(release.begin(), release.end(), '.') == 2 ? release : "";
}

bool is_recorded(const Report& report) {
  return std::any_of(report.builds.begin(), report.builds.end(),
                     [](const BuildRecord& build) { return build.recorded.has_value(); });
}

/// The head width of a report's model; 0 where it isn't known.
std::uint32_t head_width(const ModelRecord& model) {
  return model.n_head == 0 ? 0 : model.n_embd / model.n_head;
}

/// Whether releases by themselves compute attention as both sides did: those have no transformers
/// that choose a scale.
bool has_releases_attention(const Report& report) {
  return std::all_of(report.builds.begin(), report.builds.end(), [&](const BuildRecord& build) {
    const SideAttention& attention = build.attention;
    return attention.kind == report.builds[0].attention.kind &&
           (attention.scale == ScoreScale::kDivide || !scale_shows(head_width(report.model)));
  });
}

void suggest_bisection(const Report& report, std::vector<Suggestion>& next) {
  const std::string first = release_of(report.builds[0]);
  const std::string last = release_of(report.builds[1]);
  if (first.empty() || last.empty() || first == last ||
      report.builds[0].knobs != report.builds[1].knobs ||
      report.builds[0].conditions != report.builds[1].conditions ||
      (!report.reveal && !has_releases_attention(report))) {
    return;
  }
  std::string command = fmt::format("driftaudit bisect {} {}", first, last);
  if (!report.reveal) {
    append_model(report.model, command);
  }
  append_batch(report.settings, command);
  for (const auto& [name, value] : report.builds[0].knobs) {
    append_knob("", name, value, command);
  }
  for (const auto& [name, value] : unusual_conditions(report.builds[0].conditions)) {
    command += fmt::format(" --condition {}={}", name, value);
  }
  if (!report.reveal && report.settings.dtype != "float32") {
    command += " --dtype " + report.settings.dtype;
  }
  if (!report.reveal) {
    std::vector<BuildRecord> releases = report.builds;
    for (BuildRecord& release : releases) {
      release.attention.transformers.reset();
    }
    append_attention(releases, command);
  }
  next.push_back({"in which release did the bits change?", command});
}

/// The prompt whose change localize would look at: the first one that changes greedily; null where
/// there is none.
const PromptComparison* first_changed_greedily(const Report& report) {
  const auto at = std::find_if(
      report.comparison.begin(), report.comparison.end(),
      [](const PromptComparison& p) { return p.mode == "greedy" && p.first_changed_step; });
  return at == report.comparison.end() ? nullptr : &*at;
}

/// The command's two sides, model and knobs.
std::string two_sided(const Report& report, const std::string& verb) {
  std::string command = "driftaudit " + verb;
  for (const BuildRecord& build : report.builds) {
    command += " " + quoted(visible(build.label));
  }
  append_model(report.model, command);
  append_knobs(report.builds, "", command);
  append_conditions(report.builds, command);
  append_attention(report.builds, command);
  return command;
}

/// Localize traces a prompt alone, in float32, operation by operation: both sides' passes must have
/// the same ones.
bool can_be_localized(const Report& report) {
  const bool alike =
      std::all_of(report.builds.begin(), report.builds.end(), [&](const BuildRecord& build) {
        return build.attention.kind == report.builds[0].attention.kind;
      });
  return alike && report.settings.batch == 1 && report.settings.dtype == "float32";
}

void suggest_localizing(const Report& report, std::vector<Suggestion>& next) {
  const PromptComparison* found = first_changed_greedily(report);
  if (found == nullptr || !can_be_localized(report)) {
    return;
  }
  std::string command = two_sided(report, "localize");
  if (report.prompts != "eight") {
    command += " --prompts " + quoted(visible(report.prompts));
  }
  if (!report.settings.cache) {
    command += " --no-cache";
  }
  command += fmt::format(" --prompt {}", found->prompt);
  if (*found->first_changed_step > 1) {
    command += fmt::format(" --step {}", *found->first_changed_step);
  }
  next.push_back({"which operation does it, and from which row length?", command});
}

/// What reveal calls a function of the forward pass; empty where it can't answer.
std::string revealed_name(const std::string& function) {
  if (function == "softmax" || function == "layer_norm" || function == "matmul") {
    return function;
  }
  return function == "addmm" || function == "linear" ? "matmul" : "";
}

/// A line a function: its files, then what to look for in them.
std::string likely_sources(const std::vector<SourceHint>& sources) {
  std::string text;
  for (const SourceHint& hint : sources) {
    if (hint.files.empty()) {
      continue;
    }
    text += text.empty() ? "" : "\n           ";
    text += visible(fmt::format("{}: {} ({})", hint.function, fmt::join(hint.files, ", "),
                                fmt::join(hint.symbols, ", ")));
    text += hint.note.empty() ? "" : "; " + visible(hint.note);
  }
  return text;
}

void suggest_sources(const std::vector<SourceHint>& hints, const std::string& compare,
                     std::vector<Suggestion>& next) {
  if (const std::string sources = likely_sources(hints); !sources.empty()) {
    next.push_back(
        {"which sources are likely the reason? (a guess by name: nothing proves it)", sources});
  }
  if (!compare.empty() && !hints.empty()) {
    next.push_back({"what changed between both builds' sources?", visible(compare)});
  }
}

void suggest_after_localizing(const Report& report, std::vector<Suggestion>& next) {
  const LocalizeRecord& record = *report.localize;
  for (const SourceHint& hint : record.sources) {
    if (const std::string name = revealed_name(hint.function);
        !name.empty() && !report.reveal && report.builds.size() == 2) {
      std::string command = fmt::format("driftaudit reveal {}", name);
      for (const BuildRecord& build : report.builds) {
        command += " " + quoted(visible(build.label));
      }
      append_knobs(report.builds, "", command);
      next.push_back({fmt::format("in which order does each side's {} add?", name), command});
      break;
    }
  }
  suggest_sources(record.sources, record.compare, next);
}

void suggest_more_text(const Report& report, std::vector<Suggestion>& next) {
  if (has_mode(report, "score")) {
    return;
  }
  if (report.prompts != "alice-200") {
    next.push_back({"does it hold over more text?",
                    audit_command(report, {"--prompts alice-200", false, true})});
  } else {
    next.push_back(
        {"does it hold over longer text?",
         audit_command(report, {fmt::format("--new-tokens {}", 2 * report.settings.new_tokens),
                                true, false})});
  }
}

/// Gives builds that computed none the attention that an audit of them would have.
void choose_attention(std::vector<BuildRecord>& builds) {
  std::vector<AttentionFacts> facts;
  for (const BuildRecord& build : builds) {
    facts.push_back({build.torch, ""});
  }
  for (BuildRecord& build : builds) {
    build.attention.kind = auto_attention(facts).kind;
  }
}

/// The audit of the two builds at a boundary.
Report around(const Report& report, const BisectBoundary& found) {
  Report pair;
  pair.model = report.model;
  pair.prompts = report.prompts;
  pair.settings = report.settings;
  if (report.bisect->operation) {  // then no model was asked for
    pair.model.why = "none";
    pair.prompts = "eight";
    pair.settings = SettingsRecord{};
    pair.settings.modes = {"greedy"};
  }
  for (const BuildRecord& build : report.builds) {
    if (build.label == found.before || build.label == found.after) {
      pair.builds.push_back(build);
    }
  }
  if (report.bisect->operation) {
    choose_attention(pair.builds);
  }
  return pair;
}

void suggest_after_bisection(const Report& report, std::vector<Suggestion>& next) {
  const BisectRecord& bisect = *report.bisect;
  if (!bisect.boundaries.empty()) {
    next.push_back({bisect.operation
                        ? "does it reach the tokens of a model?"
                        : "what changed there, and how close is the nearest token to flipping?",
                    audit_command(around(report, bisect.boundaries.front()), {})});
    if (can_be_localized(report)) {
      next.push_back({"which operation does it, and from which row length?",
                      two_sided(around(report, bisect.boundaries.front()), "localize")});
    }
  }
  if (!bisect.all) {
    next.push_back({bisect.ends_equal ? "do they change in between, and back?"
                                      : "is it the only change in the range?",
                    "the same command with --all"});
  } else if (!bisect.exhaustive && !bisect.assumed.empty()) {
    next.push_back({"is what was assumed true?", "the same command with --exhaustive"});
  }
}

void suggest_after_reveal(const Report& report, std::vector<Suggestion>& next) {
  const std::vector<OrderComparison>& found = report.reveal->comparisons;
  const auto differs = [](const OrderComparison& pair) { return pair.proved && !pair.same; };
  if (report.builds.size() == 2 && std::any_of(found.begin(), found.end(), differs)) {
    suggest_bisection(report, next);
    suggest_sources(report.reveal->sources, report.reveal->compare, next);
  }
}

}  // namespace

std::vector<Suggestion> suggestions(const Report& report) {
  constexpr std::size_t kMost = 2;
  std::vector<Suggestion> next;
  if (report.bisect) {
    suggest_after_bisection(report, next);
    return next;
  }
  if (report.localize) {
    suggest_after_localizing(report, next);
    return next;
  }
  if (report.reveal) {
    suggest_after_reveal(report, next);
    return next;
  }
  if (report.sweep) {
    return sweep_suggestions(report);
  }
  if (report.rescore) {
    return rescore_suggestions(report);
  }
  if (report.study) {
    return study_suggestions(report);
  }
  if (unrepeatable(report)) {
    suggest_for_unrepeatable(report, next);
  }
  if (report.builds.size() == 2 && report.summary.steps > 0) {
    if (report.summary.verdict == "diverged" && !is_recorded(report)) {
      suggest_for_changed_tokens(report, next);
    }
    if (report.summary.steps_changed > 0 && !is_recorded(report)) {
      suggest_localizing(report, next);
    }
    if (report.summary.steps_changed > 0) {
      suggest_bisection(report, next);
    }
    if (is_recorded(report)) {
      next.resize(std::min(next.size(), kMost));
      return next;  // the rest would need both builds at hand
    }
    if (report.summary.steps_changed > 0 && !on_generic_kernels(report)) {
      next.push_back({"do the bits still differ on kernels without vector instructions?",
                      audit_command(report, {.options = "--env '*:ATEN_CPU_CAPABILITY=default'",
                                             .replaced_knob = "ATEN_CPU_CAPABILITY"})});
    }
    if (report.summary.verdict != "diverged") {
      suggest_more_text(report, next);
    }
  }
  next.resize(std::min(next.size(), kMost));
  return next;
}

}  // namespace drift
