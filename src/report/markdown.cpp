#include <fmt/format.h>

#include "driftaudit/report.hpp"

#include "report/utf8.hpp"
#include "report/verdict.hpp"
#include "report/view.hpp"

namespace drift {
namespace {

constexpr std::size_t kPromptWidth = 48;

/// Text that Markdown shows as it is.
std::string plain(const std::string& text) {
  std::string shown;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]<>#|~&").find(c) != std::string_view::npos) {
      shown += '\\';
    }
    shown += c;
  }
  return shown;
}

std::string row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string head(const std::vector<std::string>& titles) {
  return row(titles) + row(std::vector<std::string>(titles.size(), "---"));
}

std::string sides(const Report& report) {
  std::vector<std::string> titles{"side", "torch", "kernels", "BLAS", "threads", "name", "knobs"};
  const bool attention = shows_attention(report);
  if (attention) {
    titles.insert(titles.end() - 2, "attention");
  }
  std::string text = head(titles);
  for (std::size_t i = 0; i < report.builds.size(); ++i) {
    std::vector<std::string> cells{std::string(1, static_cast<char>('A' + i))};
    const BuildRecord& build = report.builds[i];
    for (const std::string& fact :
         side_facts(build, attention ? attention_words(build.attention) : "")) {
      cells.push_back(plain(fact));
    }
    text += row(cells);
  }
  return text;
}

std::string prompt_cell(const View& view, const PromptComparison& p) {
  return fmt::format("{}. {}", p.prompt, plain(shortened(view.prompt_text(p), kPromptWidth)));
}

std::string generated(const View& view, const std::string& mode) {
  std::string text =
      head({mode, "tokens", "text", "changed from", "max \\|Δlogit\\|", "smallest gap", "ends by"});
  for (const PromptComparison* p : view.shown(mode)) {
    text += row({prompt_cell(view, *p), fmt::format("{}", view.prompt_tokens(*p)),
                 p->first_token_change
                     ? fmt::format("**changed** at step {} ({})", *p->first_token_change,
                                   cause_in_words(p->token_change_cause))
                     : "same",
                 from_step(p->first_changed_step), largest_change(*p),
                 p->smallest_gap ? short_number(p->smallest_gap->value) : "–", view.ending(*p)});
  }
  return text;
}

std::string scored(const View& view) {
  std::string text =
      head({"score", "positions", "changed from", "top token from", "max \\|Δlogit\\|", "max KL"});
  for (const PromptComparison* p : view.shown("score")) {
    text += row({prompt_cell(view, *p), fmt::format("{}", p->steps),
                 from_step(p->first_changed_step), from_step(p->first_token_change),
                 largest_change(*p), p->max_kl ? short_number(*p->max_kl) : "–"});
  }
  text += "\n";
  for (const auto& [mode, summary] : view.report().by_mode) {
    if (mode == "score") {
      for (const auto& [name, value] : score_figures(summary)) {
        text += fmt::format("- {}: {}\n", name, value);
      }
    }
  }
  return text;
}

}  // namespace

std::string report_markdown(const Report& report) {
  const View view(report);
  const Verdict verdict = verdict_of(report);
  if (report.bisect || report.localize || report.reveal || report.sweep || report.rescore ||
      report.study) {
    constexpr std::size_t kColumns = 100;
    return fmt::format("## driftaudit: {}\n\n```\n{}```\n", plain(verdict.headline),
                       report_table(report, false, kColumns));
  }
  std::string text = fmt::format("## driftaudit: {}\n\n", verdict.headline);
  for (const std::string& warning : verdict.warnings) {
    text += fmt::format("**Warning:** {}.\n\n", plain(warning));
  }
  text += fmt::format("Model {}\n\n{}\n", plain(view.model_line()), sides(report));
  for (const std::string& mode : view.modes()) {
    text += (mode == "score" ? scored(view) : generated(view, mode)) + "\n";
    const std::size_t left = view.count(mode) - view.shown(mode).size();
    if (left > 0) {
      text += fmt::format("… and {} of unchanged text or wider gaps.\n\n", counted(left, "prompt"));
    }
  }
  for (const std::string& detail : verdict.details) {
    text += fmt::format("- {}\n", detail);
  }
  if (!report.gates.empty()) {
    text += "\n" + head({"gate", "", "found"});
    for (const GateRecord& gate : report.gates) {
      text += row({fmt::format("`{}`", gate.gate), gate.tripped ? "**tripped**" : "passed",
                   plain(gate.finding)});
    }
  }
  for (const Suggestion& suggestion : verdict.next) {
    text += fmt::format("\nNext: {}\n\n    {}\n", suggestion.question, suggestion.command);
  }
  return text;
}

}  // namespace drift
