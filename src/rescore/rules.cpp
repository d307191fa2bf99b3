#include "rescore/rules.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <utility>

#include "driftaudit/order_statistics.hpp"

#include "rescore/fit.hpp"
#include "rescore/noise.hpp"
#include "rescore/texts.hpp"

namespace drift {
namespace {

constexpr std::size_t kMostCandidates = 6;
constexpr std::size_t kLeastTokens = 8;
/// What remains under a rule, against what it explains.
constexpr double kMostRemaining = 1.0 / 16;
constexpr double kMostFittedProbability = 0.9;

FitToken fit_token(Logits logits, std::int32_t token, double said) {
  const float own = logits[static_cast<std::size_t>(token)];
  FitToken fit{{logits.begin(), logits.end()}, 0, said};
  std::sort(fit.logits.begin(), fit.logits.end(), std::greater<>());
  const auto place = std::find(fit.logits.begin(), fit.logits.end(), double{own});
  fit.place = static_cast<std::size_t>(place - fit.logits.begin());
  return fit;
}

bool all_finite(Logits logits) {
  return std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); });
}

/// All tokens of a file, in order.
class FileRules {
 public:
  FileRules(const std::vector<DecodedRequest>& requests, const std::vector<TokenScore>& scores,
            const LogitsReader& logits, const RescoreOptions& options)
      : requests_(requests), scores_(scores), logits_(logits), options_(options) {
    for (const DecodedRequest& request : requests) {
      texts_.push_back(text_of(request));
      first_.push_back(said_.size());
      said_.insert(said_.end(), request.logprobs.begin(), request.logprobs.end());
    }
    explained_ = median(deltas(raw())).value_or(0);
  }

  std::optional<RescoreRule> found() {
    if (said_.size() < kLeastTokens) {
      return std::nullopt;
    }
    for (const std::int32_t shift : {1, -1}) {
      consider({.shift = shift}, shifted(shift), 0);
    }
    try_fitted();
    if (!best_) {
      try_before();
    }
    return best_;
  }

 private:
  std::vector<double> raw() const {
    std::vector<double> given;
    for (const TokenScore& score : scores_) {
      given.push_back(score.logprob);
    }
    return given;
  }

  std::vector<double> deltas(const std::vector<double>& given) const {
    std::vector<double> deltas;
    for (std::size_t i = 0; i < said_.size(); ++i) {
      deltas.push_back(std::abs(said_[i] - given[i]));
    }
    return deltas;
  }

  /// Each token's log-probability where its neighbour's stands. An answer's end has none and counts
  /// as fitting.
  std::vector<double> shifted(std::int32_t shift) const {
    std::vector<double> given = said_;
    for (std::size_t r = 0; r < requests_.size(); ++r) {
      const auto count = static_cast<std::ptrdiff_t>(requests_[r].tokens.size());
      for (std::ptrdiff_t i = 0; i < count; ++i) {
        if (i + shift >= 0 && i + shift < count) {
          given[first_[r] + static_cast<std::size_t>(i)] =
              scores_[first_[r] + static_cast<std::size_t>(i + shift)].logprob;
        }
      }
    }
    return given;
  }

  /// Takes a rule that gives what is said, unless another one does as well.
  void consider(const LogprobRule& rule, const std::vector<double>& given, std::size_t fitted) {
    const std::vector<double> left = deltas(given);
    const RescoreNoise noise = measured_noise(requests_, left, scores_, options_);
    const double limit = rescore_limit(noise);
    const double scale = noise_scale(left, raw()).value_or(median(left).value_or(0));
    const double middle = median(left).value_or(0);
    const double largest = *std::max_element(left.begin(), left.end());
    const bool all = std::none_of(left.begin(), left.end(),
                                  [&](double delta) { return is_outlier(delta, limit); });
    if (!all || middle > kMostRemaining * explained_ || scale > noise.step ||
        (best_ && 2 * scale + kLeastRescoreLimit / 100 >= best_scale_)) {
      return;
    }
    best_scale_ = scale;
    best_ = RescoreRule{rule, false, fitted, said_.size(), middle, largest};
  }

