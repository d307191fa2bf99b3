#include "report/sweep_view.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/bisect_view.hpp"
#include "report/columns.hpp"
#include "report/runner_warnings.hpp"
#include "report/sweep_failures.hpp"
#include "report/utf8.hpp"
#include "report/view.hpp"

namespace drift {
namespace {

constexpr const char* kMoved = "31";
constexpr std::size_t kMostCells = 64;
constexpr std::size_t kMostNamed = 24;
constexpr std::size_t kMostWarned = 8;

std::string setting(const std::string& name, const std::string& value) {
  return visible(value.empty() ? name + " unset" : name + "=" + value);
}

/// The knobs of a cell that aren't at their first values.
std::string off_base(const SweepRecord& sweep, const SweepCell& cell) {
  std::string text;
  for (const SweepKnob& knob : sweep.knobs) {
    const auto at = cell.knobs.find(knob.name);
    if (at != cell.knobs.end() && at->second != knob.values.front()) {
      text += (text.empty() ? "" : " · ") + setting(knob.name, at->second);
    }
  }
  return text.empty() ? "base" : text;
}

std::string base_line(const SweepRecord& sweep) {
  std::string text;
  for (const SweepKnob& knob : sweep.knobs) {
    if (knob.name != "build") {
      text += (text.empty() ? "base  " : " · ") + setting(knob.name, knob.values.front());
    }
  }
  return text + "\n";
}

std::string class_of(const SweepCell& cell) {
  if (cell.class_index) {
    return class_name(*cell.class_index);
  }
  return cell.state == "not_honoured" ? "not honoured" : cell.state;
}

/// "avx512, MKL zen": the kernels that ATen and the BLAS of a cell named.
std::string chosen_kernels(const Report& report, const SweepCell& cell) {
  const BuildRecord& build = report.builds[cell.ran_as.value()];
  const std::string blas = build.blas.substr(0, build.blas.find(' '));
  return kernels_name(build) +
         (build.blas_dispatch ? fmt::format(", {} {}", visible(blas), visible(*build.blas_dispatch))
                              : "");
}

std::string cells_table(const Report& report, bool colour) {
  const SweepRecord& sweep = *report.sweep;
  const bool rescored = is_rescored(sweep);
  Columns columns({false, true, true, true, true, true});
  const auto add = [&](std::vector<Cell> row, Cell failing) {
    if (rescored) {
      row.push_back(std::move(failing));
    }
    columns.add(std::move(row));
  };
  add({{"cell"}, {"build"}, {"setting"}, {"kernels"}, {"class"}}, {"failing"});
  const std::size_t shown = std::min(kMostCells, sweep.cells.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const SweepCell& cell = sweep.cells[i];
    const std::string mark = cell.class_index == 0U ? "" : kMoved;
    const bool fails = cell.rescore && !cell.rescore->failing.empty();
    add({{fmt::format("{}", i + 1)},
         {visible(cell.build)},
         {off_base(sweep, cell)},
         {cell.ran_as ? chosen_kernels(report, cell) : "–"},
         {class_of(cell), mark}},
        {failing_in_brief(cell), fails ? kMoved : ""});
  }
  const std::size_t left = sweep.cells.size() - shown;
  return columns.text(colour) +
         (left > 0 ? fmt::format("… and {}: see the report\n", counted(left, "cell")) : "");
}

std::string moved(const std::optional<bool>& moves, std::uint64_t moving) {
  if (!moves) {
    return "–";
  }
  return *moves ? fmt::format("in {}", moving) : "in none";
}

std::string knobs_table(const SweepRecord& sweep, bool colour) {
  Columns columns({true, false, true, true});
  columns.add({{"knob"}, {"pairs"}, {"moves bits"}, {"moves tokens"}});
  for (const SweepKnob& knob : sweep.knobs) {
    const std::string mark = knob.moves_bits == true ? kMoved : "";
    columns.add(
        {{visible(knob.name)},
         {fmt::format("{}", knob.pairs)},
         {moved(knob.moves_bits, knob.pairs_bits), mark},
         {moved(knob.moves_tokens, knob.pairs_tokens), knob.moves_tokens == true ? kMoved : ""}});
  }
  return columns.text(colour);
}

/// "cells 1, 2, 5".
std::string cells_in_words(const std::vector<std::uint32_t>& cells) {
  std::string text = cells.size() == 1 ? "cell " : "cells ";
  const std::size_t shown = std::min(kMostNamed, cells.size());
  for (std::size_t i = 0; i < shown; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", cells[i] + 1);
  }
  return text + (shown < cells.size() ? fmt::format(" and {} more", cells.size() - shown) : "");
}

const char* state_in_words(const std::string& state) {
  if (state == "failed") {
    return "failed";
  }
  return state == "not_honoured" ? "doesn't run as asked" : "doesn't repeat itself";
}

/// What the libraries of the cells' runners said, but for the knobs' own settings: cells that don't
/// follow these are named themselves.
std::vector<std::string> library_warnings(const Report& report) {
  const SweepRecord& sweep = *report.sweep;
  std::vector<BuildRecord> builds = report.builds;
  std::vector<std::string> names(builds.size());
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    if (sweep.cells[i].ran_as) {
      names.at(*sweep.cells[i].ran_as) = fmt::format("cell {}", i + 1);
    }
  }
  for (BuildRecord& build : builds) {
    std::erase_if(build.doubtful_settings, [&](const DoubtfulSetting& setting) {
      return setting.state == "not_honoured" &&
             std::any_of(sweep.knobs.begin(), sweep.knobs.end(),
                         [&](const SweepKnob& knob) { return knob.name == setting.name; });
    });
  }
  return runner_warnings(builds, [&](std::size_t i) { return names[i]; });
}

std::vector<std::string> sweep_warnings(const Report& report) {
  const SweepRecord& sweep = *report.sweep;
  std::vector<std::string> warnings;
  for (const char* state : {"nondeterministic", "not_honoured", "failed"}) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
      const SweepCell& cell = sweep.cells[i];
      if (cell.state != state || ++count > kMostWarned) {
        continue;
      }
      warnings.push_back(fmt::format("cell {} ({}, {}) {}: {}; nothing is concluded from it", i + 1,
                                     visible(cell.build), off_base(sweep, cell),
                                     state_in_words(cell.state), visible(cell.reason)));
    }
    if (count > kMostWarned) {
      warnings.push_back(fmt::format("{} more {}: see the table",
                                     counted(count - kMostWarned, "cell"), state_in_words(state)));
    }
  }
  for (std::string& said : library_warnings(report)) {
    warnings.push_back(std::move(said));
  }
  return warnings;
}

