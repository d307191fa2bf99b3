#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "driftaudit/report.hpp"

#include "report/bisect_view.hpp"
#include "report/columns.hpp"
#include "report/localize_view.hpp"
#include "report/report_fields.hpp"
#include "report/rescore_view.hpp"
#include "report/reveal_view.hpp"
#include "report/study_view.hpp"
#include "report/sweep_view.hpp"
#include "report/utf8.hpp"
#include "report/verdict.hpp"
#include "report/view.hpp"

namespace drift {
namespace {

constexpr const char* kRed = "31";
constexpr const char* kGreen = "32";
constexpr std::size_t kLeastPrompt = 12;
constexpr std::size_t kMostDivergences = 5;
constexpr std::size_t kMostRecorded = 20;

/// How the view is to look.
struct Look {
  bool colour = false;
  std::size_t width = 80;
};

/// A row's first cell: the prompt's number and text.
std::string prompt_cell(const View& view, const PromptComparison& prompt, std::size_t digits,
                        std::size_t width) {
  return fmt::format("  {:>{}}  {}", prompt.prompt, digits,
                     shortened(view.prompt_text(prompt), width));
}

std::vector<Cell> generated_cells(const View& view, const PromptComparison& p, bool endings) {
  const bool changed = p.first_token_change.has_value();
  std::vector<Cell> cells{
      {fmt::format("{}", view.prompt_tokens(p))},
      {changed ? "changed" : "same", changed ? kRed : ""},
      {from_step(p.first_changed_step)},
      {largest_change(p)},
      {p.smallest_gap ? short_number(p.smallest_gap->value) : "–"},
  };
  if (endings) {
    cells.push_back({view.ending(p)});
  }
  return cells;
}

std::vector<Cell> scored_cells(const PromptComparison& p) {
  const bool changed = p.first_token_change.has_value();
  return {
      {fmt::format("{}", p.steps)},
      {from_step(p.first_changed_step)},
      {from_step(p.first_token_change), changed ? kRed : ""},
      {largest_change(p)},
      {p.max_kl ? short_number(*p.max_kl) : "–"},
  };
}

/// A mode's table: `titles` and a row a prompt, the prompt's text cut so that lines fit.
std::string mode_table(const View& view, const std::string& mode,
                       const std::vector<std::string>& titles, const std::vector<bool>& left,
                       const std::vector<std::vector<Cell>>& rows, const Look& look) {
  const std::vector<const PromptComparison*> prompts = view.shown(mode);
  std::size_t digits = 1;
  for (const PromptComparison* prompt : prompts) {
    digits = std::max(digits, fmt::format("{}", prompt->prompt).size());
  }
  const auto assemble = [&](std::size_t prompt_width) {
    Columns columns(left);
    std::vector<Cell> head{{mode}};
    head.reserve(titles.size() + 1);
    for (const std::string& title : titles) {
      head.push_back({title});
    }
    columns.add(std::move(head));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::vector<Cell> row{{prompt_cell(view, *prompts[i], digits, prompt_width)}};
      row.insert(row.end(), rows[i].begin(), rows[i].end());
      columns.add(std::move(row));
    }
    return columns;
  };
  const Columns narrow = assemble(0);
  std::size_t others = digits + 4;
  for (std::size_t column = 1; column < left.size(); ++column) {
    others += narrow.width_of(column) + 2;
  }
  const std::size_t room = look.width > others ? look.width - others : 0;
  return assemble(std::max(room, kLeastPrompt)).text(look.colour);
}

std::string left_out(const View& view, const std::string& mode) {
  const std::size_t left = view.count(mode) - view.shown(mode).size();
  return left == 0 ? ""
                   : fmt::format("  … and {} of unchanged text or wider gaps: see the report\n",
                                 counted(left, "prompt"));
}

std::string generated_table(const View& view, const std::string& mode, const Look& look) {
  const std::vector<const PromptComparison*> prompts = view.shown(mode);
  const bool endings = std::any_of(prompts.begin(), prompts.end(),
                                   [&](const auto* p) { return !view.ending(*p).empty(); });
  std::vector<std::string> titles{"tokens", "text", "changed from", "max |Δlogit|", "smallest gap"};
  std::vector<bool> left{true, false, true, false, false, false};
  if (endings) {
    titles.emplace_back("ends by");
    left.push_back(true);
  }
  std::vector<std::vector<Cell>> rows;
  rows.reserve(prompts.size());
  for (const PromptComparison* prompt : prompts) {
    rows.push_back(generated_cells(view, *prompt, endings));
  }
  return mode_table(view, mode, titles, left, rows, look) + left_out(view, mode);
}

std::string scored_table(const View& view, const Look& look) {
  const std::vector<const PromptComparison*> prompts = view.shown("score");
  std::vector<std::vector<Cell>> rows;
  rows.reserve(prompts.size());
  for (const PromptComparison* prompt : prompts) {
    rows.push_back(scored_cells(*prompt));
  }
  std::string text = mode_table(
      view, "score", {"positions", "changed from", "top token from", "max |Δlogit|", "max KL"},
      {true, false, false, false, false, false}, rows, look);
  text += left_out(view, "score");
  Columns figures({true, true});
  for (const auto& [mode, summary] : view.report().by_mode) {
    if (mode == "score") {
      for (const auto& [name, value] : score_figures(summary)) {
        figures.add({{"  " + name}, {value}});
      }
    }
  }
  return text + figures.text(look.colour);
}

/// What one side did, where there is nothing to compare it with.
std::string recorded_table(const View& view, const std::string& mode, const Look& look) {
  Columns columns({true, false, false, false, false});
  columns.add({{mode}, {"tokens"}, {"steps"}, {"smallest gap"}, {"ends by"}});
  std::size_t shown = 0;
  std::size_t count = 0;
  for (const Run& run : view.report().runs) {
    if (run.mode != mode) {
      continue;
    }
    ++count;
    if (shown == kMostRecorded) {
      continue;
    }
    ++shown;
    double smallest = std::numeric_limits<double>::infinity();
    for (const Step& step : run.steps) {
      smallest = std::fmin(smallest, step.gap);
    }
    const std::size_t room = std::max(look.width / 2, kLeastPrompt);
    columns.add(
        {{fmt::format("  {:>3}  {}", run.prompt, shortened(visible(run.prompt_text), room))},
         {fmt::format("{}", run.prompt_ids.size())},
         {fmt::format("{}", run.steps.size())},
         {short_number(smallest)},
         {kStopNames.at(static_cast<std::size_t>(run.stopped))}});
  }
  std::string text = columns.text(look.colour);
  if (count > shown) {
    text += fmt::format("  … and {} more: see the report\n", counted(count - shown, "prompt"));
  }
  return text + "\n";
}

/// One side around its changed token, on one line.
std::string around_change(const View& view, const Run& run, std::size_t change,
                          const std::string& colour, const Look& look) {
  std::string before;
  for (std::size_t i = change > 40 ? change - 40 : 0; i < change; ++i) {
    before += view.token(next_token(run.steps[i]));
  }
  std::string after;
  for (std::size_t i = change + 1; i < std::min(run.steps.size(), change + 40); ++i) {
    after += view.token(next_token(run.steps[i]));
  }
  std::string token = visible(view.token(run.steps[change].token));
  if (!look.colour) {
    token = "[" + token + "]";
  }
  const std::size_t room = std::max<std::size_t>(look.width, 40) - 7;
  const std::string shown_before = shortened_front(visible(before), room / 2);
  const std::size_t taken = display_width(shown_before) + display_width(token);
  return shown_before + coloured(token, colour, look.colour) +
         shortened(visible(after), room > taken ? room - taken : 0);
}

std::string divergence(const View& view, const PromptComparison& p, const Look& look) {
  std::string text =
      fmt::format("  prompt {}: the token of step {} changed, attributed to {}\n", p.prompt,
                  *p.first_token_change, cause_in_words(p.token_change_cause));
  for (const std::uint32_t side : {0U, 1U}) {
    const Run* run = view.run(side, p.mode, p.prompt);
    const std::size_t change = *p.first_token_change - 1;
    if (run != nullptr && change < run->steps.size()) {
      text += fmt::format("    {}  {}\n", side == 0 ? 'A' : 'B',
                          around_change(view, *run, change, side == 0 ? kGreen : kRed, look));
    }
  }
  return text;
}

std::string divergences(const View& view, const std::string& mode, const Look& look) {
  std::string text;
  std::size_t count = 0;
  for (const PromptComparison& p : view.report().comparison) {
    if (p.mode == mode && p.first_token_change && ++count <= kMostDivergences) {
      text += divergence(view, p, look);
    }
  }
  if (count > kMostDivergences) {
    text += fmt::format("  … and {} more with a changed token: see the report\n",
                        counted(count - kMostDivergences, "prompt"));
  }
  return text;
}

std::string warning_lines(const Verdict& verdict, const Look& look) {
  std::string text;
  for (const std::string& warning : verdict.warnings) {
    text += wrapped(warning, "warning  ", "         ", look.width);
  }
  return text;
}

std::string ending(const Verdict& verdict, const Look& look) {
  std::string text = wrapped(verdict.headline, "verdict  ", "         ", look.width);
  for (const std::string& detail : verdict.details) {
    text += wrapped(detail, "  ", "    ", look.width);
  }
  for (const std::string& gate : verdict.tripped) {
    text += wrapped(gate, coloured("tripped", kRed, look.colour) + "  ", "         ", look.width);
  }
  const char* label = "next     ";
  for (const Suggestion& suggestion : verdict.next) {
    text += label + suggestion.question + "\n           " + suggestion.command + "\n";
    label = "         ";
  }
  return text;
}

}  // namespace