  /// Tokens to fit on: not certain ones, from all over the file.
  std::vector<std::size_t> telling_tokens() const {
    std::vector<std::size_t> telling;
    for (std::size_t i = 0; i < said_.size(); ++i) {
      const double logprob = scores_[i].logprob;
      if (std::isfinite(said_[i]) && std::isfinite(logprob) &&
          std::exp(logprob) <= kMostFittedProbability) {
        telling.push_back(i);
      }
    }
    const std::size_t count = std::min({kMostFitted, telling.size(), said_.size() / 2});
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < count; ++i) {
      chosen.push_back(telling[i * telling.size() / count]);
    }
    return chosen;
  }

  void try_fitted() {
    const std::vector<std::size_t> chosen = telling_tokens();
    std::vector<FitToken> tokens;
    logits_(texts_, [&](std::size_t text, std::size_t index, Logits logits) {
      const std::size_t at = first_[text] + index;
      if (std::binary_search(chosen.begin(), chosen.end(), at) && all_finite(logits)) {
        tokens.push_back(fit_token(logits, requests_[text].tokens[index], said_[at]));
      }
    });
    if (tokens.size() < 4) {
      return;
    }
    const double noise = std::max(options_.own.value_or(0), 1e-6);
    std::vector<std::pair<double, LogprobRule>> likely;
    for (const LogprobRule& rule : fitted_rules(tokens, noise)) {
      likely.emplace_back(misfit(rule, tokens), rule);
    }
    std::stable_sort(likely.begin(), likely.end(), [&](const auto& a, const auto& b) {
      return std::max(a.first, 4 * noise) < std::max(b.first, 4 * noise);
    });
    likely.resize(std::min(likely.size(), kMostCandidates));
    std::vector<std::vector<double>> given(likely.size(), std::vector<double>(said_.size()));
    logits_(texts_, [&](std::size_t text, std::size_t index, Logits logits) {
      for (std::size_t c = 0; c < likely.size(); ++c) {
        given[c][first_[text] + index] =
            rule_logprob(likely[c].second, logits, requests_[text].tokens[index]);
      }
    });
    for (std::size_t c = 0; c < likely.size(); ++c) {
      const bool fits_numbers = likely[c].second.base == 0;
      consider(likely[c].second, given[c], fits_numbers ? tokens.size() : 0);
    }
  }

  /// Whether the prompts began with end-of-text, or without their first token.
  void try_before() {
    for (const std::int32_t before : {1, -1}) {
      std::vector<ScoredText> texts = texts_;
      const bool can = std::all_of(texts.begin(), texts.end(), [&](ScoredText& text) {
        if (before > 0) {
          text.ids.insert(text.ids.begin(), options_.end_of_text);
          return options_.end_of_text >= 0 && ++text.first > 0 &&
                 text.ids.size() <= std::size_t{options_.n_positions} + 1;
        }
        text.ids.erase(text.ids.begin());
        return --text.first > 0;
      });
      if (!can) {
        continue;
      }
      std::vector<double> given(said_.size());
      logits_(texts, [&](std::size_t text, std::size_t index, Logits logits) {
        given[first_[text] + index] = rule_logprob({}, logits, requests_[text].tokens[index]);
      });
      consider({.before = before}, given, 0);
    }
  }

  const std::vector<DecodedRequest>& requests_;
  const std::vector<TokenScore>& scores_;
  const LogitsReader& logits_;
  const RescoreOptions& options_;
  std::vector<ScoredText> texts_;
  std::vector<std::size_t> first_;  ///< of each request, its first token
  std::vector<double> said_;
  double explained_ = 0;
  std::optional<RescoreRule> best_;
  double best_scale_ = 0;
};

}  // namespace

double rule_logprob(const LogprobRule& rule, Logits logits, std::int32_t token) {
  if (rule.top_k == 0 && rule.top_p >= 1 && rule.temperature == 1) {
    const double logprob = double{logits[static_cast<std::size_t>(token)]} - log_sum_exp(logits);
    return rule.base == 0 ? logprob : logprob / std::log(rule.base);
  }
  return all_finite(logits) ? fitted_logprob(rule, fit_token(logits, token, 0))
                            : std::numeric_limits<double>::quiet_NaN();
}

std::optional<RescoreRule> find_rule(const std::vector<DecodedRequest>& requests,
                                     const std::vector<TokenScore>& scores,
                                     const LogitsReader& logits, const RescoreOptions& options) {
  return FileRules(requests, scores, logits, options).found();
}

}  // namespace drift
