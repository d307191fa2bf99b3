#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/core.h>

#include "driftaudit/rescore.hpp"

#include "rescore/noise.hpp"
#include "rescore/rules.hpp"
#include "rescore/spread.hpp"
#include "rescore/swaps.hpp"
#include "rescore/texts.hpp"

namespace drift {
namespace {

/// Whether a token of this mode can't come from the prefill's logits: it would take more than the
/// noise of this run, and more than one step of the type.
bool cannot_be_chosen(const RescoredToken& token, const TokenScore& score,
                      const RescoreOptions& options, double noise) {
  const double least = std::max(noise, logit_step(options.dtype, score));
  return (token.mode == "greedy" && token.rank > 1 && !(score.margin <= least)) ||
         (token.mode == "sample" && options.top_k > 0 && token.rank > options.top_k &&
          !(score.below_top_k <= least));
}

std::vector<double> all_deltas(const std::vector<RescoredToken>& tokens) {
  std::vector<double> deltas;
  deltas.reserve(tokens.size());
  for (const RescoredToken& token : tokens) {
    deltas.push_back(delta_of(token));
  }
  return deltas;
}

std::vector<TokenScore> score_all(const std::vector<DecodedRequest>& requests,
                                  const TextScorer& scorer, RescoreRecord& record) {
  std::vector<ScoredText> texts;
  texts.reserve(requests.size());
  for (const DecodedRequest& request : requests) {
    texts.push_back(text_of(request));
  }
  const std::vector<std::vector<TokenScore>> scores = scorer(texts);
  std::vector<TokenScore> all;
  for (std::size_t r = 0; r < requests.size(); ++r) {
    const DecodedRequest& request = requests[r];
    for (std::size_t i = 0; i < request.tokens.size(); ++i) {
      const TokenScore& score = scores[r][i];
      all.push_back(score);
      record.scored.push_back({request.mode, request.prompt, static_cast<std::uint32_t>(i + 1),
                               request.tokens[i], request.logprobs[i], score.logprob, score.rank,
                               score.margin});
    }
  }
  return all;
}

/// Once the limit is known: what lies above it, whole and by position.
void judge_tokens(const std::vector<DecodedRequest>& requests, const std::vector<double>& deltas,
                  const std::vector<TokenScore>& scores, const RescoreOptions& options,
                  RescoreRecord& record) {
  const double noise = rescore_limit(*record.noise);
  std::map<std::string, std::vector<double>> parts;
  std::size_t at = 0;
  for (const DecodedRequest& request : requests) {
    const auto steps = static_cast<std::uint32_t>(request.tokens.size());
    for (std::uint32_t step = 1; step <= steps; ++step, ++at) {
      const RescoredToken& token = record.scored[at];
      const double delta = deltas[at];
      parts[part_of(step, steps)].push_back(delta);
      record.non_finite += std::isfinite(delta) ? 0 : 1;
      if (is_outlier(delta, record.limit)) {
        record.outliers.push_back(token);
        record.not_chosen += cannot_be_chosen(token, scores[at], options, noise) ? 1 : 0;
      }
    }
  }
  record.spread.push_back(spread_of("all", deltas, record.limit));
  for (const char* part : {"early", "middle", "late"}) {
    if (parts.contains(part)) {
      record.spread.push_back(spread_of(part, parts[part], record.limit));
    }
  }
}

/// One request's figures; `tokens` are its own.
RescoredRequest judged(const DecodedRequest& request, const std::vector<double>& deltas,
                       double limit) {
  const RescoreSpread spread = spread_of("all", deltas, limit);
  RescoredRequest judged;
  judged.mode = request.mode;
  judged.prompt = request.prompt;
  judged.request_id = request.request_id;
  judged.prompt_text = request.prompt_text;
  judged.prompt_ids = request.prompt_ids;
  judged.tokens = spread.tokens;
  judged.outliers = spread.outliers;
  judged.median = spread.median;
  judged.max = spread.max;
  std::vector<std::uint32_t> steps;
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    if (is_outlier(deltas[i], limit)) {
      steps.push_back(static_cast<std::uint32_t>(i + 1));
    }
  }
  if (!steps.empty()) {
    judged.first_outlier = steps.front();
    judged.outlier_period = regular_distance(steps, static_cast<std::uint32_t>(deltas.size()));
  }
  return judged;
}

void judge_requests(const std::vector<DecodedRequest>& requests, const std::vector<double>& deltas,
                    RescoreRecord& record) {
  std::vector<std::uint32_t> failing;
  auto begin = deltas.begin();
  for (const DecodedRequest& request : requests) {
    const auto end = begin + static_cast<std::ptrdiff_t>(request.tokens.size());
    record.requests.push_back(judged(request, {begin, end}, record.limit));
    begin = end;
    if (record.requests.back().first_outlier) {
      failing.push_back(static_cast<std::uint32_t>(record.requests.size()));
    }
  }
  const auto period = regular_distance(failing, static_cast<std::uint32_t>(requests.size()));
  if (period && failing.front() <= *period) {
    record.request_period = RescorePeriod{*period, failing.front()};
  }
}

/// What a rule, named by an option, leaves.
RescoreRule rule_as_given(const LogprobRule& rule, const RescoreRecord& record) {
  const RescoreSpread& all = record.spread.front();
  return {rule, true, 0, all.tokens, all.median, all.max};
}

/// Whether more is off than a build's own noise makes: most tokens by float32's measure.
bool asks_for_a_rule(const RescoreRecord& record, const RescoreOptions& options) {
  constexpr double kTimesOwn = 32;
  const double least = std::max(kLeastRescoreLimit / 10, kTimesOwn * options.own.value_or(0));
  return !options.rule && !record.scored.empty() && record.scored.front().mode == "given" &&
         (record.spread.front().median > least ||
          2 * record.outliers.size() >= record.scored.size());
}

bool all_are_swaps(const RescoreRecord& record) {
  return std::all_of(record.requests.begin(), record.requests.end(),
                     [](const RescoredRequest& r) { return !r.first_outlier || r.answers; });
}

}  // namespace

