#include "report/bisect_view.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/columns.hpp"
#include "report/runner_warnings.hpp"
#include "report/utf8.hpp"
#include "report/view.hpp"

namespace drift {
namespace {

constexpr const char* kChanged = "31";
constexpr std::size_t kMostReason = 60;

std::string joined(const std::vector<std::string>& labels) {
  std::string text;
  for (const std::string& label : labels) {
    text += (text.empty() ? "" : ", ") + visible(label);
  }
  return text;
}

const BuildRecord* build_of(const Report& report, const std::string& label) {
  const auto at = std::find_if(report.builds.begin(), report.builds.end(),
                               [&](const BuildRecord& build) { return build.label == label; });
  return at == report.builds.end() ? nullptr : &*at;
}

/// "the bits change", "logits change by more than 0.5".
std::string changes(const BisectRecord& bisect) {
  return bisect.measure == "max-logit-diff"
             ? fmt::format("logits change by more than {:g}", bisect.max_logit_diff.value_or(0))
             : fmt::format("the {}{} change", bisect.measure,
                           bisect.operation ? " of " + visible(*bisect.operation) : "");
}

std::string reason_of(const BisectRecord& bisect, const std::string& label) {
  for (const BisectSkip& skip : bisect.skipped) {
    if (skip.label == label) {
      const bool named = skip.reason.starts_with(label + ": ");
      return visible(named ? skip.reason.substr(label.size() + 2) : skip.reason);
    }
  }
  return "";
}

std::string asked(const BisectRecord& bisect, const BisectCandidate& candidate) {
  if (candidate.state == "full") {
    return "everything";
  }
  if (candidate.state == "part") {
    return "a part";
  }
  if (candidate.state == "skipped") {
    return "skipped: " + shortened(reason_of(bisect, candidate.label), kMostReason);
  }
  return candidate.state == "assumed" ? "nothing, assumed" : "nothing";
}

/// The class of the tested candidate before an assumed one, in brackets.
std::string class_cell(const BisectRecord& bisect, std::size_t index) {
  const BisectCandidate& candidate = bisect.candidates[index];
  if (candidate.class_index) {
    return class_name(*candidate.class_index);
  }
  if (candidate.state == "part" && candidate.equals_first) {
    return *candidate.equals_first ? "(A)" : "not A";
  }
  for (std::size_t i = index; candidate.state == "assumed" && i-- > 0;) {
    if (bisect.candidates[i].class_index) {
      return "(" + class_name(*bisect.candidates[i].class_index) + ")";
    }
  }
  return "–";
}

bool is_after(const BisectRecord& bisect, const std::string& label) {
  return std::any_of(bisect.boundaries.begin(), bisect.boundaries.end(),
                     [&](const BisectBoundary& found) { return found.after == label; });
}

/// The build that a change came with, as far as it is known.
std::string culprit(const BisectBoundary& found) {
  const std::string after = visible(found.after);
  return found.proved ? after : fmt::format("one of {}, {}", joined(found.between), after);
}

std::string bisect_headline(const BisectRecord& bisect) {
  if (bisect.boundaries.empty()) {
    return fmt::format("{} and {} are equal{}", visible(bisect.candidates.front().label),
                       visible(bisect.candidates.back().label),
                       bisect.all ? ", and no change was found between them" : "");
  }
  std::string text = changes(bisect);
  if (bisect.boundaries.size() > 1) {
    text += fmt::format(" {} times:", bisect.boundaries.size());
  }
  for (const BisectBoundary& found : bisect.boundaries) {
    text += (&found == &bisect.boundaries.front() ? " with " : "; with ") + culprit(found);
  }
  return text;
}

std::string proof(const BisectRecord& bisect, const BisectBoundary& found) {
  const std::string pair = fmt::format("{} and {} were asked everything and differ",
                                       visible(found.before), visible(found.after));
  const std::string first = visible(bisect.candidates.front().label);
  const std::string still = bisect.all || found.before == bisect.candidates.front().label
                                ? ""
                                : fmt::format("; {} still equals {}", visible(found.before), first);
  return found.proved
             ? "proved: " + pair + ", and nothing lies between them" + still
             : pair + "; what lies between couldn't be run: " + joined(found.between) + still;
}

std::vector<std::string> bisect_details(const BisectRecord& bisect) {
  std::vector<std::string> details;
  for (const BisectBoundary& found : bisect.boundaries) {
    details.push_back(proof(bisect, found));
  }
  for (std::size_t i = 0; i < bisect.classes.size(); ++i) {
    details.push_back(fmt::format("class {}: {}", class_name(static_cast<std::uint32_t>(i)),
                                  joined(bisect.classes[i])));
  }
  if (!bisect.assumed.empty()) {
    details.push_back("assumed, not asked, since what lies around is equal: " +
                      joined(bisect.assumed));
  }
  if (bisect.part && !bisect.operation) {
    details.push_back(fmt::format("the cheapest part that tells: {} of prompt {}, {}",
                                  counted(bisect.part->steps, "step"), bisect.part->prompt,
                                  bisect.part->mode));
  }
  details.push_back(fmt::format("{} over a range of {}", counted(bisect.probes, "probe"),
                                counted(bisect.candidates.size(), "build")));
  return details;
}

/// Threads and variables, the same for all.
std::string bisect_knobs(const Report& report) {
  if (report.builds.empty()) {
    return "";
  }
  const BuildRecord& build = report.builds.front();
  std::string line = counted(build.threads, "thread");
  for (const auto& [name, value] : build.knobs) {
    line += visible(fmt::format(" · {}={}", name, value));
  }
  return "runners " + line + "\n";
}

std::vector<Cell> bisect_row(const Report& report, std::size_t index) {
  const BisectRecord& bisect = *report.bisect;
  const BisectCandidate& candidate = bisect.candidates[index];
  const BuildRecord* build = build_of(report, candidate.label);
  const std::string colour = is_after(bisect, candidate.label) ? kChanged : "";
  return {{visible(candidate.label), colour},
          {visible(candidate.released)},
          {build == nullptr ? "" : kernels_name(*build)},
          {build == nullptr ? "" : visible(build->blas)},
          {class_cell(bisect, index), colour},
          {asked(bisect, candidate)}};
}

/// What was asked of each build.
std::string bisect_question(const Report& report) {
  const BisectRecord& bisect = *report.bisect;
  return bisect.operation
             ? fmt::format("operation {}, by {}", visible(*bisect.operation), bisect.measure)
             : fmt::format("model {} · {}, by {}", View(report).model_line(),
                           fmt::join(report.settings.modes, ","), bisect.measure);
}

}  // namespace

std::string class_name(std::uint32_t index) {
  constexpr std::uint32_t kLetters = 26;
  const std::string letter(1, static_cast<char>('A' + index % kLetters));
  return index < kLetters ? letter : class_name(index / kLetters - 1) + letter;
}

std::string bisect_table(const Report& report, bool colour) {
  Columns columns({true, true, true, true, true, true});
  columns.add({{"build"}, {"released"}, {"kernels"}, {"BLAS"}, {"class"}, {"asked"}});
  for (std::size_t i = 0; i < report.bisect->candidates.size(); ++i) {
    columns.add(bisect_row(report, i));
  }
  return fmt::format("{}\n{}\n{}", bisect_question(report), bisect_knobs(report),
                     columns.text(colour));
}

Verdict bisect_verdict(const Report& report) {
  return {runner_warnings(report.builds,
                          [&](std::size_t i) { return visible(report.builds[i].label); }),
          bisect_headline(*report.bisect),
          bisect_details(*report.bisect),
          {},
          suggestions(report)};
}

}  // namespace drift
