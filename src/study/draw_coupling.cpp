#include "driftaudit/draw_coupling.hpp"

#include <algorithm>
#include <cmath>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

/// A token's chances in both.
struct Both {
  double p = 0;
  double q = 0;
};

/// All tokens of either, rising by id.
std::vector<Both> merged(const Chances& p, const Chances& q) {
  std::vector<Both> both;
  both.reserve(p.size() + q.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < p.size() || j < q.size()) {
    const bool from_p = j == q.size() || (i < p.size() && p[i].id <= q[j].id);
    const bool from_q = i == p.size() || (j < q.size() && q[j].id <= p[i].id);
    both.push_back({from_p ? p[i].chance : 0, from_q ? q[j].chance : 0});
    i += from_p ? 1 : 0;
    j += from_q ? 1 : 0;
  }
  return both;
}

}  // namespace

Chances chances_of(const Step& step, std::uint32_t top_k, double temperature) {
  if (step.top.size() < top_k || top_k == 0) {
    throw trouble("a sampled step kept fewer logits than it was drawn from");
  }
  Chances chances;
  double sum = 0;
  for (std::size_t i = 0; i < step.top.size(); ++i) {
    const float logit = step.top[i].logit;
    if (i >= top_k && !(logit >= step.top[top_k - 1].logit)) {
      break;
    }
    if (!std::isfinite(logit)) {
      throw trouble("a sampled step was drawn from logits that aren't finite");
    }
    const double weight = std::exp((double{logit} - double{step.top[0].logit}) / temperature);
    chances.push_back({step.top[i].id, weight});
    sum += weight;
  }
  for (TokenChance& each : chances) {
    each.chance /= sum;
  }
  std::sort(chances.begin(), chances.end(),
            [](const TokenChance& a, const TokenChance& b) { return a.id < b.id; });
  return chances;
}

double total_variation(const Chances& p, const Chances& q) {
  double sum = 0;
  for (const Both& token : merged(p, q)) {
    sum += std::abs(token.p - token.q);
  }
  return sum / 2;
}

double other_token_by_race(const Chances& p, const Chances& q) {
  const std::vector<Both> both = merged(p, q);
  double same = 0;
  for (const Both& i : both) {
    if (i.p <= 0 || i.q <= 0) {
      continue;
    }
    double rates = 0;
    for (const Both& j : both) {
      rates += std::max(j.p / i.p, j.q / i.q);
    }
    same += 1 / rates;
  }
  return std::max(0.0, 1 - same);
}

double other_token_by_inverse(const Chances& p, const Chances& q) {
  double same = 0;
  double below_p = 0;
  double below_q = 0;
  for (const Both& token : merged(p, q)) {
    const double begin = std::max(below_p, below_q);
    below_p += token.p;
    below_q += token.q;
    same += std::max(0.0, std::min(below_p, below_q) - begin);
  }
  return std::max(0.0, 1 - same);
}

}  // namespace drift
