#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/audit.hpp"
#include "driftaudit/model.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/report.hpp"

namespace drift {

/// A request and its answer, with the log-probabilities that decoding gave: in nats, of raw logits
/// at temperature 1. `tokens` and `logprobs` are equally long and not empty.
struct DecodedRequest {
  std::string mode;          ///< "greedy", "sample"; "given": from a file
  std::uint32_t prompt = 0;  ///< from 1, within its mode
  std::optional<std::string> request_id;
  std::string prompt_text;
  std::vector<std::int32_t> prompt_ids;  ///< never empty
  std::vector<std::int32_t> tokens;
  std::vector<double> logprobs;
};

/// The generated answers of one build of a report, in the order in which they ran. Errors (usage):
/// none is there, or a token that was imposed isn't among the kept logits.
std::vector<DecodedRequest> decoded_requests(const Report& report, std::uint32_t build);

/// Reads what any server or library generated: a JSON object a line, with exactly the keys
/// `prompt_ids`, `token_ids`, `logprobs` (one a token) and `request_id` (text or a whole number).
/// Prompts are numbered by line. Errors (usage) name file and line: not JSON, another key or kind
/// of value, lengths that differ, an id outside the vocabulary, a text too long for the context, a
/// positive log-probability, an id that stands twice; an empty file.
std::vector<DecodedRequest> read_logprobs(const std::filesystem::path& path,
                                          const Tokenizer& tokenizer, const ModelConfig& config);

/// A text of which the tokens from index `first` on (at least 1) are scored.
struct ScoredText {
  std::vector<std::int32_t> ids;
  std::size_t first = 1;
};

/// What the logits before a token say of it.
struct TokenScore {
  double logprob = 0;      ///< logit − log-sum-exp, in double
  std::uint32_t rank = 1;  ///< from 1: by logit, the lowest id first among equals, NaN last
  double margin = 0;       ///< the highest logit minus the token's; NaN where that one is
  double logit = 0;        ///< the token's own
  /// The last logit of the top-k minus the token's, where the rank is beyond it; else 0.
  double below_top_k = 0;
};

/// `top_k` 0: no filter. `logprob` is what `rule` makes of the logits.
TokenScore token_score(Logits logits, std::int32_t token, std::uint32_t top_k = 0,
                       const LogprobRule& rule = {});

/// The log-probability that a rule gives a token: after temperature, renormalised over the top-k
/// and then the top-p, in the rule's base. -infinity where these leave the token out. Shifts and
/// what stands before the prompt are the caller's affair.
double rule_logprob(const LogprobRule& rule, Logits logits, std::int32_t token);

/// Scores texts, each in one prefill.
using TextScorer =
    std::function<std::vector<std::vector<TokenScore>>(const std::vector<ScoredText>&)>;

/// Gives the logits before each scored token of texts, each text in one prefill.
using LogitsVisitor = std::function<void(std::size_t text, std::size_t index, Logits logits)>;
using LogitsReader = std::function<void(const std::vector<ScoredText>&, const LogitsVisitor&)>;

/// How a build's logits make scores.
struct Scoring {
  std::uint32_t top_k = 0;  ///< of sampled requests
  LogprobRule rule;         ///< of a file
};

/// A reader's logits as scores. `reader` must outlive the scorer.
TextScorer scorer_from(const LogitsReader& reader, const Scoring& scoring);

/// A build as a reader of logits: each call is one process. `record` gets what its runner says of
/// itself; it must outlive the scorer, as `side`, `model` and `progress` must.
LogitsReader runner_logits(const Side& side, double timeout_seconds, const Model& model,
                           Progress& progress, BuildRecord& record);

/// The noise scale of a build's own decoding, with its own cache, against its own prefill, over a
/// few tokens of a few requests; that of the quietest of them. Nothing where no token tells.
std::optional<double> own_noise(const std::vector<DecodedRequest>& requests, const Side& side,
                                double timeout_seconds, const Model& model, Progress& progress);

/// How far logits are apart, judged by log-probabilities: the median of |Δ| / (1 − p) over tokens
/// of probability p up to 0.9. A token that is all but certain has a small Δ whatever its logits
/// do. Nothing of fewer than four such tokens; what isn't finite has no part in it.
std::optional<double> noise_scale(const std::vector<double>& deltas,
                                  const std::vector<double>& logprobs);

/// The limit that noise gives: kNoiseTimes the larger of the quietest request's scale and the
/// scorer's own, held between `least` and `most`.
double rescore_limit(const RescoreNoise& noise);
inline constexpr double kNoiseTimes = 24;

struct RescoreOptions {
  std::optional<double> outlier;   ///< |Δ| above it is an outlier; else rescore_limit()
  std::uint32_t top_k = 0;         ///< of the sampled requests; 0: none
  std::uint32_t n_positions = 0;   ///< of the model: a text has at most one token more
  std::string dtype = "float32";   ///< the coarser of both sides' types; of a file: the scorer's
  bool dtype_known = true;         ///< else decoding may have computed in bfloat16
  std::optional<double> own = {};  ///< own_noise(), where it was measured
  std::optional<LogprobRule> rule = {};  ///< that a file was said to follow; the scorer applies it
  std::int32_t end_of_text = -1;         ///< -1: the model has none
};

/// Scores all answers again, and where requests fail to the end, whether their tokens are another
/// request's. With `logits`, of a file that differs throughout, also by which rule: see
/// find_rule(). `decoded_by` and `scored_by` are left to the caller.
RescoreRecord rescore(const std::vector<DecodedRequest>& requests, const TextScorer& scorer,
                      const RescoreOptions& options, const LogitsReader& logits = {});

/// Puts into a record of `batched` requests how they differ from the same requests decoded alone.
void compare_alone(const std::vector<DecodedRequest>& batched,
                   const std::vector<DecodedRequest>& alone, RescoreRecord& record);

/// The gate `--fail-on outliers`. It trips on any outlier, on a file that follows a rule which
/// nobody named, and where all of a file is off to one_sided().
GateRecord judge_outliers(const RescoreRecord& record);

/// What is rescored.
struct RescoreRequest {
  Side scorer;
  double timeout_seconds = 300;
  std::optional<double> outlier;
  std::optional<LogprobRule> rule;  ///< of a file
  std::string tool;                 ///< for the report
};

/// The answers of one build of a report, scored by a build: what `sweep` asks of each cell.
/// Errors: as decoded_requests() and RunnerProcess::next().
RescoreRecord rescore_runs(const Report& decoded, std::uint32_t build,
                           const RescoreRequest& request, const Model& model, Progress& progress,
                           BuildRecord& scorer);

/// The same as a report of its own; `source` names the report's file if it was read from one.
Report rescore_report(const Report& decoded, std::uint32_t build, const std::string& source,
                      const RescoreRequest& request, const Model& model, Progress& progress);

/// The answers that a file holds, scored by a build.
Report rescore_file(const std::filesystem::path& path, const RescoreRequest& request,
                    const Model& model, Progress& progress);

}  // namespace drift
