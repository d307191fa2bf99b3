#include "driftaudit/order_words.hpp"

#include <fmt/core.h>

#include "reveal/shape.hpp"

namespace drift {
namespace {

using Kind = OrderShape::Kind;

constexpr std::size_t kLongestSpelt = 64;  // terms of an irregular tree that is written out

std::string words(const OrderShape& shape);

/// "4 apart, 2 apart, neighbours"; `last` comes before the last of several.
std::string distances_words(const std::vector<std::size_t>& distances, const std::string& last) {
  std::string text;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    const bool ends = i > 0 && i + 1 == distances.size();
    text += i == 0 ? "" : ", ";
    text += ends ? last : "";
    text += distances[i] == 1 ? "neighbours" : fmt::format("{} apart", distances[i]);
  }
  return text;
}

/// A fold of neighbours, then of sums, in distances where lanes are a power of two.
std::vector<std::size_t> neighbour_distances(std::size_t lanes) {
  std::vector<std::size_t> distances;
  for (std::size_t distance = 1; distance < lanes; distance *= 2) {
    distances.push_back(distance);
  }
  return distances;
}

/// In parentheses where its own parts would run into what follows.
std::string part_words(const OrderShape& part) {
  const std::string text = words(part);
  return text.find(';') == std::string::npos ? text : "(" + text + ")";
}

/// How lanes are folded: the words after "fold".
std::string fold_words(const OrderShape& fold, const std::string& serial, const std::string& last) {
  switch (fold.kind) {
    case Kind::kSerial:
      return fold.terms == 2 ? "0+1" : serial;
    case Kind::kApart:
      return distances_words(fold.distances, last);
    case Kind::kNeighbours:
      return distances_words(neighbour_distances(fold.terms), last);
    case Kind::kTail: {  // its words would read as those of terms in no lane
      const std::string text = part_words(fold);
      return text.front() == '(' ? text : "(" + text + ")";
    }
    default:
      return part_words(fold);
  }
}

std::string lanes_words(const OrderShape& shape, const std::string& tail_first) {
  const OrderShape& inner = shape.parts[0];
  const OrderShape& outer = shape.parts[1];
  const bool vertical = inner.kind == Kind::kSerial || inner.kind == Kind::kSingle;
  const std::size_t rest = shape.terms % shape.size;
  const std::string masked = rest == 0 ? "" : fmt::format(", the last {} masked", rest);
  std::string text = fmt::format("{} lanes, ", shape.size);
  const OrderShape* fold = &outer;
  std::string accumulators;
  if (vertical && outer.kind == Kind::kLanes && shape.size % outer.size == 0) {
    text = fmt::format("{} accumulators of {} lanes, ", shape.size / outer.size, outer.size);
    accumulators = fmt::format("; accumulators {}", part_words(outer.parts[0]));
    fold = &outer.parts[1];
  }
  text += vertical ? "vertical" : fmt::format("each {}", part_words(inner));
  return text + masked + accumulators + "; then fold " + tail_first +
         fold_words(*fold, "0+1, +2 … (one after the other)", "");
}

std::string tail_words(const OrderShape& shape) {
  const OrderShape& head = shape.parts[0];
  if (!shape.tail.to_first_lane) {
    return fmt::format("{}; then {} {}{}", words(head),
                       shape.tail.summed_first ? "the sum of the last" : "the last", shape.size,
                       shape.tail.summed_first || shape.size == 1 ? "" : " one after the other");
  }
  if (!shape.tail.summed_first && head.kind == Kind::kLanes) {
    return fmt::format("{}; the last {} in the first lane", words(head), shape.size);
  }
  if (!shape.tail.summed_first && shape.size > 1) {
    return fmt::format("the last {} onto the first term one after the other; then {}", shape.size,
                       words(head));
  }
  const std::string start = shape.size == 1
                                ? "from the last one on: "
                                : fmt::format("from the sum of the last {} on: ", shape.size);
  return head.kind == Kind::kLanes ? lanes_words(head, start) : start + words(head);
}

std::string words(const OrderShape& shape) {
  switch (shape.kind) {
    case Kind::kSingle:
      return "one term";
    case Kind::kSerial:
      return "serial";
    case Kind::kReverse:
      return "serial, from the last on";
    case Kind::kApart:
      return "fold " + distances_words(shape.distances, "");
    case Kind::kNeighbours:
      return "pairwise";
    case Kind::kHalves:
      return "pairwise, in halves";
    case Kind::kWide:
      return fmt::format("serial, {} terms at once", shape.size);
    case Kind::kLanes:
      return lanes_words(shape, "");
    case Kind::kBlocks:
      return fmt::format("blocks of {}, each {}; blocks {}", shape.size, part_words(shape.parts[0]),
                         part_words(shape.parts[1]));
    case Kind::kTail:
      return tail_words(shape);
    case Kind::kIrregular:
      break;
  }
  return fmt::format("irregular over {} terms", shape.terms);
}

bool fused_alike(const SumTree& a, const SumTree& b) {
  for (SumTree::Node term = 0; term < a.terms() && term < b.terms(); ++term) {
    if (a.fused(term) != b.fused(term)) {
      return false;
    }
  }
  return a.terms() == b.terms();
}

std::string tree_words(const SumTree& tree, const OrderShape& shape) {
  std::string text = words(shape);
  if (shape.kind == Kind::kIrregular) {
    text = tree.terms() <= kLongestSpelt ? "irregular: " + tree_text(tree)
                                         : fmt::format("irregular: {} terms, {} roundings at most",
                                                       tree.terms(), depth(tree));
  }
  std::size_t fused = 0;
  for (std::size_t term = 0; term < tree.terms(); ++term) {
    fused += tree.fused(static_cast<SumTree::Node>(term)) ? 1 : 0;
  }
  if (fused > 0) {
    text += fmt::format("; fused multiply-add for {} of {} products", fused, tree.terms());
  }
  return text;
}

}  // namespace

std::string order_words(const SumTree& tree, std::size_t lanes) {
  return tree_words(tree, order_shape(tree, lanes));
}

std::string order_difference(const std::string& name_a, const SumTree& a, const std::string& name_b,
                             const SumTree& b, std::size_t lanes) {
  const OrderShape shape_a = order_shape(a, lanes);
  const OrderShape shape_b = order_shape(b, lanes);
  const std::string words_a = tree_words(a, shape_a);
  if (a == b) {
    return fmt::format("{} and {} add in the same order: {}", name_a, name_b, words_a);
  }
  const bool folds_differ =
      fused_alike(a, b) && shape_a.kind == Kind::kLanes && shape_b.kind == Kind::kLanes &&
      shape_a.size == shape_b.size && shape_a.parts[0].alike(shape_b.parts[0]) &&
      shape_a.parts[1].kind != Kind::kLanes && shape_b.parts[1].kind != Kind::kLanes;
  if (folds_differ) {
    const std::string serial = "one after the other";
    return fmt::format("{} folds its {} lanes {}; {} {}", name_a, shape_a.size,
                       fold_words(shape_a.parts[1], serial, "then "), name_b,
                       fold_words(shape_b.parts[1], serial, "then "));
  }
  return fmt::format("{}: {}; {}: {}", name_a, words_a, name_b, tree_words(b, shape_b));
}

}  // namespace drift
