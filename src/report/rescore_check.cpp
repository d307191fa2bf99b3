#include "report/rescore_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

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

double rescore_limit(double median) {
  constexpr double kTimesMedian = 50;
  return std::max(kLeastRescoreLimit, kTimesMedian * median);
}

bool hidden_by_limit(const RescoreRecord& record) {
  return !record.limit_given && !record.spread.empty() &&
         record.spread.front().median > kLeastRescoreLimit;
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
}

}  // namespace drift
