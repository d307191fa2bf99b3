#include "driftaudit/step.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include <Eigen/Core>
#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/hash.hpp"

#include "diff/exp_sum.hpp"

namespace drift {
namespace {

/// Whether x stands before y: higher logit, then lower id; NaN after everything.
bool ranks_before(const TokenLogit& x, const TokenLogit& y) {
  const bool x_nan = std::isnan(x.logit);
  const bool y_nan = std::isnan(y.logit);
  if (x_nan != y_nan) {
    return y_nan;
  }
  return !x_nan && x.logit != y.logit ? x.logit > y.logit : x.id < y.id;
}

/// The `count` first by ranks_before, in that order: a heap whose root is the last of those kept,
/// so that nearly every logit is turned away by one comparison.
std::vector<TokenLogit> highest(Logits logits, std::size_t count) {
  std::vector<TokenLogit> kept;
  kept.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    kept.push_back({static_cast<std::int32_t>(i), logits[i]});
  }
  std::make_heap(kept.begin(), kept.end(), ranks_before);
  for (std::size_t i = count; i < logits.size(); ++i) {
    // Ids rise, so that an equal logit never displaces. A NaN at the root makes this false.
    if (logits[i] <= kept.front().logit) {
      continue;
    }
    const TokenLogit candidate{static_cast<std::int32_t>(i), logits[i]};
    if (ranks_before(candidate, kept.front())) {
      std::pop_heap(kept.begin(), kept.end(), ranks_before);
      kept.back() = candidate;
      std::push_heap(kept.begin(), kept.end(), ranks_before);
    }
  }
  std::sort_heap(kept.begin(), kept.end(), ranks_before);
  return kept;
}

void check_token(std::int32_t token, Logits logits) {
  if (token < 0 || static_cast<std::size_t>(token) >= logits.size()) {
    throw trouble(
        fmt::format("a step names token {}, outside its {} logits", token, logits.size()));
  }
}

}  // namespace

std::uint64_t count_non_finite(Logits logits) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t count = 0;
  for (const float logit : logits) {
    count += (std::bit_cast<std::uint32_t>(logit) & kExponent) == kExponent ? 1U : 0U;
  }
  return count;
}

TopTwo top_two(Logits logits) {
  TopTwo top{{0, logits[0]}, {1, logits[1]}};
  if (ranks_before(top.second, top.first)) {
    std::swap(top.first, top.second);
  }
  for (std::size_t i = 2; i < logits.size(); ++i) {
    if (logits[i] <= top.second.logit) {
      continue;
    }
    const TokenLogit candidate{static_cast<std::int32_t>(i), logits[i]};
    if (ranks_before(candidate, top.first)) {
      top.second = top.first;
      top.first = candidate;
    } else if (ranks_before(candidate, top.second)) {
      top.second = candidate;
    }
  }
  return top;
}

double log_sum_exp(Logits logits) {
  double max = -std::numeric_limits<double>::infinity();
  for (const float logit : logits) {
    if (std::isnan(logit)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    max = std::max(max, double{logit});
  }
  if (std::isinf(max)) {
    return max;
  }
  return max + std::log(exp_sum(logits, max));
}

Step reduce_step(std::int32_t token, Logits logits, std::size_t keep_top,
                 std::optional<std::int32_t> given) {
  if (logits.size() < 2) {
    throw trouble(fmt::format("a step has {} logits, too few to compare", logits.size()));
  }
  check_token(token, logits);
  Step step;
  step.token = token;
  step.logit = logits[static_cast<std::size_t>(token)];
  step.top = highest(logits, std::min(std::max<std::size_t>(keep_top, 2), logits.size()));
  step.gap = double{step.top[0].logit} - double{step.top[1].logit};
  step.top.resize(std::min(keep_top, step.top.size()));
  step.logsumexp = log_sum_exp(logits);
  step.digest = xxh3_128_hex(std::as_bytes(logits));
  step.non_finite = count_non_finite(logits);
  if (given) {
    check_token(*given, logits);
    step.given = given;
    step.given_logprob = double{logits[static_cast<std::size_t>(*given)]} - step.logsumexp;
  }
  return step;
}

std::uint64_t step_checksum(const Step& step) {
  std::vector<std::byte> bytes;
  bytes.reserve(step.digest.size() + 8 * step.top.size() + 16);
  const auto append = [&](const auto& value) {
    const auto added = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), added.begin(), added.end());
  };
  const auto append_float = [&](float value) {
    append(std::isnan(value) ? std::uint32_t{0x7fc00000} : std::bit_cast<std::uint32_t>(value));
  };
  const auto digest = std::as_bytes(std::span(step.digest));
  bytes.insert(bytes.end(), digest.begin(), digest.end());
  append(step.token);
  for (const TokenLogit& entry : step.top) {
    append(entry.id);
    append_float(entry.logit);
  }
  append_float(step.logit);
  append(std::isnan(step.logsumexp) ? std::uint64_t{0x7ff8000000000000}
                                    : std::bit_cast<std::uint64_t>(step.logsumexp));
  return xxh3_64(bytes);
}

}  // namespace drift
