#include "report/rescore_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

namespace drift {
namespace {

bool same_place(const RescoredToken& a, const RescoredToken& b) {
  return a.mode == b.mode && a.prompt == b.prompt && a.step == b.step && a.token == b.token;
}

void check_builds(const Place& place, const Report& report) {
  const RescoreRecord& record = *report.rescore;
  if (record.scored_by >= report.builds.size()) {
    throw Place(place, "scored_by").error("no such build");
  }
  if (record.decoded_by.value_or(0) >= report.builds.size()) {
    throw Place(place, "decoded_by").error("no such build");
  }
}

void check_scored(const Place& place, const RescoreRecord& record) {
  const Place scored(place, "scored");
  std::size_t at = 0;
  for (const RescoredRequest& request : record.requests) {
    for (std::uint64_t i = 0; i < request.tokens; ++i, ++at) {
      if (at >= record.scored.size()) {
        throw scored.error("fewer tokens than the requests have");
      }
      const RescoredToken& token = record.scored[at];
      if (token.mode != request.mode || token.prompt != request.prompt || token.step != i + 1) {
        throw Place(scored, at).error("not the next token of the requests");
      }
    }
  }
  if (at < record.scored.size()) {
    throw scored.error("more tokens than the requests have");
  }
}

/// What each request says of its outliers is what its tokens show.
void check_requests(const Place& place, const RescoreRecord& record) {
  const Place requests(place, "requests");
  std::size_t at = 0;
  for (std::size_t i = 0; i < record.requests.size(); ++i) {
    const RescoredRequest& request = record.requests[i];
    std::uint64_t outliers = 0;
    std::optional<std::uint32_t> first;
    for (std::uint64_t step = 1; step <= request.tokens; ++step, ++at) {
      if (is_outlier(delta_of(record.scored[at]), record.limit)) {
        ++outliers;
        first = first.value_or(static_cast<std::uint32_t>(step));
      }
    }
    const Place own(requests, i);
    if (request.outliers != outliers) {
      throw Place(own, "outliers").error("not as many as its scored tokens above the limit");
    }
    if (request.first_outlier != first) {
      throw Place(own, "first_outlier").error("not the first of its scored tokens above the limit");
    }
    if (request.alone && request.alone->first_difference == 0U) {
      const Place alone(own, "alone");
      throw Place(alone, "first_difference").error("0 where counting begins at 1");
    }
  }
}

void check_outliers(const Place& place, const RescoreRecord& record) {
  const Place outliers(place, "outliers");
  std::size_t at = 0;
  for (const RescoredToken& token : record.scored) {
    if (!is_outlier(delta_of(token), record.limit)) {
      continue;
    }
    if (at >= record.outliers.size() || !same_place(token, record.outliers[at])) {
      throw outliers.error("not the scored tokens above the limit");
    }
    ++at;
  }
  if (at < record.outliers.size()) {
    throw outliers.error("not the scored tokens above the limit");
  }
}

}  // namespace

double delta_of(const RescoredToken& token) {
  return std::abs(token.logprob_decode - token.logprob_prefill);
}

bool is_outlier(double delta, double limit) { return !std::isfinite(delta) || delta > limit; }

bool hidden_by_limit(const RescoreRecord& record) {
  return !record.limit_given && !record.noise && !record.spread.empty() &&
         record.spread.front().median > kLeastRescoreLimit;
}

bool coarse_throughout(const RescoreRecord& record) {
  return !record.decoded_by && !record.limit_given && record.noise && !record.spread.empty() &&
         record.spread.front().median > kLeastRescoreLimit;
}

bool one_sided(const RescoreRecord& record) {
  constexpr std::size_t kLeastTokens = 64;
  constexpr double kTimesOwn = 32;
  const double own = record.noise ? record.noise->own.value_or(0) : 0;
  if (record.decoded_by || record.limit_given || !record.noise || record.spread.empty() ||
      record.spread.front().median <= std::max(kLeastRescoreLimit, kTimesOwn * own)) {
    return false;
  }
  std::size_t above = 0;
  std::size_t below = 0;
  for (const RescoredToken& token : record.scored) {
    above += token.logprob_decode > token.logprob_prefill ? 1 : 0;
    below += token.logprob_decode < token.logprob_prefill ? 1 : 0;
  }
  return above + below >= kLeastTokens && 20 * std::min(above, below) < above + below;
}

void check_rescore(const Place& root, const Report& report) {
  const Place place(root, "rescore");
  const RescoreRecord& record = *report.rescore;
  check_builds(place, report);
  if (record.spread.empty() || record.spread.front().part != "all") {
    throw Place(place, "spread").error("its first part isn't \"all\"");
  }
  check_scored(place, record);
  check_outliers(place, record);
  check_requests(place, record);
}

}  // namespace drift
