#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "driftaudit/sum_tree.hpp"

namespace drift {

/// The family that an order of additions belongs to.
struct OrderShape {
  enum class Kind {
    kSingle,      ///< one term
    kSerial,      ///< from the first term to the last
    kReverse,     ///< from the last to the first
    kApart,       ///< terms `distances` apart, in turn
    kNeighbours,  ///< neighbours, then neighbouring sums
    kHalves,      ///< halves of neighbours
    kWide,        ///< serial, `size` terms at once
    kLanes,       ///< i mod `size`; parts: within a lane, over the lanes
    kBlocks,      ///< i div `size`; parts: within a block, over the blocks
    kTail,        ///< the last `size` terms apart from the others; parts: the others
    kIrregular,
  };
  /// What a tail is added to, and how.
  struct Tail {
    bool to_first_lane = false;  ///< else to the sum of all others
    bool summed_first = false;   ///< else one by one
  };

  Kind kind = Kind::kIrregular;
  std::size_t terms = 1;
  std::size_t size = 0;
  std::vector<std::size_t> distances;
  Tail tail;
  std::vector<OrderShape> parts;

  /// The same family, but for the number of terms.
  bool alike(const OrderShape& other) const;
};

/// `lanes`: as for `order_words`.
OrderShape order_shape(const SumTree& tree, std::size_t lanes);

}  // namespace drift
