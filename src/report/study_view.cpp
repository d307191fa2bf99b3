#include "report/study_view.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/columns.hpp"
#include "report/study_original.hpp"
#include "report/utf8.hpp"
#include "report/view.hpp"

namespace drift {
namespace {

constexpr const char* kMoved = "31";

const char* yes_or_no(const std::optional<bool>& value) {
  return !value ? "–" : *value ? "yes" : "no";
}

std::string equal_or(bool equal, const std::string& otherwise) {
  return equal ? "equal" : otherwise;
}

/// A positive number to so many digits, with commas and without an exponent: "17,600", "0.38".
std::string in_digits(double value, int digits) {
  const double magnitude = std::floor(std::log10(value)) + 1;
  if (magnitude <= digits) {
    return fmt::format("{:.{}g}", value, digits);
  }
  const double unit = std::pow(10, magnitude - digits);
  std::string text = fmt::format("{:.0f}", std::round(value / unit) * unit);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

/// Whether the two builds are those of the original, and compute in what it did.
bool of_original_builds(const Report& report) {
  return report.settings.dtype == "float32" &&
         plain_version(report.builds[0].torch) == original::kFirst &&
         plain_version(report.builds[1].torch) == original::kLast;
}

bool has_original_prompts(const Report& report) {
  return of_original_builds(report) && report.prompts == original::kPrompts &&
         report.settings.new_tokens == original::kNewTokens;
}

bool has_original_openings(const Report& report) {
  const StudyGaps& gaps = report.study->gaps;
  return of_original_builds(report) && gaps.openings == original::kOpenings &&
         gaps.prompts == original::kOpeningPrompts && gaps.tokens == original::kOpeningTokens;
}

std::string conditions_table(const Report& report) {
  Columns columns({true, true, true, true, true, true, true, true});
  std::vector<bool> shown(report.builds.size(), false);
  for (const StudyRun& run : report.study->gaps.runs) {
    if (shown[run.ran_as]) {
      continue;
    }
    shown[run.ran_as] = true;
    const BuildRecord& build = report.builds[run.ran_as];
    std::vector<Cell> row{{run.name}};
    for (std::string& fact : side_facts(build)) {
      row.push_back({std::move(fact)});
    }
    row.push_back({build.repeatable == true ? "repeats itself" : ""});
    columns.add(std::move(row));
  }
  return columns.text(false);
}

const char* original_pair(const StudyPair& pair) {
  if (pair.what == "upgrade") {
    return pair.mode == "greedy" && pair.cache ? original::kUpgrade : original::kUpgradeSampled;
  }
  if (pair.what == "kernels") {
    return original::kKernels;
  }
  return pair.what == "threads" ? original::kThreads : original::kGenericUpgrade;
}

std::string pairs_table(const Report& report, bool colour) {
  const StudyRecord& study = *report.study;
  const bool original = has_original_prompts(report);
  Columns columns({true, true, false, false, false, false, true});
  columns.add({{"the prompts"},
               {"tokens"},
               {"steps changed"},
               {"first steps"},
               {"max |Δlogit| there"},
               {"anywhere"},
               {original ? "original" : ""}});
  for (const StudyPair& pair : study.pairs) {
    const bool changed = pair.prompts_diverged > 0;
    columns.add({{pair_name(pair)},
                 {changed ? fmt::format("changed in {} of {}", pair.prompts_diverged, pair.prompts)
                          : "same",
                  changed ? kMoved : ""},
                 {fmt::format("{} of {}", pair.steps_changed, pair.steps)},
                 {fmt::format("{} of {}", pair.first_steps_changed, pair.prompts)},
                 {short_number(pair.max_first_step_diff)},
                 {short_number(pair.max_abs_logit_diff)},
                 {original ? original_pair(pair) : ""}});
  }
  return columns.text(colour);
}

std::string original_neighbours(const std::string& before, const std::string& after) {
  for (const original::Neighbours& known : original::kNeighbours) {
    if (before == known.before && after == known.after) {
      return known.found;
    }
  }
  return after == original::kNotTried ? "not tried" : "";
}

std::string range_table(const Report& report, bool colour) {
  Columns columns({true, true, true, true});
  columns.add({{"build"}, {"repeats itself"}, {"against the one before"}, {"original"}});
  std::string before;
  for (const StudyBuild& build : report.study->range) {
    if (!build.ran_as) {
      columns.add({{visible(build.label)}, {"–"}, {"left out"}, {""}});
      continue;
    }
    const std::string release = plain_version(report.builds[*build.ran_as].torch);
    const std::string found =
        !build.same_bits
            ? "–"
            : equal_or(*build.same_bits,
                       fmt::format("{} of {} changed, {}", build.steps_changed,
                                   counted(build.steps, "step"),
                                   build.runs_diverged > 0 ? "tokens too" : "no token"));
    columns.add({{visible(build.label)},
                 {yes_or_no(build.repeatable), build.repeatable == false ? kMoved : ""},
                 {found, build.same_bits == false ? kMoved : ""},
                 {has_original_prompts(report) ? original_neighbours(before, release) : ""}});
    before = release;
  }
  return columns.text(colour);
}

std::string runs_table(const StudyGaps& gaps) {
  Columns columns({true, false, true, false});
  columns.add({{"the openings"}, {"steps"}, {"set"}, {"tokens/s"}});
  for (const StudyRun& run : gaps.runs) {
    columns.add({{run.name},
                 {fmt::format("{}", run.steps)},
                 {fmt::format("{}", run.set + 1)},
                 {fmt::format("{:.0f}", run.tokens_per_second)}});
  }
  return columns.text(false);
}

std::string number_or_dash(const std::optional<double>& value) {
  return value ? short_number(*value) : "–";
}

std::string smallest_in_words(const StudyGaps& gaps) {
  return !gaps.smallest ? "–"
                        : fmt::format("{}, step {} of \"{}\"", short_number(gaps.smallest->value),
                                      gaps.smallest->step, visible(gaps.smallest_text));
}

std::string change_in_words(const StudyGaps& gaps) {
  if (!gaps.largest_change) {
    return "–";
  }
  const StudyGapChange& change = *gaps.largest_change;
  return change.value == 0 ? "0"
                           : fmt::format("{}, step {} of prompt {}, {} against {}",
                                         short_number(change.value), change.step, change.prompt,
                                         gaps.runs[change.a].name, gaps.runs[change.b].name);
}

std::string gaps_table(const Report& report) {
  const StudyGaps& gaps = report.study->gaps;
  const bool original = has_original_openings(report);
  Columns columns({true, true, true});
  const auto add = [&](const std::string& figure, const std::string& here, const char* there) {
    columns.add({{figure}, {here}, {original ? there : ""}});
  };
  add("gaps",
      fmt::format("{} × {}", counted(gaps.prompts, "opening"), counted(gaps.tokens, "token")),
      "original");
  add("distinct sets of gaps", fmt::format("{}", gaps.distinct_sets), original::kDistinctSets);
  add("continuations", gaps.continuations_equal ? "all equal" : "not all equal",
      original::kContinuations);
  add("smallest gap", smallest_in_words(gaps), original::kSmallestGap);
  add("largest change of a gap", change_in_words(gaps), original::kLargestChange);
  add("margin", number_or_dash(gaps.margin), original::kMargin);
  add(fmt::format("median, first {}", counted(gaps.end_steps, "step")),
      number_or_dash(gaps.median_first), original::kMedianFirst);
  add(fmt::format("median, last {}", counted(gaps.end_steps, "step")),
      number_or_dash(gaps.median_last), original::kMedianLast);
  add("steps within a loop", fmt::format("{:.3g} %", 100 * gaps.loop_share), "");
  return columns.text(false);
}

/// Bins that hold something, a row each; a column a band.
std::string histogram_table(const StudyHistogram& histogram) {
  std::vector<bool> left(histogram.bands.size() + 1, false);
  left[0] = true;
  Columns columns(left);
  std::vector<Cell> head{{"gap from, by step"}};
  for (const StudyBand& band : histogram.bands) {
    head.push_back({band.first == band.last ? fmt::format("{}", band.first)
                                            : fmt::format("{}–{}", band.first, band.last)});
  }
  columns.add(std::move(head));
  for (std::size_t bin = 0; bin <= histogram.edges.size(); ++bin) {
    std::vector<Cell> row{{bin == 0 ? "0" : fmt::format("{:g}", histogram.edges[bin - 1])}};
    bool any = false;
    for (const StudyBand& band : histogram.bands) {
      any = any || band.counts.at(bin) > 0;
      row.push_back({band.counts[bin] > 0 ? fmt::format("{}", band.counts[bin]) : "·"});
    }
    if (any) {
      columns.add(std::move(row));
    }
  }
  return columns.text(false);
}

/// The rate as it would be from half the steps, from a quarter, and from closing changes alone.
std::string sensitivity(const std::optional<FlipBasis>& basis) {
  if (!basis) {
    return "–";
  }
  const auto digits = [](const std::optional<double>& rate) {
    return !rate ? "–" : *rate > 0 ? in_digits(*rate, 3) : "0";
  };
  return fmt::format("{} · {} · {}", digits(basis->half), digits(basis->quarter),
                     digits(basis->closing));
}

void add_flips(const std::string& name, const FlipRate& rate, bool sensitive, Columns& columns) {
  const bool told = flips_told(rate);
  std::vector<Cell> row{{name},
                        {fmt::format("{} of {}", rate.changed, rate.steps)},
                        {short_number(rate.mean_abs_change)},
                        {short_number(rate.density)},
                        {fmt::format("{}", rate.flips_seen)},
                        {told ? rate_in_words(rate.flips) : "not told: " + rate.basis->interval}};
  if (sensitive) {
    row.push_back({sensitivity(rate.basis)});
  }
  row.push_back({told ? steps_until_one(rate.flips) : "–"});
  columns.add(std::move(row));
}

std::string flips_table(const StudyRecord& study) {
  const bool sensitive =
      (study.sampled && study.sampled->argmax.basis) ||
      std::any_of(study.flips.begin(), study.flips.end(),
                  [](const StudyFlips& flips) { return flips.rate.basis.has_value(); });
  std::vector<bool> left{true, false, false, false, false, true, true};
  std::vector<Cell> head{{"how far from a flip"}, {"gaps changed"}, {"mean |Δgap|"},
                         {"density at 0"},        {"flips seen"},   {"expected (95 %)"}};
  if (sensitive) {
    left.push_back(true);
    head.push_back({"from ½ · ¼ of the steps · closing"});
  }
  head.push_back({"tokens until one"});
  Columns columns(left);
  columns.add(std::move(head));
  for (const StudyFlips& flips : study.flips) {
    add_flips(
        fmt::format("{} against {}", study.gaps.runs[flips.a].name, study.gaps.runs[flips.b].name),
        flips.rate, sensitive, columns);
  }
  if (study.sampled) {
    add_flips("first against last, sampled text", study.sampled->argmax, sensitive, columns);
  }
  return columns.text(false);
}

std::string sampled_table(const StudySampled& sampled) {
  Columns columns({true, true});
  columns.add({{"sampled text"},
               {fmt::format("{}, {:.3g} % within a loop", counted(sampled.steps, "step"),
                            100 * sampled.loop_share)}});
  columns.add({{"mean total variation"}, {short_number(sampled.mean_total_variation)}});
  columns.add({{"the same draw picks another token"}, {rate_in_words(sampled.draws)}});
  columns.add({{"tokens until it does"}, {steps_until_one(sampled.draws)}});
  columns.add({{"seen"},
               {fmt::format("{} of {}", sampled.draws_changed,
                            counted(sampled.same_draws, "equal draw"))}});
  return columns.text(false);
}

}  // namespace

std::string pair_name(const StudyPair& pair) {
  if (pair.what == "upgrade") {
    return fmt::format("the upgrade, {}", pair.mode == "sample" ? "sampled"
                                          : pair.cache          ? "greedy"
                                                                : "greedy, no KV cache");
  }
  if (pair.what == "generic upgrade") {
    return "the upgrade, generic kernels";
  }
  return pair.what == "kernels" ? "last on generic kernels" : "last on 1 thread";
}

bool flips_told(const FlipRate& rate) {
  return !rate.basis || (rate.basis->interval != "density" && rate.basis->interval != "symmetry");
}

std::string rate_in_words(const StudyRate& rate) {
  if (!(rate.per_million > 0)) {
    return "none";
  }
  std::string text = in_digits(rate.per_million, 3) + " in a million";
  if (rate.low && rate.high) {
    text += fmt::format(" ({} to {})", in_digits(*rate.low, 3), in_digits(*rate.high, 3));
  }
  return text;
}

std::string steps_until_one(const StudyRate& rate) {
  constexpr double kMillion = 1e6;
  constexpr int kDigits = 2;  // more than the interval bears out
  if (!(rate.per_million > 0)) {
    return "–";
  }
  std::string text = in_digits(kMillion / rate.per_million, kDigits);
  if (rate.low && rate.high) {
    text += fmt::format(" ({} to {})", in_digits(kMillion / *rate.high, kDigits),
                        in_digits(kMillion / *rate.low, kDigits));
  }
  return text;
}

std::string study_table(const Report& report, bool colour) {
  const StudyRecord& study = *report.study;
  std::string text = fmt::format("model {}\n", View(report).model_line());
  if (of_original_builds(report)) {
    text += fmt::format("original  {}\n", original::kCircumstances);
  }
  text += conditions_table(report) + "\n" + pairs_table(report, colour) + "\n" +
          range_table(report, colour) + "\n" + runs_table(study.gaps) + "\n" + gaps_table(report) +
          "\n" + histogram_table(study.gaps.histogram) + "\n" + flips_table(study);
  if (study.sampled) {
    text += "\n" + sampled_table(*study.sampled);
  }
  return text;
}

}  // namespace drift