/// The knobs of which something holds, by commas.
template <class Holds>
std::string knobs_that(const SweepRecord& sweep, const Holds& holds) {
  std::string text;
  for (const SweepKnob& knob : sweep.knobs) {
    if (holds(knob)) {
      text += (text.empty() ? "" : ", ") + visible(knob.name);
    }
  }
  return text;
}

std::string sweep_headline(const SweepRecord& sweep) {
  std::vector<std::string> parts;
  if (is_rescored(sweep)) {
    parts.push_back(failure_headline(sweep));
  }
  const auto say = [&](const char* what, const std::string& knobs) {
    if (!knobs.empty()) {
      parts.push_back(fmt::format("{}: {}", what, knobs));
    }
  };
  say("moved bits and tokens",
      knobs_that(sweep, [](const SweepKnob& k) { return k.moves_tokens == true; }));
  say("moved bits, no token", knobs_that(sweep, [](const SweepKnob& k) {
        return k.moves_bits == true && k.moves_tokens == false;
      }));
  say("moved nothing", knobs_that(sweep, [](const SweepKnob& k) { return k.moves_bits == false; }));
  say("nothing to act on",
      knobs_that(sweep, [](const SweepKnob& k) { return !k.moves_bits && k.idle; }));
  say("nothing to compare",
      knobs_that(sweep, [](const SweepKnob& k) { return !k.moves_bits && !k.idle; }));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string token_in_words(const Report& report, std::int32_t id) {
  const auto at = report.tokens.find(id);
  return at == report.tokens.end() ? fmt::format("<{}>", id)
                                   : fmt::format("\"{}\"", visible(at->second));
}

/// "3 pairs of cells that differ in it alone", "the one pair …".
std::string pairs_in_words(const SweepKnob& knob) {
  return knob.pairs == 1 ? "the one pair of cells that differs in it alone"
                         : fmt::format("{} pairs of cells that differ in it alone", knob.pairs);
}

std::string measured(const Report& report, const SweepKnob& knob) {
  if (knob.moves_bits == false) {
    return fmt::format("bits are equal in {}{}", knob.pairs == 1 ? "" : "all ",
                       pairs_in_words(knob));
  }
  std::string text =
      knob.pairs == 1
          ? fmt::format("bits{} differ in {}", knob.pairs_tokens > 0 ? " and tokens" : "",
                        pairs_in_words(knob))
          : fmt::format("bits differ in {} of {}, tokens in {}", knob.pairs_bits,
                        pairs_in_words(knob),
                        knob.pairs_tokens > 0 ? fmt::format("{}", knob.pairs_tokens) : "none");
  if (knob.first_token_change) {
    const SweepTokenChange& change = *knob.first_token_change;
    text += fmt::format(
        "; the earliest token: {} became {} at prompt {}, step {} ({}), cells {} "
        "and {}",
        token_in_words(report, change.before), token_in_words(report, change.after), change.prompt,
        change.step, change.mode, change.cells.a + 1, change.cells.b + 1);
  }
  return text;
}

/// What the libraries themselves say of a knob.
std::string kernels_in_words(const Report& report, const SweepKnob& knob) {
  const std::vector<SweepCell>& cells = report.sweep->cells;
  if (!knob.pairs_kernels) {
    return "";
  }
  if (!knob.other_kernels) {
    const std::string both = knob.pairs == 1 ? "both cells" : "the cells of each pair";
    return fmt::format("; {} name the same kernels", both);
  }
  const SweepPair& pair = *knob.other_kernels;
  return fmt::format("; {}: {} in cell {}, {} in cell {}",
                     knob.pairs == 1
                         ? "other kernels"
                         : fmt::format("other kernels in {} of them", *knob.pairs_kernels),
                     chosen_kernels(report, cells[pair.a]), pair.a + 1,
                     chosen_kernels(report, cells[pair.b]), pair.b + 1);
}

/// What was measured of a knob, and apart from that what is known.
void describe_knob(const Report& report, const SweepKnob& knob, std::vector<std::string>& details) {
  const std::string name = visible(knob.name);
  if (knob.moves_bits) {
    details.push_back(name + ": " + measured(report, knob) + kernels_in_words(report, knob));
  }
  if (knob.idle) {
    details.push_back(fmt::format("{}: {} nothing to act on in {}: {}", name,
                                  knob.moves_bits ? "besides, it had" : "it had",
                                  counted(knob.idle->pairs, "pair"), visible(knob.idle->why)));
  }
  if (!knob.moves_bits) {
    return;
  }
  if (!knob.known.empty()) {
    details.push_back(fmt::format("{} is known to {}", name, visible(knob.known)));
  }
  for (const std::string& note : knob.notes) {
    details.push_back(fmt::format("{}, not measured here: {}", name, visible(note)));
  }
}

std::vector<std::string> sweep_details(const Report& report) {
  const SweepRecord& sweep = *report.sweep;
  std::vector<std::string> details =
      is_rescored(sweep) ? failure_details(sweep) : std::vector<std::string>();
  for (const SweepKnob& knob : sweep.knobs) {
    describe_knob(report, knob, details);
  }
  const std::size_t shown = std::min(kMostNamed, sweep.classes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    details.push_back(fmt::format("class {}: {}", class_name(static_cast<std::uint32_t>(i)),
                                  cells_in_words(sweep.classes[i].cells)));
  }
  if (shown < sweep.classes.size()) {
    details.push_back(fmt::format("{} more classes", sweep.classes.size() - shown));
  }
  if (!report.host.cpu.empty()) {
    details.push_back(fmt::format("all on {}; another processor may take other kernels",
                                  visible(report.host.cpu)));
  }
  return details;
}

}  // namespace

std::string sweep_table(const Report& report, bool colour) {
  const SweepRecord& sweep = *report.sweep;
  return fmt::format("model {} · {}, {}, two runs each\n{}\n{}\n{}", View(report).model_line(),
                     fmt::join(report.settings.modes, ","), counted(sweep.cells.size(), "cell"),
                     base_line(sweep), cells_table(report, colour), knobs_table(sweep, colour));
}

Verdict sweep_verdict(const Report& report) {
  const SweepRecord& sweep = *report.sweep;
  return {sweep_warnings(report),
          sweep_headline(sweep),
          sweep_details(report),
          {},
          suggestions(report)};
}

}  // namespace drift
