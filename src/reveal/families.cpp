#include "reveal/families.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>

#include "driftaudit/reveal.hpp"

namespace drift {
namespace {

using Node = SumTree::Node;

std::vector<Node> counted(std::size_t terms) {
  std::vector<Node> nodes(terms);
  std::iota(nodes.begin(), nodes.end(), Node{0});
  return nodes;
}

Node chain(TreeBuilder& builder, std::span<const Node> nodes) {
  Node sum = nodes[0];
  for (const Node node : nodes.subspan(1)) {
    sum = builder.add({sum, node});
  }
  return sum;
}

/// Splits at `first(n)`, down to single terms.
Node halves(TreeBuilder& builder, std::span<const Node> nodes,
            const std::function<std::size_t(std::size_t)>& first) {
  if (nodes.size() == 1) {
    return nodes[0];
  }
  const std::size_t split = first(nodes.size());
  const Node left = halves(builder, nodes.first(split), first);
  return builder.add({left, halves(builder, nodes.subspan(split), first)});
}

/// Terms grouped by `group(i)`, each group added serially, the sums in the order of `order`.
SumTree grouped(std::size_t terms, const std::function<std::size_t(std::size_t)>& group,
                const SumTree& order) {
  TreeBuilder builder(terms);
  std::map<std::size_t, std::vector<Node>> groups;
  for (std::size_t i = 0; i < terms; ++i) {
    groups[group(i)].push_back(static_cast<Node>(i));
  }
  std::vector<Node> sums;
  sums.reserve(groups.size());
  for (const auto& [number, members] : groups) {
    sums.push_back(chain(builder, members));
  }
  builder.graft(order, sums);
  return builder.finish();
}

}  // namespace

Node TreeBuilder::add(std::vector<Node> children) {
  additions_.push_back({std::move(children)});
  return static_cast<Node>(terms_ + additions_.size() - 1);
}

Node TreeBuilder::graft(const SumTree& tree, std::span<const Node> nodes) {
  std::vector<Node> placed(nodes.begin(), nodes.end());
  for (const SumTree::Addition& addition : tree.additions()) {
    std::vector<Node> children;
    for (const Node child : addition.children) {
      children.push_back(placed[child]);
    }
    placed.push_back(add(std::move(children)));
  }
  return placed.back();
}

SumTree serial_tree(std::size_t terms) {
  TreeBuilder builder(terms);
  chain(builder, counted(terms));
  return builder.finish();
}

SumTree reverse_serial_tree(std::size_t terms) {
  TreeBuilder builder(terms);
  std::vector<Node> nodes = counted(terms);
  std::reverse(nodes.begin(), nodes.end());
  chain(builder, nodes);
  return builder.finish();
}

SumTree halving_tree(std::size_t terms) {
  TreeBuilder builder(terms);
  halves(builder, counted(terms), [](std::size_t n) { return n / 2; });
  return builder.finish();
}

SumTree neighbours_tree(std::size_t terms) {
  TreeBuilder builder(terms);
  halves(builder, counted(terms), [](std::size_t n) { return std::bit_ceil(n) / 2; });
  return builder.finish();
}

SumTree fold_tree(std::size_t terms, const std::vector<std::size_t>& distances) {
  TreeBuilder builder(terms);
  std::vector<Node> lanes = counted(terms);
  lanes.resize(std::max(terms, std::size_t{1} << distances.size()), SumTree::kZero);
  for (const std::size_t distance : distances) {
    for (std::size_t lane = 0; lane + distance < lanes.size(); ++lane) {
      const Node other = lanes[lane + distance];
      if ((lane & distance) == 0 && other != SumTree::kZero) {
        lanes[lane] = lanes[lane] == SumTree::kZero ? other : builder.add({lanes[lane], other});
        lanes[lane + distance] = SumTree::kZero;
      }
    }
  }
  return builder.finish();
}

SumTree wide_serial_tree(std::size_t terms, std::size_t width) {
  TreeBuilder builder(terms);
  Node sum = SumTree::kZero;
  for (std::size_t first = 0; first < terms; first += width) {
    std::vector<Node> children = {sum};
    for (std::size_t i = first; i < std::min(first + width, terms); ++i) {
      children.push_back(static_cast<Node>(i));
    }
    sum = builder.add(std::move(children));
  }
  return builder.finish();
}

SumTree lanes_tree(std::size_t terms, std::size_t lanes, const SumTree& fold) {
  return grouped(
      terms, [&](std::size_t i) { return i % lanes; }, fold);
}

SumTree blocks_tree(std::size_t terms, std::size_t size, const SumTree& order) {
  return grouped(
      terms, [&](std::size_t i) { return i / size; }, order);
}

std::vector<SumTree> likely_orders(std::size_t terms) {
  std::vector<SumTree> orders = {serial_tree(terms), neighbours_tree(terms)};
  std::vector<std::size_t> halving = {1};
  for (std::size_t lanes = 4; lanes <= 64 && lanes < terms; lanes *= 2) {
    halving.insert(halving.begin(), lanes / 2);
    orders.push_back(lanes_tree(terms, lanes, serial_tree(lanes)));
    orders.push_back(lanes_tree(terms, lanes, fold_tree(lanes, halving)));
  }
  return orders;
}

SumTree with_serial_tail(const SumTree& head, std::size_t terms) {
  TreeBuilder builder(terms);
  std::vector<Node> nodes = {builder.graft(head, counted(head.terms()))};
  for (std::size_t i = head.terms(); i < terms; ++i) {
    nodes.push_back(static_cast<Node>(i));
  }
  chain(builder, nodes);
  return builder.finish();
}

}  // namespace drift
