#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "driftaudit/rescore.hpp"
#include "driftaudit/step.hpp"

namespace drift {
namespace {

/// How far below the last of the top-k a token that isn't among them lies.
double below_top_k(Logits logits, std::uint32_t top_k, const TokenScore& score) {
  if (top_k == 0 || score.rank <= top_k) {
    return 0;
  }
  std::vector<float> sorted(logits.begin(), logits.end());
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(top_k - 1);
  std::nth_element(sorted.begin(), last, sorted.end(), [](float a, float b) {
    return std::isnan(b) ? !std::isnan(a) : a > b;  // NaN last
  });
  return double{*last} - score.logit;
}

}  // namespace

TokenScore token_score(Logits logits, std::int32_t token, std::uint32_t top_k,
                       const LogprobRule& rule) {
  const auto id = static_cast<std::size_t>(token);
  const float own = logits[id];
  TokenScore score;
  score.logit = own;
  score.logprob = rule_logprob(rule, logits, token);
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float logit = logits[i];
    highest = std::isnan(logit) ? highest : std::max(highest, double{logit});
    const bool both_nan = std::isnan(own) && std::isnan(logit);
    const bool above = std::isnan(own) ? !std::isnan(logit) : logit > own;
    score.rank += above || ((both_nan || logit == own) && i < id) ? 1 : 0;
  }
  score.margin = highest == double{own} ? 0 : highest - double{own};
  score.below_top_k = below_top_k(logits, top_k, score);
  return score;
}

TextScorer scorer_from(const LogitsReader& reader, const Scoring& scoring) {
  return [&reader, scoring](const std::vector<ScoredText>& texts) {
    std::vector<std::vector<TokenScore>> scores(texts.size());
    reader(texts, [&](std::size_t text, std::size_t index, Logits logits) {
      const std::int32_t token = texts[text].ids[texts[text].first + index];
      scores[text].push_back(token_score(logits, token, scoring.top_k, scoring.rule));
    });
    return scores;
  };
}

}  // namespace drift