std::string report_table(const Report& report, bool colour, std::size_t width) {
  const View view(report);
  const Look look{colour, std::max<std::size_t>(width, 40)};
  const Verdict verdict = verdict_of(report);
  if (report.bisect) {
    return warning_lines(verdict, look) + bisect_table(report, colour) + "\n" +
           ending(verdict, look);
  }
  if (report.localize) {
    return warning_lines(verdict, look) + localize_table(view, colour) + "\n" +
           (report.reveal ? reveal_orders(report, colour, look.width) + "\n" : "") +
           ending(verdict, look);
  }
  if (report.reveal) {
    return warning_lines(verdict, look) + reveal_table(report, colour, look.width) + "\n" +
           ending(verdict, look);
  }
  if (report.sweep) {
    return warning_lines(verdict, look) + sweep_table(report, colour) + "\n" +
           ending(verdict, look);
  }
  if (report.rescore) {
    return warning_lines(verdict, look) + rescore_table(view, colour, look.width) + "\n" +
           ending(verdict, look);
  }
  if (report.study) {
    return warning_lines(verdict, look) + study_table(report, colour) + "\n" +
           ending(verdict, look);
  }
  std::string text = warning_lines(verdict, look) + report_heading(view) + "\n";
  for (const std::string& mode : report.settings.modes) {
    text += report.kind == "record" ? recorded_table(view, mode, look) : "";
  }
  for (const std::string& mode : view.modes()) {
    text += mode == "score" ? scored_table(view, look) : generated_table(view, mode, look);
    text += divergences(view, mode, look) + "\n";
  }
  return text + ending(verdict, look);
}

}  // namespace drift
