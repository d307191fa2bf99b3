#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driftaudit/attention.hpp"

namespace drift {

/// The leading numbers of a version: 2, 1, 1 of "2.1.1+cu121", "2.1.1rc2" and "2.1.1.dev0".
std::vector<std::uint64_t> version_numbers(const std::string& version);

/// The version of transformers whose calls a build's runner repeats: of those beside it, else of
/// those that lie beside the others, where these compute alike; else empty.
std::string followed_transformers(const AttentionFacts& own,
                                  const std::vector<AttentionFacts>& builds);

/// Whether generate() asks for the logits of the last position alone, as it does since transformers
/// 4.53, or for all. Where no version is followed, sdpa is taken as the last 4.x computes it, and
/// eager attention as those versions do that have no other.
bool asks_last_position(const SideAttention& attention);

}  // namespace drift
