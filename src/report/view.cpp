#include "report/view.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "report/columns.hpp"
#include "report/report_fields.hpp"
#include "report/utf8.hpp"
#include "report/verdict.hpp"

namespace drift {
namespace {

constexpr std::size_t kMostRows = 20;

std::string in_millions(std::uint64_t count) {
  const auto value = static_cast<double>(count);
  if (value >= 1e9) {
    return fmt::format("{:.1f} G", value / 1e9);
  }
  if (value >= 1e6) {
    return fmt::format("{:.{}f} M", value / 1e6, value >= 1e8 ? 0 : 1);
  }
  return fmt::format("{}", count);
}

/// " · sdpa attention" of all builds; empty where it isn't shown, or is each one's own.
std::string common_attention(const Report& report) {
  const std::vector<BuildRecord>& builds = report.builds;
  if (!shows_attention(report)) {
    return "";
  }
  SideAttention common = builds.front().attention;
  for (const BuildRecord& build : builds) {
    if (build.attention.kind != common.kind) {
      return "";
    }
  }
  for (const BuildRecord& build : builds) {
    if (build.attention.scale != common.scale) {
      return " · eager attention (scaled as each build's transformers)";
    }
  }
  return " · " + attention_words(common, " attention");
}

/// Rows worth showing first have the least key.
std::pair<bool, double> urgency(const PromptComparison& prompt) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {!prompt.first_token_change, prompt.smallest_gap ? prompt.smallest_gap->value : kInfinity};
}

}  // namespace

View::View(const Report& report) : report_(report) {
  for (const Run& run : report.runs) {
    runs_.emplace(std::make_tuple(run.build, run.mode, run.prompt), &run);
  }
}

const Run* View::run(std::uint32_t build, const std::string& mode, std::uint32_t prompt) const {
  const auto at = runs_.find({build, mode, prompt});
  return at == runs_.end() ? nullptr : at->second;
}

std::string View::model_line() const {
  const ModelRecord& model = report_.model;
  std::string line = visible(model.name);
  if (!model.why.empty()) {
    line += fmt::format(" ({})", visible(model.why));
  }
  line += fmt::format(" · {} · {} parameters", counted(model.n_layer, "layer"),
                      in_millions(model.parameters));
  if (report_.settings.dtype != "float32") {
    line += " · " + report_.settings.dtype;
  }
  const std::string batches =
      report_.settings.batch > 1 ? fmt::format(" in batches of {}", report_.settings.batch) : "";
  if (report_.bisect || report_.sweep || report_.study ||
      (report_.rescore && report_.rescore->decoded_by)) {
    if (!report_.rescore) {  // of two sides each says its own
      line += common_attention(report_);
    }
    return line + fmt::format(" · prompts {} × {}{}", visible(report_.prompts),
                              counted(report_.settings.new_tokens, "token"), batches);
  }
  if (report_.rescore && !report_.rescore->decoded_by) {
    return line + fmt::format(" · {} of {}", counted(report_.rescore->requests.size(), "request"),
                              visible(report_.prompts));
  }
  if (report_.localize) {
    return line;
  }
  const bool generates = report_.settings.modes != std::vector<std::string>{"score"};
  std::set<std::uint32_t> numbers;
  for (const Run& run : report_.runs) {
    numbers.insert(run.prompt);
  }
  const std::uint64_t prompts = numbers.size();
  return line + (generates ? fmt::format(" · {} × {}{}", counted(prompts, "prompt"),
                                         counted(report_.settings.new_tokens, "token"), batches)
                           : " · " + counted(prompts, "text"));
}

std::vector<std::string> View::modes() const {
  std::vector<std::string> modes;
  for (const PromptComparison& prompt : report_.comparison) {
    if (std::find(modes.begin(), modes.end(), prompt.mode) == modes.end()) {
      modes.push_back(prompt.mode);
    }
  }
  return modes;
}

std::size_t View::count(const std::string& mode) const {
  return static_cast<std::size_t>(
      std::count_if(report_.comparison.begin(), report_.comparison.end(),
                    [&](const PromptComparison& prompt) { return prompt.mode == mode; }));
}

std::vector<const PromptComparison*> View::shown(const std::string& mode) const {
  std::vector<const PromptComparison*> shown;
  for (const PromptComparison& prompt : report_.comparison) {
    if (prompt.mode == mode) {
      shown.push_back(&prompt);
    }
  }
  if (shown.size() > kMostRows) {
    std::stable_sort(shown.begin(), shown.end(),
                     [](const auto* a, const auto* b) { return urgency(*a) < urgency(*b); });
    shown.resize(kMostRows);
  }
  std::stable_sort(shown.begin(), shown.end(),
                   [](const auto* a, const auto* b) { return a->prompt < b->prompt; });
  return shown;
}

