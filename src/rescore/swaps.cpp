#include "rescore/swaps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "rescore/spread.hpp"

namespace drift {
namespace {

/// A request whose tokens are tried in another one's place.
struct Candidate {
  std::size_t request = 0;
  std::size_t other = 0;
  std::size_t start = 0;  ///< index of the first token that is tried
  ScoredText text;
};

/// At least half of what follows the first outlier must be outliers too: tokens that are likely in
/// any text aren't, where the noise is large.
bool fails_to_the_end(const RescoredRequest& request) {
  return request.first_outlier &&
         2 * request.outliers >= (request.tokens - *request.first_outlier + 1);
}

/// The tokens of `request` from its first outlier on, the one at index `before`, after the first
/// `taken` ones of `other` and its own between: a batch that mixes up its caches goes on from a
/// request's own last token. No ids where that can't be, or is what `request` had itself.
ScoredText in_place_of(const DecodedRequest& request, std::size_t before, std::size_t taken,
                       const DecodedRequest& other, std::uint32_t n_positions) {
  const auto shared = static_cast<std::ptrdiff_t>(taken);
  const auto same_start = [&] {
    return std::equal(request.tokens.begin(), request.tokens.begin() + shared,
                      other.tokens.begin());
  };
  if (other.tokens.size() < taken || (request.prompt_ids == other.prompt_ids && same_start())) {
    return {};
  }
  ScoredText text{other.prompt_ids, other.prompt_ids.size() + before};
  text.ids.insert(text.ids.end(), other.tokens.begin(), other.tokens.begin() + shared);
  text.ids.insert(text.ids.end(), request.tokens.begin() + shared, request.tokens.end());
  text.ids.resize(std::min(text.ids.size(), std::size_t{n_positions} + 1));
  return text.ids.size() < text.first + kLeastSwapped ? ScoredText{} : text;
}

/// Whether decoding said of these tokens, from index `before` on, what the scores say.
bool fits(const DecodedRequest& request, std::size_t before, const std::vector<TokenScore>& scores,
          double limit) {
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (is_outlier(std::abs(request.logprobs[before + i] - scores[i].logprob), limit)) {
      return false;
    }
  }
  return true;
}

std::vector<std::size_t> failing_to_the_end(const RescoreRecord& record) {
  std::vector<std::size_t> failing;
  for (std::size_t i = 0; i < record.requests.size() && failing.size() < kMostSwapped; ++i) {
    if (fails_to_the_end(record.requests[i])) {
      failing.push_back(i);
    }
  }
  return failing;
}

std::size_t tokens_before_outlier(const RescoredRequest& request) {
  return std::size_t{*request.first_outlier} - 1;
}

std::vector<Candidate> all_candidates(const std::vector<DecodedRequest>& requests,
                                      const RescoreRecord& record, std::uint32_t n_positions) {
  const std::vector<std::size_t> failing = failing_to_the_end(record);
  std::vector<Candidate> candidates;
  for (const std::size_t i : failing) {
    const std::size_t before = tokens_before_outlier(record.requests[i]);
    for (const std::size_t j : failing) {
      if (i == j || requests[i].mode != requests[j].mode) {
        continue;
      }
      const auto add = [&](std::size_t start, std::size_t taken) {
        ScoredText text = in_place_of(requests[i], start, taken, requests[j], n_positions);
        if (!text.ids.empty()) {
          candidates.push_back({i, j, start, std::move(text)});
        }
      };
      add(before, before);
      if (before > 0) {
        add(before, before - 1);
        add(0, 0);  // a whole answer whose first tokens are within the noise
      }
    }
  }
  return candidates;
}

/// Those whose next `most` tokens fit.
std::vector<Candidate> fitting(std::vector<Candidate> candidates, std::size_t most,
                               const std::vector<DecodedRequest>& requests,
                               const TextScorer& scorer, const RescoreRecord& record) {
  if (candidates.empty()) {
    return {};
  }
  std::vector<ScoredText> texts;
  for (const Candidate& candidate : candidates) {
    texts.push_back(candidate.text);
    texts.back().ids.resize(std::min(texts.back().ids.size(), texts.back().first + most));
  }
  const std::vector<std::vector<TokenScore>> scores = scorer(texts);
  std::vector<Candidate> fitting;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const std::size_t i = candidates[c].request;
    if (fits(requests[i], candidates[c].start, scores[c], record.limit)) {
      fitting.push_back(std::move(candidates[c]));
    }
  }
  return fitting;
}

}  // namespace

void find_swaps(const std::vector<DecodedRequest>& requests, const TextScorer& scorer,
                const RescoreOptions& options, RescoreRecord& record) {
  // Nearly all are told apart by their next tokens.
  std::vector<Candidate> likely = fitting(all_candidates(requests, record, options.n_positions),
                                          kLeastSwapped, requests, scorer, record);
  likely = fitting(std::move(likely), options.n_positions, requests, scorer, record);
  for (const Candidate& found : likely) {
    RescoredRequest& request = record.requests[found.request];
    if (!request.answers) {
      request.answers =
          RescoreSwap{requests[found.other].prompt, static_cast<std::uint32_t>(found.start + 1)};
    }
  }
}

}  // namespace drift
