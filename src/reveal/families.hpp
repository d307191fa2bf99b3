#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "driftaudit/sum_tree.hpp"

namespace drift {

/// Puts a tree together from smaller ones.
class TreeBuilder {
 public:
  explicit TreeBuilder(std::size_t terms) : terms_(terms) {}

  SumTree::Node add(std::vector<SumTree::Node> children);
  /// Adds in the order of `tree`, whose term i is the node `nodes[i]`; gives the sum's node.
  SumTree::Node graft(const SumTree& tree, std::span<const SumTree::Node> nodes);
  SumTree finish() const { return {terms_, additions_}; }

 private:
  std::size_t terms_;
  std::vector<SumTree::Addition> additions_;
};

/// ((0+1)+2)+ …
SumTree serial_tree(std::size_t terms);

/// (… (n−1 + n−2)+ …)+0
SumTree reverse_serial_tree(std::size_t terms);

/// Halves of neighbours, each added the same way; the first half has terms / 2.
SumTree halving_tree(std::size_t terms);

/// Neighbours, then neighbouring sums, and so on; an odd one waits.
SumTree neighbours_tree(std::size_t terms);

/// A vector of lanes added to itself moved by each of `distances` in turn: powers of two, each
/// once, up to half the lanes. Lanes from `terms` on are zero. Errors (usage): too few distances.
SumTree fold_tree(std::size_t terms, const std::vector<std::size_t>& distances);

/// Accumulator and the next `width` terms at once, from zero on.
SumTree wide_serial_tree(std::size_t terms, std::size_t width);

/// Term i is in lane i mod `lanes`; each lane is added serially, the lanes in the order of `fold`
/// (a tree over min(lanes, terms)).
SumTree lanes_tree(std::size_t terms, std::size_t lanes, const SumTree& fold);

/// Terms in blocks of `size` neighbours, the last one perhaps shorter, each added serially; the
/// blocks in the order of `order`.
SumTree blocks_tree(std::size_t terms, std::size_t size, const SumTree& order);

/// `head`'s sum, then the terms after it one by one.
SumTree with_serial_tail(const SumTree& head, std::size_t terms);

}  // namespace drift
