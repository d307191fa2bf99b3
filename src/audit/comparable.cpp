#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/saved_side.hpp"

#include "base/transformers_calls.hpp"

namespace drift {
namespace {

/// Gathers what differs, in words.
class Differences {
 public:
  template <class T>
  void add(const std::string& what, const T& a, const T& b) {
    if (a != b) {
      found_.push_back(fmt::format("{}: {} and {}", what, in_words(a), in_words(b)));
    }
  }
  void add_text(std::string text) { found_.push_back(std::move(text)); }
  std::vector<std::string> take() { return std::move(found_); }

 private:
  static std::string in_words(bool value) { return value ? "yes" : "no"; }
  static std::string in_words(const std::string& value) { return value.empty() ? "none" : value; }
  static std::string in_words(const std::vector<std::string>& values) {
    return fmt::format("{}", fmt::join(values, ","));
  }
  static std::string in_words(const std::map<std::string, std::string>& values) {
    std::string words;
    for (const auto& [name, value] : values) {
      words += fmt::format("{}{}={}", words.empty() ? "" : " ", name, value);
    }
    return words.empty() ? "none" : words;
  }
  template <class T>
  static std::string in_words(const T& value) {
    return fmt::format("{}", value);
  }

  std::vector<std::string> found_;
};

void add_prompts(Differences& differences, const char* what, const std::vector<Prompt>& a,
                 const std::vector<Prompt>& b) {
  if (a.size() != b.size()) {
    differences.add(fmt::format("number of {}s", what), a.size(), b.size());
    return;
  }
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].ids != b[i].ids) {
      others.push_back(i + 1);
    }
  }
  if (!others.empty()) {
    differences.add_text(fmt::format("{} of {} {}s have other ids, the first is {} {}",
                                     others.size(), a.size(), what, what, others[0]));
  }
}

bool samples(const SettingsRecord& settings) {
  return std::find(settings.modes.begin(), settings.modes.end(), "sample") != settings.modes.end();
}

bool samples_alike(const SettingsRecord& x, const SettingsRecord& y) {
  return x.seed == y.seed && x.top_k == y.top_k && x.temperature == y.temperature &&
         x.sampler == y.sampler;
}

/// The prompts that both sides have in a mode, by their ids, into both sides of `part` under the
/// same new numbers.
void match_runs(const std::string& mode, const SavedSide& a, const SavedSide& b, CommonPart& part) {
  std::map<std::vector<std::int32_t>, std::size_t> of_b;
  for (const auto& [key, index] : b.runs) {
    if (key.first == mode) {
      of_b.emplace(b.report->runs[index].prompt_ids, index);
    }
  }
  std::uint32_t number = 0;
  for (const auto& [key, index] : a.runs) {
    const auto other = key.first == mode ? of_b.find(a.report->runs[index].prompt_ids) : of_b.end();
    if (other != of_b.end()) {
      ++number;
      part.a.runs.emplace(std::make_pair(mode, number), index);
      part.b.runs.emplace(std::make_pair(mode, number), other->second);
    }
  }
}

/// Where a side of the report ran.
RecordedBuild conditions(const Report& report, const BuildRecord& build) {
  return build.recorded.value_or(RecordedBuild{"", report.tool, report.created, report.host});
}

/// A side's attention in words, without a scale that can't show in the model's bits.
std::string attention_of(const Report& report, const BuildRecord& build) {
  SideAttention attention = build.attention;
  const ModelRecord& model = report.model;
  if (!scale_shows(model.n_head == 0 ? 0 : model.n_embd / model.n_head)) {
    attention.scale = ScoreScale::kDivide;
  }
  return attention_words(attention);
}

/// For which positions generate() asks logits: products of another shape give other bits.
std::string head_calls(const BuildRecord& build) {
  return asks_last_position(build.attention) ? "the last position" : "all positions";
}

void add_caches(Differences& differences, const Report& report) {
  std::array<std::set<bool>, 2> caches;
  for (const Run& run : report.runs) {
    if (run.build < 2) {
      caches.at(run.build).insert(run.cache);
    }
  }
  if (caches[0].size() == 1 && caches[1].size() == 1) {
    differences.add("KV cache", *caches[0].begin(), *caches[1].begin());
  }
}

}  // namespace