RescoreRecord rescore(const std::vector<DecodedRequest>& requests, const TextScorer& scorer,
                      const RescoreOptions& options, const LogitsReader& logits) {
  RescoreRecord record;
  const std::vector<TokenScore> scores = score_all(requests, scorer, record);
  const std::vector<double> deltas = all_deltas(record.scored);
  record.noise = measured_noise(requests, deltas, scores, options);
  record.limit_given = options.outlier.has_value();
  record.limit = options.outlier.value_or(rescore_limit(*record.noise));
  judge_tokens(requests, deltas, scores, options, record);
  judge_requests(requests, deltas, record);
  find_swaps(requests, scorer, options, record);
  if (options.rule) {
    record.rule = rule_as_given(*options.rule, record);
  } else if (logits && asks_for_a_rule(record, options) &&
             (record.outliers.empty() || !all_are_swaps(record))) {
    record.rule = find_rule(requests, scores, logits, options);
  }
  return record;
}

GateRecord judge_outliers(const RescoreRecord& record) {
  GateRecord gate{"--fail-on outliers", false, ""};
  const std::size_t count = record.outliers.size();
  if (count > 0) {
    gate.tripped = true;
    gate.finding = fmt::format("{} of {} token{} outlying", count, record.scored.size(),
                               record.scored.size() == 1 ? " is" : "s are");
  } else if (record.rule && !record.rule->given) {
    gate.tripped = true;
    gate.finding = "the log-probabilities follow another rule than log-softmax of raw logits";
  } else if (one_sided(record)) {
    gate.tripped = true;
    gate.finding =
        "nearly all log-probabilities are off to the same side, which rounding never does";
  } else {
    gate.finding = "no token is an outlier";
  }
  return gate;
}

}  // namespace drift
