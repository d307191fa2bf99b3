#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/step.hpp"

namespace drift {

/// How two sides differ at one step whose contexts are equal.
struct StepDifference {
  bool same = true;           ///< the logits are the same bytes
  double max_abs = 0;         ///< largest |b − a| over finite pairs
  std::uint64_t max_ulp = 0;  ///< over pairs without NaN
  std::optional<double> kl;   ///< KL(A‖B) of the softmax distributions, nats
  /// |(b[t]−b[u]) − (a[t]−a[u])|, t and u A's two top ids; null when not known.
  std::optional<double> gap_change;
  double gap_a = 0;
  double gap_b = 0;
  bool flip_possible = false;    ///< gap ≤ 2 × max_abs on A's side: a third token may overtake
  std::uint64_t non_finite = 0;  ///< NaN and infinities on both sides
};

/// From all logits of both sides (same length).
StepDifference compare_logits(Logits a, Logits b);

/// Why a token changed, where it did.
enum class TokenChangeCause { kLogits, kSampler, kBoth };

enum class Stop { kLength, kEndOfText, kContext, kFed };

/// One prompt in one mode, both sides: what comparison.prompts[] of the report holds.
struct PromptComparison {
  std::string mode;
  std::uint32_t prompt = 0;  ///< from 1
  std::uint64_t steps = 0;   ///< compared
  std::uint64_t steps_changed = 0;
  std::optional<std::uint32_t> first_changed_step;  ///< from 1
  std::optional<std::uint32_t> first_token_change;
  std::optional<TokenChangeCause> token_change_cause;
  double max_abs_logit_diff = 0;
  std::uint64_t max_ulp = 0;
  std::optional<double> max_gap_change;
  std::optional<double> max_kl;
  std::uint64_t steps_not_compared = 0;
  std::uint64_t non_finite = 0;
};

/// Where the smallest gap was.
struct SmallestGap {
  double value = 0;
  std::uint32_t prompt = 0;
  std::uint32_t step = 0;
  char side = 'A';
};

/// The figures of the report's summary, over all prompts or those of one mode.
struct Summary {
  std::string verdict;  ///< "identical", "same_tokens", "diverged"
  std::uint64_t steps = 0;
  std::uint64_t steps_changed = 0;
  std::uint64_t first_steps_changed = 0;
  std::uint64_t prompts = 0;
  std::uint64_t prompts_changed = 0;
  double max_abs_logit_diff = 0;
  std::optional<SmallestGap> smallest_gap;  ///< of greedy steps
  std::optional<double> max_gap_change;
  std::optional<double> margin;  ///< smallest gap ÷ largest gap change
  std::optional<double> min_step_margin;
  std::uint64_t non_finite = 0;
  // Score mode only.
  std::optional<double> perplexity_a, perplexity_b;
  std::map<std::string, double> kl_percentiles;  ///< "50", "90", "99", "100"
  std::optional<double> top1_agreement;          ///< share of positions
};

/// Accumulates compared steps, in any order of prompts; memory is a few hundred bytes a prompt and,
/// in score mode, a double a position.
class Comparison {
 public:
  /// Begins a prompt; the steps that follow belong to it.
  void begin_prompt(const std::string& mode, std::uint32_t prompt);
  /// One step that both sides reached with the same context.
  void add_step(const Step& a, const Step& b, const StepDifference& difference);
  /// Steps that only one side reached, or that followed a change of token.
  void add_not_compared(std::uint64_t steps);

  const std::vector<PromptComparison>& prompts() const { return prompts_; }
  Summary summary() const;                         ///< over all modes
  Summary summary(const std::string& mode) const;  ///< over one
  std::vector<std::string> modes() const;          ///< in order of appearance

 private:
  struct Totals;
  std::vector<PromptComparison> prompts_;
  // The accumulators that summary() is made of: the implementer's to choose.
};

}  // namespace drift
