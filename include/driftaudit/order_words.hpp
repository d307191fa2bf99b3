#pragma once

#include <cstddef>
#include <string>

#include "driftaudit/sum_tree.hpp"

namespace drift {

/// An order of additions in words:
///
///     serial
///     pairwise
///     8 lanes, vertical; then fold 0+1, +2 … (one after the other)
///     8 lanes, vertical, the last 5 masked; then fold 4 apart, 2 apart, neighbours
///     4 accumulators of 8 lanes, vertical; accumulators serial; then fold …
///     blocks of 128, each serial; blocks pairwise
///     8 lanes, vertical; then fold …; then the last 3 one after the other
///     the last 2 onto the first term one after the other; then serial
///     irregular: ((0+3)+1)+2
///
/// A term is in lane i mod k (vertical: each lane serial), in block i div n. `lanes`: the lanes of
/// the kernel's vectors, where known: one tree can be told in several ways (16 terms added 8, 4, 2
/// and 1 apart: 8 lanes, vertical, then folded; or 16 lanes, folded). Without it the fewest lanes
/// from 8 on are taken.
std::string order_words(const SumTree& tree, std::size_t lanes = 0);

/// What tells the order `a` from `b`, under the names of their sides:
///
///     1.10.1 folds its 8 lanes one after the other; 1.13.1 4 apart, 2 apart, then neighbours
///
/// or both orders' words where they differ in more than the fold; or that they are the same.
std::string order_difference(const std::string& name_a, const SumTree& a, const std::string& name_b,
                             const SumTree& b, std::size_t lanes = 0);

}  // namespace drift
