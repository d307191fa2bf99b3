#include "report/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "report/bisect_view.hpp"
#include "report/localize_view.hpp"
#include "report/rescore_view.hpp"
#include "report/reveal_view.hpp"
#include "report/runner_warnings.hpp"
#include "report/study_view.hpp"
#include "report/swapped_answers.hpp"
#include "report/sweep_view.hpp"
#include "report/utf8.hpp"

namespace drift {
namespace {

std::uint64_t diverged_prompts(const Report& report) {
  std::vector<std::uint32_t> prompts;
  for (const PromptComparison& p : report.comparison) {
    if (p.first_token_change) {
      prompts.push_back(p.prompt);
    }
  }
  std::sort(prompts.begin(), prompts.end());
  return static_cast<std::uint64_t>(std::unique(prompts.begin(), prompts.end()) - prompts.begin());
}

std::string headline(const Report& report) {
  const Summary& s = report.summary;
  if (report.kind == "record") {
    return "recorded";
  }
  if (s.steps == 0) {
    return "nothing was compared";
  }
  if (s.verdict == "diverged") {
    return fmt::format("tokens changed in {} of {}", diverged_prompts(report),
                       counted(s.prompts, "prompt"));
  }
  if (s.verdict == "same_tokens") {
    return "same tokens, other bits";
  }
  return s.non_finite > 0 ? "identical, but with numbers that aren't finite" : "identical";
}

std::string changed_steps(const Report& report) {
  const Summary& s = report.summary;
  if (s.steps_changed == 0) {
    return fmt::format("the logits of all {} are the same bytes",
                       counted(s.steps, "compared step"));
  }
  return fmt::format("{} of {} changed, in {} of {} ({} at the first step)", s.steps_changed,
                     counted(s.steps, "step"), s.prompts_changed, counted(s.prompts, "prompt"),
                     s.first_steps_changed);
}

/// The first change of a token: by step, then by prompt.
const PromptComparison* first_diverged(const Report& report) {
  const PromptComparison* first = nullptr;
  for (const PromptComparison& p : report.comparison) {
    if (p.first_token_change &&
        (first == nullptr || *p.first_token_change < *first->first_token_change)) {
      first = &p;
    }
  }
  return first;
}

std::string closest_call(const Summary& s) {
  std::string text = fmt::format("closest call: gap {} at prompt {}, step {} of {}",
                                 short_number(s.smallest_gap->value), s.smallest_gap->prompt,
                                 s.smallest_gap->step, s.smallest_gap->side);
  if (s.margin) {
    text += fmt::format(", {:.3g} × the largest change of any gap", *s.margin);
  }
  return text;
}

/// Says only what is known: see Summary::steps_flip_possible.
std::string flips(const Summary& s) {
  if (s.steps_flip_possible == 0 && s.steps_on_kept > 0) {
    return "the kept logits show no flip, but can't rule one out";
  }
  if (s.steps_flip_possible == 0) {
    return "no greedy token could have flipped: each gap is over 2 × its step's largest change of "
           "a "
           "logit";
  }
  return fmt::format(
      "at {} a flip isn't ruled out: the gap is within 2 × the step's largest change of a logit",
      counted(s.steps_flip_possible, "greedy step"));
}

std::string tied(std::uint64_t ties) {
  return fmt::format("at {} the two highest logits are equal, and the lower id is chosen",
                     counted(ties, "greedy step"));
}

/// Of a report of one side.
std::vector<std::string> recorded_details(const Report& report) {
  std::uint64_t steps = 0;
  std::uint64_t ties = 0;
  std::optional<SmallestGap> smallest;
  for (const Run& run : report.runs) {
    steps += run.steps.size();
    for (std::size_t i = 0; run.mode == "greedy" && i < run.steps.size(); ++i) {
      const double gap = run.steps[i].gap;
      ties += gap == 0 ? 1 : 0;
      if (std::isfinite(gap) && (!smallest || gap < smallest->value)) {
        smallest = SmallestGap{gap, run.prompt, static_cast<std::uint32_t>(i + 1), 'A'};
      }
    }
  }
  std::vector<std::string> details{
      fmt::format("{} in {}", counted(steps, "step"), counted(report.runs.size(), "run"))};
  if (smallest) {
    details.push_back(fmt::format("smallest gap {} at prompt {}, step {}",
                                  short_number(smallest->value), smallest->prompt, smallest->step));
  }
  if (ties > 0) {
    details.push_back(tied(ties));
  }
  return details;
}

std::string on_kept(const Report& report) {
  return fmt::format(
      "of {} only the kept logits ({}) were compared: the largest change is a lower bound",
      counted(report.summary.steps_on_kept, "changed step"), report.basis);
}

std::vector<std::string> details(const Report& report) {
  if (report.kind == "record") {
    return recorded_details(report);
  }
  const Summary& s = report.summary;
  std::vector<std::string> details;
  if (s.steps == 0) {
    return details;
  }
  details.push_back(changed_steps(report));
  if (s.steps_changed > 0) {
    details.push_back(fmt::format("largest change of a logit {}{}",
                                  report.basis == "all" ? "" : "at least ",
                                  short_number(s.max_abs_logit_diff)));
  }
  if (s.steps_on_kept > 0) {
    details.push_back(on_kept(report));
  }
  if (const PromptComparison* first = first_diverged(report)) {
    details.push_back(fmt::format(
        "earliest changed token: prompt {}, step {}, {}, attributed to {}", first->prompt,
        *first->first_token_change, first->mode, cause_in_words(first->token_change_cause)));
  }
  if (s.smallest_gap) {
    details.push_back(closest_call(s));
    if (s.steps_changed > 0 && s.verdict == "same_tokens") {
      details.push_back(flips(s));
    }
  }
  if (s.ties > 0) {
    details.push_back(tied(s.ties));
  }
  if (s.non_finite > 0) {
    details.push_back(
        fmt::format("{} NaN or infinite; no figure counts them",
                    s.non_finite == 1 ? "1 logit is" : fmt::format("{} logits are", s.non_finite)));
  }
  return details;
}

}  // namespace

std::vector<std::string> side_warnings(const Report& report) {
  std::vector<std::string> warnings;
  for (std::size_t i = 0; i < report.builds.size(); ++i) {
    if (report.builds[i].repeatable == false) {
      warnings.push_back(
          fmt::format("{} is not repeatable: its first prompt, run twice, gave other bits; "
                      "differences below may be its own",
                      side_name(report, i)));
    }
  }
  for (std::string& said :
       runner_warnings(report.builds, [&](std::size_t i) { return side_name(report, i); })) {
    warnings.push_back(std::move(said));
  }
  for (std::string& swapped : swapped_answers(report)) {
    warnings.push_back(std::move(swapped));
  }
  if (!report.warnings.empty()) {
    warnings.push_back(
        fmt::format("the sides ran under different conditions, which may explain a "
                    "change: {}",
                    visible(fmt::format("{}", fmt::join(report.warnings, "; ")))));
  }
  return warnings;
}

std::vector<std::string> tripped_gates(const Report& report) {
  std::vector<std::string> tripped;
  for (const GateRecord& gate : report.gates) {
    if (gate.tripped) {
      tripped.push_back(fmt::format("{}: {}", visible(gate.gate), visible(gate.finding)));
    }
  }
  return tripped;
}

std::string side_name(const Report& report, std::size_t build) {
  const auto letter = static_cast<char>('A' + build);
  return fmt::format("{} ({})", letter, visible(report.builds[build].label));
}

std::string cause_in_words(const std::optional<TokenChangeCause>& cause) {
  if (!cause) {
    return "logits or sampler (the draws aren't known)";
  }
  switch (*cause) {
    case TokenChangeCause::kLogits:
      return "the logits";
    case TokenChangeCause::kSampler:
      return "the sampler";
    case TokenChangeCause::kBoth:
      return "logits and sampler";
  }
  return "";
}

std::string counted(std::uint64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string largest_change(const PromptComparison& prompt) {
  return (prompt.steps_on_kept > 0 ? "≥ " : "") + short_number(prompt.max_abs_logit_diff);
}

std::string short_number(double value) {
  const double size = std::abs(value);
  return size != 0 && size < 1e-3 ? fmt::format("{:.2e}", value) : fmt::format("{:.3g}", value);
}

namespace {

/// What the report's own kind says.
Verdict verdict_by_kind(const Report& report) {
  if (report.bisect) {
    return bisect_verdict(report);
  }
  if (report.localize) {
    std::vector<std::string> clauses = localize_details(report);
    if (report.reveal) {
      const std::vector<std::string> orders = reveal_details(report);
      clauses.insert(clauses.end(), orders.begin(), orders.end());
    }
    return {side_warnings(report),
            localize_headline(report),
            std::move(clauses),
            {},
            suggestions(report)};
  }
  if (report.reveal) {
    return reveal_verdict(report);
  }
  if (report.sweep) {
    return sweep_verdict(report);
  }
  if (report.rescore) {
    return rescore_verdict(report);
  }
  if (report.study) {
    return study_verdict(report);
  }
  return {side_warnings(report), headline(report), details(report), tripped_gates(report),
          suggestions(report)};
}

}  // namespace

Verdict verdict_of(const Report& report) {
  Verdict verdict = verdict_by_kind(report);
  std::vector<std::string> warnings;
  for (const std::string& warning : report.model.warnings) {
    warnings.push_back(visible(warning));
  }
  verdict.warnings.insert(verdict.warnings.begin(), warnings.begin(), warnings.end());
  return verdict;
}

std::string verdict_sentence(const Report& report) {
  const Verdict verdict = verdict_of(report);
  std::string sentence;
  for (const std::string& warning : verdict.warnings) {
    sentence += warning + "; ";
  }
  sentence += verdict.headline;
  if (!verdict.details.empty()) {
    sentence += fmt::format(": {}", fmt::join(verdict.details, "; "));
  }
  return sentence + ".";
}

}  // namespace drift