std::string View::prompt_text(const PromptComparison& prompt) const {
  const Run* a = run(0, prompt.mode, prompt.prompt);
  return a == nullptr ? "" : visible(a->prompt_text);
}

std::size_t View::prompt_tokens(const PromptComparison& prompt) const {
  const Run* a = run(0, prompt.mode, prompt.prompt);
  return a == nullptr ? 0 : a->prompt_ids.size();
}

std::string View::ending(const PromptComparison& prompt) const {
  const Run* a = run(0, prompt.mode, prompt.prompt);
  const Run* b = run(1, prompt.mode, prompt.prompt);
  if (a == nullptr || b == nullptr) {
    return "";
  }
  const char* name_a = kStopNames.at(static_cast<std::size_t>(a->stopped));
  const char* name_b = kStopNames.at(static_cast<std::size_t>(b->stopped));
  if (a->stopped != b->stopped) {
    return fmt::format("A {}, B {}", name_a, name_b);
  }
  return a->stopped == Stop::kEndOfText || a->stopped == Stop::kContext ? name_a : "";
}

std::string View::token(std::int32_t id) const {
  const auto at = report_.tokens.find(id);
  return at == report_.tokens.end() ? fmt::format("<{}>", id) : at->second;
}

std::string report_heading(const View& view) {
  Columns sides({true, true, true, true, true, true, true, true});
  const std::vector<BuildRecord>& builds = view.report().builds;
  for (std::size_t i = 0; i < builds.size(); ++i) {
    std::vector<Cell> row{{std::string(1, static_cast<char>('A' + i))}};
    for (std::string& fact : side_facts(builds[i], attention_fact(view.report(), builds[i]))) {
      row.push_back({std::move(fact)});
    }
    sides.add(std::move(row));
  }
  return "model " + view.model_line() + "\n" + sides.text(false);
}

std::string plain_version(const std::string& torch) { return torch.substr(0, torch.find('+')); }

std::string kernels_name(const BuildRecord& build) {
  std::string name = build.cpu_capability;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return visible(name);
}

bool shows_attention(const Report& report) {
  const bool of_a_model =
      !(report.reveal && !report.localize) && !(report.bisect && report.bisect->operation);
  return of_a_model &&
         std::any_of(report.builds.begin(), report.builds.end(), [](const BuildRecord& build) {
           return has_sdpa(build.torch) || attention_words(build.attention) != "eager";
         });
}

std::string attention_fact(const Report& report, const BuildRecord& build) {
  return shows_attention(report) ? attention_words(build.attention, " attention") : "";
}

std::vector<std::string> side_facts(const BuildRecord& build, const std::string& attention) {
  std::string knobs;
  for (const auto& [name, value] : build.knobs) {
    knobs += fmt::format("{}{}={}", knobs.empty() ? "" : " ", name, value);
  }
  for (const auto& [name, value] : unusual_conditions(build.conditions)) {
    knobs += fmt::format("{}{}={}", knobs.empty() ? "" : " ", name, value);
  }
  if (build.recorded) {
    knobs += fmt::format("{}recorded {} in {}", knobs.empty() ? "" : "  ", build.recorded->created,
                         build.recorded->report);
  }
  std::vector<std::string> facts{"torch " + visible(build.torch), kernels_name(build),
                                 visible(build.blas), counted(build.threads, "thread")};
  if (!attention.empty()) {
    facts.push_back(attention);
  }
  facts.push_back(visible(build.label));
  facts.push_back(visible(knobs));
  return facts;
}

std::string from_step(const std::optional<std::uint32_t>& step) {
  return step ? fmt::format("step {}", *step) : "–";
}

std::vector<std::pair<std::string, std::string>> score_figures(const Summary& summary) {
  std::vector<std::pair<std::string, std::string>> figures;
  if (summary.perplexity_a && summary.perplexity_b) {
    figures.emplace_back("perplexity", fmt::format("A {:.8g} · B {:.8g}", *summary.perplexity_a,
                                                   *summary.perplexity_b));
  }
  if (!summary.kl_percentiles.empty()) {
    std::string line;
    for (const char* percent : {"50", "90", "99", "100"}) {
      const auto at = summary.kl_percentiles.find(percent);
      if (at != summary.kl_percentiles.end()) {
        line +=
            fmt::format("{}{} % {}", line.empty() ? "" : " · ", percent, short_number(at->second));
      }
    }
    figures.emplace_back("KL(A‖B), nats", line);
  }
  if (summary.top1_agreement) {
    figures.emplace_back("top token",
                         fmt::format("the same at {:.4g} % of {}", 100 * *summary.top1_agreement,
                                     counted(summary.steps, "position")));
  }
  return figures;
}

}  // namespace drift
