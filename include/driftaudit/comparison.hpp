#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/step.hpp"
#include "driftaudit/step_difference.hpp"

namespace drift {

/// Why a token changed, where it did.
enum class TokenChangeCause { kLogits, kSampler, kBoth };

/// What a changed token is attributed to. Greedy and scored tokens follow from the logits. For a
/// sampled one: equal draws and other logits are `logits`, other draws over equal logits `sampler`,
/// both changed `both`. Null where the logits differ and the draws aren't known. (Of `both`, an
/// audit asks A's sampler what it makes of B's logits: see judge_change().)
std::optional<TokenChangeCause> token_change_cause(const std::string& mode, const Step& a,
                                                   const Step& b, const StepDifference& difference);

enum class Stop { kLength, kEndOfText, kContext, kFed };

/// Where the smallest gap was.
struct SmallestGap {
  double value = 0;
  std::uint32_t prompt = 0;  ///< from 1
  std::uint32_t step = 0;    ///< from 1
  char side = 'A';
};

/// One prompt in one mode, both sides: what comparison.prompts[] of the report holds.
struct PromptComparison {
  std::string mode;
  std::uint32_t prompt = 0;                         ///< from 1
  std::uint64_t steps = 0;                          ///< compared
  std::uint64_t steps_changed = 0;                  ///< whose logits are other bytes
  std::optional<std::uint32_t> first_changed_step;  ///< from 1
  std::optional<std::uint32_t> first_token_change;
  std::optional<TokenChangeCause> token_change_cause;
  double max_abs_logit_diff = 0;
  std::uint64_t max_ulp = 0;
  std::optional<double> max_gap_change;
  std::optional<double> max_kl;
  std::optional<SmallestGap> smallest_gap;  ///< of both sides' compared steps
  std::optional<double> min_step_margin;    ///< least gap ÷ gap change within one step
  std::uint64_t steps_flip_possible = 0;    ///< changed, and no flip ruled out: see StepDifference
  std::uint64_t steps_not_compared = 0;
  std::uint64_t non_finite = 0;
  std::uint64_t steps_on_kept = 0;        ///< changed, and compared on kept logits alone
  std::uint64_t gap_changes_unknown = 0;  ///< changed, and without a gap change
  std::uint64_t ties = 0;                 ///< where the two highest logits of either side are equal
};

/// The figures of the report's summary, over all prompts or those of one mode. Prompts are counted
/// once however many modes ran them. Gaps and margins are of greedy steps; a gap that isn't finite
/// has no part in them.
struct Summary {
  /// "diverged": a token changed; "same_tokens": only bits did; "identical": nothing did, but
  /// `non_finite` says whether numbers that aren't finite were among what was compared.
  std::string verdict = "identical";
  std::uint64_t steps = 0;  ///< compared
  std::uint64_t steps_changed = 0;
  std::uint64_t first_steps_changed = 0;  ///< prompts whose first step changed
  std::uint64_t prompts = 0;
  std::uint64_t prompts_changed = 0;
  double max_abs_logit_diff = 0;
  std::optional<SmallestGap> smallest_gap;
  std::optional<double> max_gap_change;
  std::optional<double> margin;  ///< smallest gap ÷ largest gap change; null when nothing changed
  std::optional<double> min_step_margin;
  std::uint64_t steps_flip_possible = 0;
  std::uint64_t non_finite = 0;
  /// Changed steps of which only kept logits were compared: with any, max_abs_logit_diff is a lower
  /// bound, and steps_flip_possible too.
  std::uint64_t steps_on_kept = 0;
  std::uint64_t gap_changes_unknown = 0;  ///< changed greedy steps without a gap change
  /// Greedy steps where the two highest logits of either side are equal: there the lowest id is
  /// chosen, and any change may flip it.
  std::uint64_t ties = 0;
  // Score mode only.
  std::optional<double> perplexity_a, perplexity_b;  ///< exp of minus the mean log-probability
  std::map<std::string, double> kl_percentiles;      ///< "50", "90", "99", "100", nearest rank
  std::optional<double> top1_agreement;              ///< share of positions
};

/// Accumulates compared steps, in any order of prompts; memory is a few hundred bytes a prompt and,
/// in score mode, a double a position.
class Comparison {
 public:
  /// Begins a prompt; the steps that follow belong to it and count from 1.
  void begin_prompt(const std::string& mode, std::uint32_t prompt);
  /// Whether the prompt's next step has equal contexts on both sides: no token has changed so far,
  /// or what changed was overruled by the token that both were fed.
  bool contexts_equal() const { return contexts_equal_; }
  /// The prompt's next step, with compare_logits() of it. Once contexts differ it only counts as
  /// not compared.
  /// `judged` replaces what a changed token would be attributed to.
  void add_step(const Step& a, const Step& b, const StepDifference& difference,
                std::optional<TokenChangeCause> judged = std::nullopt);
  /// Steps that only one side reached, or that followed a change of token.
  void add_not_compared(std::uint64_t steps);

  const std::vector<PromptComparison>& prompts() const { return prompts_; }
  Summary summary() const;                         ///< over all modes
  Summary summary(const std::string& mode) const;  ///< over one
  std::vector<std::string> modes() const;          ///< in order of appearance

 private:
  /// What score mode needs beyond the prompts' figures.
  struct Score {
    std::uint64_t positions = 0;
    std::uint64_t agreed = 0;  ///< both sides' highest token is the same
    double logprob_a = 0;      ///< sums over the given tokens
    double logprob_b = 0;
    std::uint64_t given = 0;
    std::vector<double> kl;
    bool on_kept = false;  ///< some step's KL isn't known
  };
  void add_score(const Step& a, const Step& b, const StepDifference& difference);
  void add_score_figures(Summary& summary) const;

  std::vector<PromptComparison> prompts_;
  bool contexts_equal_ = true;
  Score score_;
};

}  // namespace drift
