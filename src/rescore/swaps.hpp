#pragma once

#include <vector>

#include "driftaudit/rescore.hpp"

namespace drift {

/// Names in `record.requests` whose answer a request got, where its tokens, from its first outlier
/// on, score as decoding said in another failing request's context of the same mode (with or
/// without its own last token in it), each of at least kLeastSwapped. `requests` are those of the
/// record, in its order. Only requests of which three tokens fail, or half of those from the first
/// outlier on, are asked about, and of many the first kMostSwapped.
void find_swaps(const std::vector<DecodedRequest>& requests, const TextScorer& scorer,
                const RescoreOptions& options, RescoreRecord& record);

inline constexpr std::size_t kLeastSwapped = 2;
inline constexpr std::size_t kMostSwapped = 16;

}  // namespace drift
