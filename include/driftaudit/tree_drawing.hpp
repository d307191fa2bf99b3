#pragma once

#include <string>

#include "driftaudit/sum_tree.hpp"

namespace drift {

/// The tree as a Graphviz graph: terms are boxes with their numbers, fused ones doubled; additions
/// are circles, `+` or a multi-term one's number of terms; edges point from what is added to the
/// sum.
std::string tree_dot(const SumTree& tree, const std::string& title);

/// The tree as an SVG image of its own, terms in a row at the bottom in the order in which they
/// come together, each addition above the middle of what it adds, at the height of the longest way
/// down to a term. Readable up to some hundred terms; term numbers are left out
/// where there are more than 512. The same tree and title give the same bytes.
std::string tree_svg(const SumTree& tree, const std::string& title);

}  // namespace drift
