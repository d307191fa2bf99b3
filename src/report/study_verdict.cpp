#include <algorithm>

#include <fmt/format.h>

#include "report/runner_warnings.hpp"
#include "report/spelt_command.hpp"
#include "report/study_original.hpp"
#include "report/study_view.hpp"
#include "report/utf8.hpp"

namespace drift {
namespace {

std::vector<std::string> study_warnings(const Report& report) {
  std::vector<std::string> warnings;
  for (const BuildRecord& build : report.builds) {
    if (build.repeatable == false) {
      warnings.push_back(fmt::format(
          "{} (torch {}, {}) doesn't repeat itself; differences may be "
          "its own",
          visible(build.label), visible(build.torch), counted(build.threads, "thread")));
    }
  }
  const auto name_of = [&](std::size_t i) {
    const BuildRecord& build = report.builds[i];
    return fmt::format("{} ({})", visible(build.label), counted(build.threads, "thread"));
  };
  for (std::string& said : runner_warnings(report.builds, name_of)) {
    warnings.push_back(std::move(said));
  }
  for (const StudyBuild& build : report.study->range) {
    if (!build.ran_as) {
      warnings.push_back(
          fmt::format("{} is left out: {}", visible(build.label), visible(build.reason)));
    }
  }
  return warnings;
}

bool tokens_changed(const StudyRecord& study) {
  return !study.gaps.continuations_equal ||
         std::any_of(study.pairs.begin(), study.pairs.end(),
                     [](const StudyPair& pair) { return pair.prompts_diverged > 0; });
}

bool bits_changed(const StudyRecord& study) {
  return study.gaps.distinct_sets > 1 ||
         std::any_of(study.pairs.begin(), study.pairs.end(),
                     [](const StudyPair& pair) { return pair.steps_changed > 0; });
}

std::string headline(const StudyRecord& study) {
  const std::string bits = tokens_changed(study) ? "tokens changed"
                           : bits_changed(study) ? "same tokens, other bits"
                                                 : "identical";
  return fmt::format("{}; {} in {}", bits,
                     counted(study.gaps.distinct_sets, "distinct set") + " of gaps",
                     counted(study.gaps.runs.size(), "run"));
}

/// "471 of 480 steps, no token", "no bit".
std::string changed(const StudyPair& pair) {
  if (pair.steps_changed == 0) {
    return "no bit";
  }
  return fmt::format("{} of {}, {}", pair.steps_changed, counted(pair.steps, "step"),
                     pair.prompts_diverged == 0
                         ? "no token"
                         : "tokens of " + counted(pair.prompts_diverged, "prompt"));
}

/// Where in the range bits move.
std::string range_in_words(const std::vector<StudyBuild>& range) {
  std::vector<std::string> moved;
  std::string before;
  for (const StudyBuild& build : range) {
    if (!build.ran_as) {
      continue;
    }
    if (build.same_bits == false) {
      moved.push_back(fmt::format("between {} and {}", visible(before), visible(build.label)));
    }
    before = build.label;
  }
  return moved.empty() ? "bits are equal throughout the range"
                       : fmt::format("bits move {}", fmt::join(moved, ", and "));
}

std::string gaps_in_words(const StudyGaps& gaps) {
  std::string text = fmt::format("smallest gap {}", short_number(gaps.smallest->value));
  if (gaps.margin) {
    text += fmt::format(", {:.3g} × the largest change of any gap, {}", *gaps.margin,
                        short_number(gaps.largest_change->value));
  } else {
    text += ", and no gap changed";
  }
  return text;
}

/// The upgrade's flips, with what limits them.
std::string flips_in_words(const StudyRecord& study) {
  const FlipRate& rate = study.flips.front().rate;
  if (!(rate.flips.per_million > 0)) {
    return "the upgrade changed no gap near 0, so that no rate of flips can be told";
  }
  if (!flips_told(rate)) {
    return rate.basis->interval == "density" ? "no rate of flips can be told: near 0 gaps are "
                                               "denser or sparser than farther up, or "
                                               "their changes larger or smaller"
                                             : "no rate of flips can be told: near 0 changes don't "
                                               "open gaps as often as they close "
                                               "them";
  }
  std::string text = fmt::format("the upgrade would flip a greedy token {}, one in {} tokens",
                                 rate_in_words(rate.flips), steps_until_one(rate.flips));
  if (rate.basis && rate.basis->interval != "given") {
    text += "; no interval, since " + rate.basis->interval + " bear it";
  }
  constexpr double kMuch = 0.25;
  if (study.gaps.loop_share > kMuch) {
    text += fmt::format("; of such text, of which {:.0f} % of the steps repeat what went before",
                        100 * study.gaps.loop_share);
  }
  return text;
}

std::vector<std::string> study_details(const StudyRecord& study) {
  std::vector<std::string> details;
  for (const StudyPair& pair : study.pairs) {
    details.push_back(fmt::format("{}: {}", pair_name(pair), changed(pair)));
  }
  details.push_back(range_in_words(study.range));
  if (study.gaps.smallest) {
    details.push_back(gaps_in_words(study.gaps));
  }
  if (!study.flips.empty()) {
    details.push_back(flips_in_words(study));
  }
  if (study.sampled && study.sampled->draws.per_million > 0) {
    details.push_back(
        fmt::format("sampled, the same draw would pick another token {}, one in {} "
                    "tokens",
                    rate_in_words(study.sampled->draws), steps_until_one(study.sampled->draws)));
  }
  return details;
}

/// This study again, with more options.
std::string study_command(const Report& report, const std::string& options) {
  const StudyRecord& study = *report.study;
  std::string command = "driftaudit study";
  const std::string& first = report.builds.at(0).label;
  const std::string& last = report.builds.at(1).label;
  if (study.range.size() <= 2 || first != original::kFirst || last != original::kLast) {
    command += fmt::format(" {} {}", quoted(visible(first)), quoted(visible(last)));
  }
  append_model(report.model, command);
  if (report.prompts != original::kPrompts) {
    command += " --prompts " + quoted(visible(report.prompts));
  }
  if (study.gaps.openings != original::kOpenings) {
    command += " --openings " + quoted(visible(study.gaps.openings));
  }
  if (report.settings.dtype != SettingsRecord().dtype) {
    command += " --dtype " + report.settings.dtype;
  }
  for (const auto& [name, value] : report.builds[0].knobs) {
    append_knob("", name, value, command);
  }
  append_attention(report.builds, command);
  return command + (study.quick ? " --quick " : " ") + options;
}

void suggest_localizing(const Report& report, std::vector<Suggestion>& next) {
  const auto& range = report.study->range;
  const StudyBuild* before = nullptr;
  for (const StudyBuild& build : range) {
    if (!build.ran_as) {
      continue;
    }
    if (build.same_bits == false && before != nullptr) {
      std::string command = fmt::format("driftaudit localize {} {}", quoted(visible(before->label)),
                                        quoted(visible(build.label)));
      append_model(report.model, command);
      for (const auto& [name, value] : report.builds[*build.ran_as].knobs) {
        append_knob("", name, value, command);
      }
      if (report.builds[*build.ran_as].threads > 1) {
        command += fmt::format(" --threads {}", report.builds[*build.ran_as].threads);
      }
      append_attention({report.builds[*before->ran_as], report.builds[*build.ran_as]}, command);
      next.push_back({"which operation moves the bits, and from which row length?", command});
      return;
    }
    before = &build;
  }
}

}  // namespace

std::vector<Suggestion> study_suggestions(const Report& report) {
  std::vector<Suggestion> next;
  suggest_localizing(report, next);
  const BuildRecord& first = report.builds.at(0);
  if (first.cpu_capability == "AVX512" && !first.knobs.contains("ATEN_CPU_CAPABILITY")) {
    next.push_back({"what on the kernels of the original's CPU, which has no AVX-512?",
                    study_command(report, "--env ATEN_CPU_CAPABILITY=avx2")});
  } else if (!report.study->sampled) {
    next.push_back({"how many tokens until one is another, where the text doesn't loop?",
                    study_command(report, "--tokens-until-flip")});
  }
  return next;
}

Verdict study_verdict(const Report& report) {
  const StudyRecord& study = *report.study;
  return {study_warnings(report), headline(study), study_details(study), {}, suggestions(report)};
}

}  // namespace drift