std::vector<std::string> not_comparable(const SavedSide& a, const SavedSide& b) {
  Differences differences;
  const SettingsRecord& x = a.report->settings;
  const SettingsRecord& y = b.report->settings;
  differences.add("weights (SHA-256)", a.report->model.digest, b.report->model.digest);
  if (!a.report->model.output_head.empty() && !b.report->model.output_head.empty()) {
    differences.add("output head", a.report->model.output_head, b.report->model.output_head);
  }
  differences.add("modes", x.modes, y.modes);
  add_prompts(differences, "prompt", a.prompts().prompts, b.prompts().prompts);
  add_prompts(differences, "text window", a.text(), b.text());
  differences.add("new tokens", x.new_tokens, y.new_tokens);
  differences.add("end-of-text ignored", x.ignore_eos, y.ignore_eos);
  if (samples(x) && samples(y)) {
    differences.add("seed", x.seed, y.seed);
    differences.add("top-k", x.top_k, y.top_k);
    differences.add("temperature", x.temperature, y.temperature);
    differences.add("sampler", x.sampler, y.sampler);
  }
  return differences.take();
}

CommonPart common_part(const SavedSide& a, const SavedSide& b) {
  const SettingsRecord& x = a.report->settings;
  const SettingsRecord& y = b.report->settings;
  if (a.report->model.digest != b.report->model.digest) {
    throw usage_error(fmt::format("{} and {} ran other weights (SHA-256): {} and {}", a.name,
                                  b.name, a.report->model.digest, b.report->model.digest),
                      "only runs of the same weights can be compared");
  }
  CommonPart part{x, a, b};
  part.settings.modes.clear();
  part.settings.new_tokens = std::min(x.new_tokens, y.new_tokens);
  part.a.runs.clear();
  part.b.runs.clear();
  for (const std::string& mode : x.modes) {
    if (mode != "sample" || samples_alike(x, y)) {
      const std::size_t before = part.a.runs.size();
      match_runs(mode, a, b, part);
      if (part.a.runs.size() > before) {
        part.settings.modes.push_back(mode);
      }
    }
  }
  if (part.a.runs.empty()) {
    throw usage_error(fmt::format("{} and {} have no prompt in common", a.name, b.name),
                      "record one of them again with the other's prompts and modes");
  }
  return part;
}

std::vector<std::string> differing_batches(const SavedSide& a, const SavedSide& b) {
  const std::uint32_t x = a.report->settings.batch;
  const std::uint32_t y = b.report->settings.batch;
  Differences differences;
  differences.add("batch", x, y);
  if (x == y && x > 1) {
    Differences prompts;
    add_prompts(prompts, "prompt", a.prompts().prompts, b.prompts().prompts);
    if (!prompts.take().empty()) {
      differences.add_text("batches of other prompts");
    }
  }
  return differences.take();
}

std::vector<std::string> differing_conditions(const Report& report) {
  if (report.builds.size() != 2) {
    return {};
  }
  Differences differences;
  const BuildRecord& a = report.builds[0];
  const BuildRecord& b = report.builds[1];
  if (!a.recorded && !b.recorded) {
    // Sides that run now differ as they were asked to, but for what their transformers decide.
    if (a.attention.kind == b.attention.kind) {
      differences.add("attention", attention_of(report, a), attention_of(report, b));
      differences.add("logits of", head_calls(a), head_calls(b));
    }
    return differences.take();
  }
  differences.add("attention", attention_of(report, a), attention_of(report, b));
  differences.add("logits of", head_calls(a), head_calls(b));
  const RecordedBuild there = conditions(report, a);
  const RecordedBuild here = conditions(report, b);
  differences.add("threads", a.threads, b.threads);
  differences.add("knobs", a.knobs, b.knobs);
  differences.add("conditions", unusual_conditions(a.conditions), unusual_conditions(b.conditions));
  add_caches(differences, report);
  differences.add("processor", there.host.cpu, here.host.cpu);
  if (there.host.cpu == here.host.cpu) {
    differences.add("processor's flags", there.host.cpu_flags, here.host.cpu_flags);
  }
  differences.add("kernels", a.cpu_capability, b.cpu_capability);
  differences.add("BLAS", a.blas, b.blas);
  if (a.blas_dispatch && b.blas_dispatch) {  // reports of before don't say
    differences.add("BLAS dispatch", *a.blas_dispatch, *b.blas_dispatch);
  }
  differences.add("BLAS threads", a.blas_threads.value_or(0), b.blas_threads.value_or(0));
  differences.add("operating system's kernel", there.host.kernel, here.host.kernel);
  differences.add("program", there.tool, here.tool);
  return differences.take();
}

}  // namespace drift
