#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "driftaudit/sum_tree.hpp"

namespace drift {

/// A tree taken apart into groups of terms, each of which is added up before it meets others.
struct TreeSplit {
  std::vector<SumTree> inner;  ///< by group: its terms, numbered within it
  SumTree outer;               ///< over the groups
};

/// Where a term goes.
struct TermPlace {
  std::size_t group = 0;   ///< from 0, none left out
  std::size_t within = 0;  ///< from 0 in each group, none left out
};

/// Null where some group isn't added up by itself.
std::optional<TreeSplit> split_tree(const SumTree& tree, std::size_t groups,
                                    const std::function<TermPlace(std::size_t term)>& place);

/// The order in which the first `terms` terms are added, the others being zero.
SumTree restricted_tree(const SumTree& tree, std::size_t terms);

}  // namespace drift
