#include "rescore/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <utility>

#include "driftaudit/order_statistics.hpp"

namespace drift {
namespace {

constexpr std::array<std::uint32_t, 18> kUsualTopK = {1,  5,  8,  10,  16,  20,  25,  30,  32,
                                                      40, 50, 64, 100, 128, 200, 256, 500, 1000};
constexpr std::array<double, 8> kUsualTopP = {0.5, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95, 0.99};
constexpr double kLowest = 0.05;
constexpr double kHighest = 20;
constexpr int kGrid = 64;

double at_temperature(LogprobRule rule, double log_temperature,
                      const std::vector<FitToken>& tokens) {
  rule.temperature = std::exp(log_temperature);
  return misfit(rule, tokens);
}

/// The lowest value between two, by golden section.
double lowest_between(const LogprobRule& rule, double low, double high,
                      const std::vector<FitToken>& tokens) {
  constexpr double kShare = 1 / std::numbers::phi;
  double a = high - kShare * (high - low);
  double b = low + kShare * (high - low);
  double of_a = at_temperature(rule, a, tokens);
  double of_b = at_temperature(rule, b, tokens);
  for (int i = 0; i < 48; ++i) {
    if (of_a < of_b) {
      high = b;
      b = a;
      of_b = of_a;
      a = high - kShare * (high - low);
      of_a = at_temperature(rule, a, tokens);
    } else {
      low = a;
      a = b;
      of_a = of_b;
      b = low + kShare * (high - low);
      of_b = at_temperature(rule, b, tokens);
    }
  }
  return (low + high) / 2;
}

/// The rule with the temperature under which it fits best.
LogprobRule with_temperature(LogprobRule rule, const std::vector<FitToken>& tokens) {
  const double low = std::log(kLowest);
  const double width = (std::log(kHighest) - low) / kGrid;
  std::vector<std::pair<double, double>> grid;  // misfit, place
  for (int i = 0; i <= kGrid; ++i) {
    const double at = low + i * width;
    grid.emplace_back(at_temperature(rule, at, tokens), at);
  }
  std::sort(grid.begin(), grid.end());
  double best = std::numeric_limits<double>::infinity();
  double found = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const double at = lowest_between(rule, grid[i].second - width, grid[i].second + width, tokens);
    if (const double misses = at_temperature(rule, at, tokens); misses < best) {
      best = misses;
      found = at;
    }
  }
  rule.temperature = std::exp(found);
  return rule;
}

double rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

/// With as few decimals as what is said allows.
LogprobRule plainly(LogprobRule rule, const std::vector<FitToken>& tokens, double noise) {
  const double most = std::max(1.5 * misfit(rule, tokens), noise);
  for (int decimals = 1; decimals <= 4; ++decimals) {
    LogprobRule plain = rule;
    plain.temperature = rounded(rule.temperature, decimals);
    if (plain.temperature > 0 && misfit(plain, tokens) <= most) {
      return plain;
    }
  }
  return rule;
}

/// The probability of the highest logits, 1, 2, … of them, at temperature 1.
std::vector<double> cumulative(const FitToken& token) {
  std::vector<double> sums;
  double sum = 0;
  for (const double logit : token.logits) {
    sums.push_back(sum += std::exp(logit - token.logits.front()));
  }
  for (double& each : sums) {
    each /= sum;
  }
  return sums;
}

/// The probability that was renormalised over, if nothing else was done.
double renormalised_over(const FitToken& token) {
  return std::exp(fitted_logprob({}, token) - token.said);
}

/// The top-k that most tokens name.
std::optional<std::uint32_t> named_top_k(const std::vector<FitToken>& tokens) {
  std::map<std::size_t, std::size_t> votes;
  for (const FitToken& token : tokens) {
    const std::vector<double> sums = cumulative(token);
    const double over = renormalised_over(token);
    const auto at = std::lower_bound(sums.begin(), sums.end(), over);
    auto count = static_cast<std::size_t>(at - sums.begin());
    if (count > 0 && (count == sums.size() || over - sums[count - 1] < sums[count] - over)) {
      --count;
    }
    if (over < 1 - 1e-6) {
      ++votes[count + 1];
    }
  }
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == votes.end() ? std::nullopt
                             : std::optional(static_cast<std::uint32_t>(most->first));
}

/// The top-p of fewest decimals that every token allows: its set has at least that probability, and
/// without its last one less.
std::optional<double> named_top_p(const std::vector<FitToken>& tokens, double noise) {
  double low = 0;
  double high = 1;
  for (const FitToken& token : tokens) {
    const std::vector<double> sums = cumulative(token);
    const double over = renormalised_over(token);
    const double slack = std::max(1e-6, 2 * noise);
    const auto at = std::lower_bound(sums.begin(), sums.end(), over * (1 - slack));
    if (at == sums.end() || *at > over * (1 + slack)) {
      return std::nullopt;
    }
    high = std::min(high, *at);
    low = at == sums.begin() ? low : std::max(low, *(at - 1));
  }
  for (int decimals = 1; low < high && decimals <= 4; ++decimals) {
    const double scale = std::pow(10.0, decimals);
    const double next = (std::floor(low * scale) + 1) / scale;
    if (next > low && next <= high && next < 1) {
      return next;
    }
  }
  return std::nullopt;
}

}  // namespace

double fitted_logprob(const LogprobRule& rule, const FitToken& token) {
  const auto scaled = [&](std::size_t i) {
    return (token.logits[i] - token.logits.front()) / rule.temperature;
  };
  std::size_t kept = token.logits.size();
  if (rule.top_k > 0) {
    // Logits that equal the last of the top-k stay too.
    kept = std::min<std::size_t>(kept, rule.top_k);
    while (kept < token.logits.size() && token.logits[kept] == token.logits[kept - 1]) {
      ++kept;
    }
  }
  double sum = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    sum += std::exp(scaled(i));
  }
  if (rule.top_p < 1) {
    double of_set = 0;
    std::size_t i = 0;
    while (i < kept && of_set < rule.top_p * sum) {
      of_set += std::exp(scaled(i++));
    }
    kept = i;
    sum = of_set;
  }
  if (token.place >= kept) {
    return -std::numeric_limits<double>::infinity();
  }
  const double logprob = scaled(token.place) - std::log(sum);
  return rule.base == 0 ? logprob : logprob / std::log(rule.base);
}

double misfit(const LogprobRule& rule, const std::vector<FitToken>& tokens) {
  std::vector<double> misses;
  for (const FitToken& token : tokens) {
    const double miss = std::abs(fitted_logprob(rule, token) - token.said);
    misses.push_back(std::isfinite(miss) ? miss : 1e9);
  }
  return median(misses).value_or(1e9);
}

std::vector<LogprobRule> fitted_rules(const std::vector<FitToken>& tokens, double noise) {
  std::vector<LogprobRule> rules;
  rules.push_back({.base = 2});
  rules.push_back({.base = 10});
  if (const auto top_k = named_top_k(tokens)) {
    rules.push_back({.top_k = *top_k});
  }
  if (const auto top_p = named_top_p(tokens, noise)) {
    rules.push_back({.top_p = *top_p});
  }
  rules.push_back(plainly(with_temperature({}, tokens), tokens, noise));
  for (const std::uint32_t top_k : kUsualTopK) {
    rules.push_back(plainly(with_temperature({.top_k = top_k}, tokens), tokens, noise));
  }
  for (const double top_p : kUsualTopP) {
    rules.push_back(plainly(with_temperature({.top_p = top_p}, tokens), tokens, noise));
  }
  return rules;
}

}  // namespace drift
