#include "reveal/shape.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "reveal/families.hpp"
#include "reveal/split.hpp"

namespace drift {
namespace {

using Kind = OrderShape::Kind;
using Node = SumTree::Node;
using Found = std::optional<OrderShape>;

constexpr std::size_t kLongestTail = 63;  // a vector register of bytes holds 64

OrderShape plain(Kind kind, const SumTree& tree, std::size_t size = 0) {
  OrderShape shape;
  shape.kind = kind;
  shape.terms = tree.terms();
  shape.size = size;
  return shape;
}

bool regular(const OrderShape& shape) {
  return shape.kind != Kind::kIrregular &&
         std::all_of(shape.parts.begin(), shape.parts.end(), regular);
}

bool lane_serial(const OrderShape& lane) {
  return lane.kind == Kind::kSerial || lane.kind == Kind::kSingle;
}

Found serial_shape(const SumTree& tree) {
  if (tree.terms() == 1) {
    return plain(Kind::kSingle, tree);
  }
  const SumTree order(tree.terms(), tree.additions());  // without what is fused
  if (order == serial_tree(tree.terms())) {
    return plain(Kind::kSerial, tree);
  }
  if (order == reverse_serial_tree(tree.terms())) {
    return plain(Kind::kReverse, tree);
  }
  if (tree.widest() > 2 && order == wide_serial_tree(tree.terms(), tree.widest() - 1)) {
    return plain(Kind::kWide, tree, tree.widest() - 1);
  }
  return std::nullopt;
}

/// What term 0 is added to, from its first addition to the root: the least term of each.
std::vector<std::size_t> met_by_first_term(const SumTree& tree) {
  const std::vector<Node> least = least_terms(tree);
  std::vector<std::size_t> met;
  for (const SumTree::Addition& addition : tree.additions()) {
    if (least[addition.children[0]] == 0) {
      met.push_back(least[addition.children[1]]);
    }
  }
  return met;
}

Found pairwise_shape(const SumTree& tree) {
  const SumTree order(tree.terms(), tree.additions());
  if (order == neighbours_tree(tree.terms())) {
    return plain(Kind::kNeighbours, tree);
  }
  if (order == halving_tree(tree.terms())) {
    return plain(Kind::kHalves, tree);
  }
  return std::nullopt;
}

Found apart_shape(const SumTree& tree) {
  const std::vector<std::size_t> met = met_by_first_term(tree);
  const std::size_t width = std::bit_ceil(tree.terms());
  std::size_t bits = 0;
  for (const std::size_t distance : met) {
    if (!std::has_single_bit(distance)) {
      return std::nullopt;
    }
    bits |= distance;
  }
  // Each power of two below the width once. Where lanes are missing, only a fold that halves is
  // one: others are rather some lanes with something else added after them.
  if (bits != width - 1 || (std::size_t{1} << met.size()) != width ||
      (tree.terms() != width && !std::is_sorted(met.rbegin(), met.rend()))) {
    return std::nullopt;
  }
  if (SumTree(tree.terms(), tree.additions()) != fold_tree(tree.terms(), met)) {
    return std::nullopt;
  }
  OrderShape shape = plain(Kind::kApart, tree);
  shape.distances = met;
  return shape;
}

Found fold_shape(const SumTree& tree) {
  const Found shape = pairwise_shape(tree);
  return shape ? shape : apart_shape(tree);
}

Found tail_shape(const SumTree& tree, std::size_t lanes);

/// Of an order over blocks: one that starts with the last of them rather than a fold.
OrderShape blocks_shape(const SumTree& tree, std::size_t lanes) {
  Found shape = serial_shape(tree);
  if (!shape) {
    shape = pairwise_shape(tree);
  }
  if (!shape && tree.terms() > 2) {
    shape = tail_shape(tree, lanes);
  }
  return shape ? *shape : order_shape(tree, lanes);
}

/// Of an order over lanes: a plain fold rather than accumulators of narrower lanes,
/// unless the lanes are known to be narrower.
OrderShape folded_shape(const SumTree& tree, std::size_t lanes) {
  if (lanes == 0 || lanes >= tree.terms()) {
    Found shape = serial_shape(tree);
    if (!shape) {
      shape = fold_shape(tree);
    }
    if (shape) {
      return *shape;
    }
  }
  return order_shape(tree, lanes);
}

/// Takes the tree apart; null where the groups aren't added alike or either part is irregular.
Found grouped_shape(Kind kind, const SumTree& tree, std::size_t size, std::size_t lanes) {
  const std::size_t n = tree.terms();
  const bool by_lane = kind == Kind::kLanes;
  const std::size_t groups = by_lane ? std::min(size, n) : (n + size - 1) / size;
  const auto place = [&](std::size_t i) {
    return by_lane ? TermPlace{i % size, i / size} : TermPlace{i / size, i % size};
  };
  const std::optional<TreeSplit> split = split_tree(tree, groups, place);
  if (!split) {
    return std::nullopt;
  }
  const SumTree& first = split->inner.front();
  const SumTree& last = split->inner.back();
  for (const SumTree& inner : split->inner) {
    if (!(inner == first) && !(inner == last)) {
      return std::nullopt;
    }
  }
  OrderShape shape = plain(kind, tree, size);
  shape.parts.push_back(order_shape(first, 0));
  if (!(last == first) && !shape.parts[0].alike(order_shape(last, 0))) {
    return std::nullopt;
  }
  shape.parts.push_back(by_lane ? folded_shape(split->outer, lanes)
                                : blocks_shape(split->outer, lanes));
  return regular(shape) ? Found(shape) : std::nullopt;
}

/// The sizes that groups can have, from the sums that term 0 goes through, least first.
std::vector<std::size_t> group_sizes(Kind kind, const SumTree& tree) {
  const std::size_t n = tree.terms();
  std::vector<std::size_t> divisor(n);  // of all term numbers below
  std::iota(divisor.begin(), divisor.end(), std::size_t{0});
  std::vector<std::size_t> greatest = divisor;
  const std::vector<std::size_t> counts = term_counts(tree);
  const std::vector<Node> least = least_terms(tree);
  std::vector<std::size_t> sizes;
  for (const SumTree::Addition& addition : tree.additions()) {
    std::size_t common = 0;
    std::size_t most = 0;
    for (const Node child : addition.children) {
      common = std::gcd(common, divisor[child]);
      most = std::max(most, greatest[child]);
    }
    const std::size_t node = divisor.size();
    divisor.push_back(common);
    greatest.push_back(most);
    if (least[node] != 0 || counts[node] == n) {
      continue;
    }
    if (kind == Kind::kLanes && common > 1 && counts[node] == (n + common - 1) / common) {
      sizes.push_back(common);
    }
    if (kind == Kind::kBlocks && counts[node] == most + 1) {
      sizes.push_back(counts[node]);
    }
  }
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// The lanes that tell most: `lanes` if they fit, else the fewest that are serial in themselves and
/// at least 8, or of 3 terms and more.
Found vertical_shape(const SumTree& tree, std::size_t lanes) {
  Found best;
  for (const std::size_t size : group_sizes(Kind::kLanes, tree)) {
    const bool wanted = size == lanes;
    if (!wanted && (best || (size < 8 && tree.terms() <= 2 * size))) {
      continue;
    }
    const Found shape = grouped_shape(Kind::kLanes, tree, size, lanes);
    if (shape && lane_serial(shape->parts[0])) {
      best = shape;
    }
  }
  return best;
}

/// `whole`: how many whole groups there must be at least.
Found any_groups(Kind kind, const SumTree& tree, std::size_t lanes, std::size_t whole) {
  for (const std::size_t size : group_sizes(kind, tree)) {
    if (tree.terms() < whole * size) {
      continue;
    }
    if (Found shape = grouped_shape(kind, tree, size, lanes)) {
      return shape;
    }
  }
  return std::nullopt;
}

/// Without a tail.
Found body_shape(const SumTree& tree, std::size_t lanes) {
  Found shape = serial_shape(tree);
  if (!shape && lanes == tree.terms()) {
    shape = fold_shape(tree);
  }
  if (!shape) {
    shape = vertical_shape(tree, lanes);
  }
  if (!shape) {
    shape = fold_shape(tree);
  }
  if (!shape) {
    shape = any_groups(Kind::kBlocks, tree, lanes, 2);
  }
  if (!shape) {
    shape = any_groups(Kind::kLanes, tree, lanes, 2);
  }
  return shape;
}

/// Where the last `size` terms join the others; kZero where they don't do so at one place.
Node joined_by_tail(const SumTree& tree, const std::vector<Node>& above, std::size_t size,
                    bool summed_first) {
  const auto last = static_cast<Node>(tree.terms() - 1);
  const auto first = static_cast<Node>(tree.terms() - size);
  const auto other = [&](Node addition, Node child) {
    const std::vector<Node>& c = tree.children(addition);
    return c.size() != 2 ? SumTree::kZero : (c[0] == child ? c[1] : c[0]);
  };
  if (summed_first) {
    Node sum = first;
    for (Node term = first + 1; term <= last; ++term) {
      if (above[sum] != above[term] || other(above[sum], sum) != term) {
        return SumTree::kZero;
      }
      sum = above[sum];
    }
    return above[sum] == SumTree::kZero ? SumTree::kZero : other(above[sum], sum);
  }
  Node joined = other(above[last], last);
  for (Node term = last; term > first; --term) {
    if (joined == SumTree::kZero || joined != above[term - 1]) {
      return SumTree::kZero;
    }
    joined = other(joined, term - 1);
  }
  return joined;
}

/// Whether a sum of `terms` terms from term 0 on is the first that the head folds.
bool is_first_lane(const OrderShape& head, std::size_t terms) {
  if (head.kind == Kind::kLanes) {
    const OrderShape& over_lanes = head.parts[1];
    const std::size_t folded = over_lanes.kind == Kind::kLanes ? over_lanes.size : head.size;
    return terms == (head.terms + folded - 1) / folded;
  }
  const bool fold = head.kind == Kind::kSerial || head.kind == Kind::kApart;
  return fold && terms == 1;
}

/// The last `size` terms apart from the others, which must be of some family themselves.
Found tail_of(const SumTree& tree, const std::vector<Node>& above, std::size_t size,
              bool summed_first, std::size_t lanes) {
  const Node joined = joined_by_tail(tree, above, size, summed_first);
  if (joined == SumTree::kZero || least_terms(tree)[joined] != 0) {
    return std::nullopt;
  }
  const std::size_t others = tree.terms() - size;
  const std::size_t joined_terms = term_counts(tree)[joined];
  const Found head = body_shape(restricted_tree(tree, others), lanes);
  if (!head || !(joined_terms == others || is_first_lane(*head, joined_terms))) {
    return std::nullopt;
  }
  OrderShape shape = plain(Kind::kTail, tree, size);
  shape.tail = {joined_terms != others, summed_first && size > 1};
  shape.parts.push_back(*head);
  return shape;
}

/// The shortest tail whose others fill their lanes, or else the shortest.
Found tail_shape(const SumTree& tree, std::size_t lanes) {
  const std::vector<Node> above = parents(tree);
  const std::size_t longest = std::min(kLongestTail, tree.terms() - 2);
  Found shortest;
  for (std::size_t size = 1; size <= longest; ++size) {
    for (const bool summed_first : {false, true}) {
      Found shape = tail_of(tree, above, size, summed_first, lanes);
      if (!shape) {
        continue;
      }
      const OrderShape& head = shape->parts[0];
      if (head.kind != Kind::kLanes || head.terms % head.size == 0) {
        return shape;
      }
      shortest = shortest ? shortest : shape;
    }
  }
  return shortest;
}

/// Whether words that give one tail's length give the other's: it is the same; or it is what lanes
/// that are filled leave, and they hold as many.
bool same_tail(const OrderShape& a, const OrderShape& b) {
  const auto filled = [](const OrderShape& shape) {
    const OrderShape& head = shape.parts[0];
    return head.kind == Kind::kLanes && head.terms % head.size == 0;
  };
  if (a.tail.to_first_lane != b.tail.to_first_lane || a.tail.summed_first != b.tail.summed_first ||
      filled(a) != filled(b)) {
    return false;
  }
  return filled(a) ? a.parts[0].terms == b.parts[0].terms : a.size == b.size;
}

}  // namespace

bool OrderShape::alike(const OrderShape& other) const {
  const bool trivial = terms <= 2 || other.terms <= 2;
  const bool sized =
      kind == Kind::kTail && other.kind == kind ? same_tail(*this, other) : size == other.size;
  return trivial ||
         (kind == other.kind && sized && distances == other.distances &&
          std::equal(parts.begin(), parts.end(), other.parts.begin(), other.parts.end(),
                     [](const OrderShape& a, const OrderShape& b) { return a.alike(b); }));
}

OrderShape order_shape(const SumTree& tree, std::size_t lanes) {
  Found shape = body_shape(tree, lanes);
  if (!shape && tree.terms() > 2) {
    shape = tail_shape(tree, lanes);
  }
  for (const Kind kind : {Kind::kBlocks, Kind::kLanes}) {
    if (!shape) {
      shape = any_groups(kind, tree, lanes, 1);
    }
  }
  return shape ? *shape : plain(Kind::kIrregular, tree);
}

}  // namespace drift
