#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace drift {

/// One generated token as decoding knew it and as a prefill of prompt and text does.
/// Log-probabilities are in nats, of raw logits at temperature 1.
struct RescoredToken {
  std::string mode;          ///< "greedy", "sample"; "given": from a file
  std::uint32_t prompt = 0;  ///< from 1
  std::uint32_t step = 0;    ///< from 1
  std::int32_t token = -1;
  double logprob_decode = 0;
  double logprob_prefill = 0;
  std::uint32_t rank = 0;  ///< of the token among the prefill's logits, from 1
  double margin = 0;       ///< the prefill's highest logit minus the token's
};

/// How far apart both are over some of the tokens. The figures are of |Δ|, where it is finite.
struct RescoreSpread {
  /// "all"; "early", "middle", "late": the first ten steps of each answer (at most half of it), its
  /// last ten, and those between.
  std::string part;
  std::uint64_t tokens = 0;
  std::uint64_t outliers = 0;
  double median = 0;
  double p99 = 0;  ///< nearest rank
  double max = 0;
};

/// The request whose answer another one got.
struct RescoreSwap {
  std::uint32_t prompt = 0;  ///< from 1, in the same mode
  std::uint32_t step = 0;    ///< the answer is that one's from this step on
};

/// A request of a batch against itself, decoded alone.
struct RescoreAlone {
  std::optional<std::uint32_t> first_difference;  ///< the step of the first other token
  std::uint64_t steps = 0;  ///< before it: those that have the same context and token
  double max = 0;           ///< of |Δ| of both log-probabilities over these steps, where finite
  std::optional<std::uint32_t> answers;  ///< another prompt's whole answer is what it has
};

/// One request: a prompt in one mode, or a line of a file.
struct RescoredRequest {
  std::string mode;
  std::uint32_t prompt = 0;               ///< from 1
  std::optional<std::string> request_id;  ///< of a file
  std::string prompt_text;
  std::vector<std::int32_t> prompt_ids;
  std::uint64_t tokens = 0;
  std::uint64_t outliers = 0;
  std::optional<std::uint32_t> first_outlier;   ///< its step
  std::optional<std::uint32_t> outlier_period;  ///< steps between outliers: see regular_distance()
  double median = 0;                            ///< of |Δ|, where it is finite
  double max = 0;
  std::optional<RescoreSwap> answers;  ///< its tokens are another request's
  std::optional<RescoreAlone> alone;   ///< where it ran in a batch
};

/// Requests fail at equal distances.
struct RescorePeriod {
  std::uint32_t period = 0;  ///< every so many requests, in the order in which they ran
  std::uint32_t first = 0;   ///< the first one that fails, from 1
};

/// What the limit was taken from. Scales are medians of |Δ| over the sensitivity of a token's
/// log-probability to its logits: see noise_scale().
struct RescoreNoise {
  double quietest = 0;        ///< the scale of the request that has the smallest
  std::optional<double> own;  ///< of the scorer's own decoding against its own prefill
  std::string dtype;          ///< the coarsest type that either side may have computed in
  double step = 0;            ///< of that type at the magnitude of the median token's logits
  double least = 0;           ///< the limit is no lower
  double most = 0;            ///< nor higher
};

/// How a file's log-probabilities were made from raw logits, where not as log-softmax of them.
/// Temperature comes first, then top-k, then top-p, as sampling applies them.
struct LogprobRule {
  double temperature = 1;
  std::uint32_t top_k = 0;  ///< renormalised over so many highest; 0: over all
  double top_p = 1;  ///< renormalised over the smallest set with this probability; 1: over all
  std::uint32_t base = 0;  ///< of the logarithm, 2 or 10; 0: natural
  /// Which token's log-probability stands in a token's place: 1 the next one's, -1 the last one's.
  std::int32_t shift = 0;
  std::int32_t before =
      0;  ///< 1: scored with end-of-text before the prompt; -1: without its first token

  bool operator==(const LogprobRule&) const = default;
};

/// A rule that a file follows.
struct RescoreRule {
  LogprobRule rule;
  bool given = false;        ///< an option named it: Δ is from what the rule gives
  std::uint64_t fitted = 0;  ///< tokens that its numbers were taken from; 0: it has none, or given
  std::uint64_t tokens = 0;  ///< on which it was confirmed, those included
  double median = 0;         ///< of |Δ| under the rule
  double max = 0;
};

/// What rescoring adds to a report.
struct RescoreRecord {
  std::optional<std::uint32_t> decoded_by;  ///< index into builds; null: see `source`
  std::uint32_t scored_by = 0;              ///< index into builds
  std::string source;                       ///< the file that the log-probabilities come from
  bool limit_given = false;                 ///< --outlier said it
  double limit = 0;              ///< an outlier has |Δ| above it, or none that is finite
  std::uint64_t non_finite = 0;  ///< tokens whose |Δ| isn't finite: outliers
  /// Outliers that don't follow from the prefill's logits: a greedy token that lies below the
  /// highest, a sampled one below the top-k's last, by more than noise and a step of the type.
  std::uint64_t not_chosen = 0;
  std::optional<RescoreNoise> noise;  ///< null in older reports: 50 × the median
  std::optional<RescoreRule> rule;    ///< of a file
  std::vector<RescoreSpread> spread;
  std::vector<RescoredRequest> requests;
  std::optional<RescorePeriod> request_period;
  std::vector<RescoredToken> scored;
  std::vector<RescoredToken> outliers;
};

/// |Δ| of a token: how far its log-probabilities are apart.
double delta_of(const RescoredToken& token);

/// Whether |Δ| makes an outlier: it is above the limit, or not finite.
bool is_outlier(double delta, double limit);

/// In float32, decoding and prefill differ by far less than this.
inline constexpr double kLeastRescoreLimit = 1e-3;

/// Whether an older report's limit, 50 times the median, grew with what it should have shown.
bool hidden_by_limit(const RescoreRecord& record);

/// Whether a file of which nothing else is known differs throughout as only half precision may.
bool coarse_throughout(const RescoreRecord& record);

/// Whether nearly all of a file's log-probabilities are off to the same side, which rounding never
/// does. Of few tokens nothing is said.
bool one_sided(const RescoreRecord& record);

}  // namespace drift
