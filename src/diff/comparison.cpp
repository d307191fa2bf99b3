#include "driftaudit/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "driftaudit/order_statistics.hpp"

namespace drift {
namespace {

template <class T>
void raise(std::optional<T>& largest, const std::optional<T>& value) {
  if (value && (!largest || *value > *largest)) {
    largest = value;
  }
}

template <class T>
void lower(std::optional<T>& least, const std::optional<T>& value) {
  if (value && (!least || *value < *least)) {
    least = value;
  }
}

/// Among equal gaps the earliest is named, in whatever order prompts came.
void lower(std::optional<SmallestGap>& least, const SmallestGap& gap) {
  const auto key = [](const SmallestGap& g) {
    return std::make_tuple(g.value, g.prompt, g.step, g.side);
  };
  if (std::isfinite(gap.value) && (!least || key(gap) < key(*least))) {
    least = gap;
  }
}

/// The step's least gap ÷ its gap change, where there was a change.
std::optional<double> step_margin(const StepDifference& difference) {
  const double gap = std::fmin(difference.gap_a, difference.gap_b);
  if (!std::isfinite(gap) || difference.gap_change.value_or(0) == 0) {
    return std::nullopt;
  }
  return gap / *difference.gap_change;
}

void add_difference(PromptComparison& prompt, std::uint32_t step,
                    const StepDifference& difference) {
  ++prompt.steps;
  if (!difference.same) {
    ++prompt.steps_changed;
    prompt.first_changed_step = prompt.first_changed_step.value_or(step);
  }
  prompt.max_abs_logit_diff = std::max(prompt.max_abs_logit_diff, difference.max_abs);
  prompt.max_ulp = std::max(prompt.max_ulp, difference.max_ulp);
  raise(prompt.max_gap_change, difference.gap_change);
  lower(prompt.smallest_gap, {difference.gap_a, prompt.prompt, step, 'A'});
  lower(prompt.smallest_gap, {difference.gap_b, prompt.prompt, step, 'B'});
  lower(prompt.min_step_margin, step_margin(difference));
  prompt.steps_flip_possible += difference.flip_possible ? 1 : 0;
  prompt.non_finite += difference.non_finite;
  prompt.steps_on_kept += difference.on_kept ? 1 : 0;
  if (prompt.steps_on_kept == 0) {
    raise(prompt.max_kl, difference.kl);
  } else {
    prompt.max_kl.reset();  // the largest may be one of those that aren't known
  }
  prompt.ties += difference.gap_a == 0 || difference.gap_b == 0 ? 1 : 0;
  prompt.gap_changes_unknown += !difference.same && !difference.gap_change ? 1 : 0;
}

void add_prompt(Summary& summary, const PromptComparison& prompt) {
  summary.steps += prompt.steps;
  summary.steps_changed += prompt.steps_changed;
  summary.max_abs_logit_diff = std::max(summary.max_abs_logit_diff, prompt.max_abs_logit_diff);
  summary.non_finite += prompt.non_finite;
  summary.steps_on_kept += prompt.steps_on_kept;
  if (prompt.mode == "greedy") {
    if (prompt.smallest_gap) {
      lower(summary.smallest_gap, *prompt.smallest_gap);
    }
    raise(summary.max_gap_change, prompt.max_gap_change);
    lower(summary.min_step_margin, prompt.min_step_margin);
    summary.steps_flip_possible += prompt.steps_flip_possible;
    summary.gap_changes_unknown += prompt.gap_changes_unknown;
    summary.ties += prompt.ties;
  }
}

/// `mode` empty: all.
Summary summarise(const std::vector<PromptComparison>& prompts, const std::string& mode) {
  Summary summary;
  std::set<std::uint32_t> all;
  std::set<std::uint32_t> changed;
  std::set<std::uint32_t> changed_at_first;
  bool token_changed = false;
  for (const PromptComparison& prompt : prompts) {
    if (!mode.empty() && prompt.mode != mode) {
      continue;
    }
    add_prompt(summary, prompt);
    token_changed = token_changed || prompt.first_token_change.has_value();
    all.insert(prompt.prompt);
    if (prompt.steps_changed > 0 || prompt.first_token_change) {
      changed.insert(prompt.prompt);
    }
    if (prompt.first_changed_step == 1U) {
      changed_at_first.insert(prompt.prompt);
    }
  }
  summary.prompts = all.size();
  summary.prompts_changed = changed.size();
  summary.first_steps_changed = changed_at_first.size();
  if (summary.smallest_gap && summary.max_gap_change.value_or(0) > 0) {
    summary.margin = summary.smallest_gap->value / *summary.max_gap_change;
  }
  summary.verdict = token_changed               ? "diverged"
                    : summary.steps_changed > 0 ? "same_tokens"
                                                : "identical";
  return summary;
}

}  // namespace

std::optional<TokenChangeCause> token_change_cause(const std::string& mode, const Step& a,
                                                   const Step& b,
                                                   const StepDifference& difference) {
  if (mode != "sample") {
    return TokenChangeCause::kLogits;
  }
  if (difference.same) {
    return TokenChangeCause::kSampler;
  }
  if (!a.draw_digest || !b.draw_digest) {
    return std::nullopt;
  }
  return a.draw_digest == b.draw_digest ? TokenChangeCause::kLogits : TokenChangeCause::kBoth;
}

void Comparison::begin_prompt(const std::string& mode, std::uint32_t prompt) {
  PromptComparison comparison;
  comparison.mode = mode;
  comparison.prompt = prompt;
  prompts_.push_back(std::move(comparison));
  contexts_equal_ = true;
}

void Comparison::add_step(const Step& a, const Step& b, const StepDifference& difference,
                          std::optional<TokenChangeCause> judged) {
  if (!contexts_equal_) {
    add_not_compared(1);
    return;
  }
  PromptComparison& prompt = prompts_.back();
  const auto step = static_cast<std::uint32_t>(prompt.steps + 1);
  add_difference(prompt, step, difference);
  if (a.token != b.token && !prompt.first_token_change) {
    prompt.first_token_change = step;
    prompt.token_change_cause = judged ? judged : token_change_cause(prompt.mode, a, b, difference);
  }
  if (prompt.mode == "score") {
    add_score(a, b, difference);
  }
  contexts_equal_ = next_token(a) == next_token(b);
}

void Comparison::add_not_compared(std::uint64_t steps) {
  prompts_.back().steps_not_compared += steps;
}

void Comparison::add_score(const Step& a, const Step& b, const StepDifference& difference) {
  ++score_.positions;
  score_.agreed += a.token == b.token ? 1 : 0;
  if (a.given && b.given) {
    ++score_.given;
    score_.logprob_a += a.given_logprob;
    score_.logprob_b += b.given_logprob;
  }
  score_.on_kept = score_.on_kept || difference.on_kept;
  if (difference.kl) {
    score_.kl.push_back(*difference.kl);
  }
}

void Comparison::add_score_figures(Summary& summary) const {
  if (score_.positions == 0) {
    return;
  }
  summary.top1_agreement =
      static_cast<double>(score_.agreed) / static_cast<double>(score_.positions);
  if (score_.given > 0) {
    const auto count = static_cast<double>(score_.given);
    summary.perplexity_a = std::exp(-score_.logprob_a / count);
    summary.perplexity_b = std::exp(-score_.logprob_b / count);
  }
  if (!score_.kl.empty() && !score_.on_kept) {
    std::vector<double> sorted = score_.kl;
    std::sort(sorted.begin(), sorted.end());
    for (const std::size_t percent : {50U, 90U, 99U, 100U}) {
      summary.kl_percentiles[std::to_string(percent)] = percentile(sorted, percent);
    }
  }
}

Summary Comparison::summary() const {
  Summary all = summarise(prompts_, "");
  add_score_figures(all);
  return all;
}

Summary Comparison::summary(const std::string& mode) const {
  Summary one = summarise(prompts_, mode);
  if (mode == "score") {
    add_score_figures(one);
  }
  return one;
}

std::vector<std::string> Comparison::modes() const {
  std::vector<std::string> modes;
  for (const PromptComparison& prompt : prompts_) {
    if (std::find(modes.begin(), modes.end(), prompt.mode) == modes.end()) {
      modes.push_back(prompt.mode);
    }
  }
  return modes;
}

}  // namespace drift
