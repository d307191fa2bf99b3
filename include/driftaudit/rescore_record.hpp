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

/// What rescoring adds to a report.
struct RescoreRecord {
  std::optional<std::uint32_t> decoded_by;  ///< index into builds; null: see `source`
  std::uint32_t scored_by = 0;              ///< index into builds
  std::string source;                       ///< the file that the log-probabilities come from
  bool limit_given = false;                 ///< --outlier said it
  double limit = 0;              ///< an outlier has |Δ| above it, or none that is finite
  std::uint64_t non_finite = 0;  ///< tokens whose |Δ| isn't finite: outliers
  /// Outliers that don't follow from the prefill's logits: a greedy token that isn't the highest, a
  /// sampled one that isn't among the top-k.
  std::uint64_t not_chosen = 0;
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

/// max(kLeastRescoreLimit, 50 × the median): what an outlier's |Δ| is above unless somebody says
/// otherwise. `median` is of all finite |Δ|.
double rescore_limit(double median);

/// In float32, decoding and prefill differ by far less than this.
inline constexpr double kLeastRescoreLimit = 1e-3;

/// A median |Δ| that decoding and prefill of no type have where both are sound: a bfloat16 logit of
/// 64 to 128 has steps of 0.5.
inline constexpr double kMostSoundMedian = 1;

/// Whether the median is so large that a limit taken from it hides what fails. A coarser type than
/// float32 may be as far apart and sound.
bool hidden_by_limit(const RescoreRecord& record);

}  // namespace drift
