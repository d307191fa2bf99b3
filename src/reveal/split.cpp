#include "reveal/split.hpp"

#include <numeric>

namespace drift {
namespace {

using Node = SumTree::Node;
using Additions = std::vector<SumTree::Addition>;

constexpr std::size_t kMixed = ~std::size_t{0};

/// For each node the group that all its terms belong to, or kMixed.
std::vector<std::size_t> node_groups(const SumTree& tree, const std::vector<TermPlace>& places) {
  std::vector<std::size_t> groups;
  groups.reserve(places.size());
  for (const TermPlace& place : places) {
    groups.push_back(place.group);
  }
  for (const SumTree::Addition& addition : tree.additions()) {
    std::size_t group = groups[addition.children[0]];
    for (const Node child : addition.children) {
      group = groups[child] == group ? group : kMixed;
    }
    groups.push_back(group);
  }
  return groups;
}

/// Builds trees of renumbered terms, each addition after those it uses.
class Piece {
 public:
  explicit Piece(std::size_t terms) : terms_(terms) {}
  Node add(std::vector<Node> children) {
    additions_.push_back({std::move(children)});
    return static_cast<Node>(terms_ + additions_.size() - 1);
  }
  SumTree finish() const { return {terms_, additions_}; }

 private:
  std::size_t terms_;
  Additions additions_;
};

}  // namespace

std::optional<TreeSplit> split_tree(const SumTree& tree, std::size_t groups,
                                    const std::function<TermPlace(std::size_t)>& place) {
  std::vector<TermPlace> places;
  std::vector<std::size_t> sizes(groups, 0);
  for (std::size_t term = 0; term < tree.terms(); ++term) {
    places.push_back(place(term));
    ++sizes[places.back().group];
  }
  const std::vector<std::size_t> group_of = node_groups(tree, places);
  std::vector<Piece> inner;
  inner.reserve(groups);
  for (const std::size_t size : sizes) {
    inner.emplace_back(size);
  }
  Piece outer(groups);
  // A node's number in its group's tree, or in the outer one where it is mixed.
  std::vector<Node> number;
  number.reserve(tree.terms() + tree.additions().size());
  for (const TermPlace& at : places) {
    number.push_back(static_cast<Node>(at.within));
  }
  std::size_t whole_groups = 0;
  for (std::size_t k = 0; k < tree.additions().size(); ++k) {
    const std::size_t group = group_of[tree.terms() + k];
    std::vector<Node> children;
    for (const Node child : tree.additions()[k].children) {
      const bool whole = group == kMixed && group_of[child] != kMixed;
      whole_groups += whole ? 1 : 0;
      children.push_back(whole ? static_cast<Node>(group_of[child]) : number[child]);
    }
    number.push_back((group == kMixed ? outer : inner[group]).add(std::move(children)));
  }
  // A group that meets others in several pieces is counted several times.
  if (groups > 1 && whole_groups != groups) {
    return std::nullopt;
  }
  TreeSplit split{{}, outer.finish()};
  for (const Piece& piece : inner) {
    split.inner.push_back(piece.finish());
  }
  return split;
}

SumTree restricted_tree(const SumTree& tree, std::size_t terms) {
  std::vector<Node> number(tree.terms(), SumTree::kZero);
  std::iota(number.begin(), number.begin() + static_cast<std::ptrdiff_t>(terms), Node{0});
  Piece piece(terms);
  for (const SumTree::Addition& addition : tree.additions()) {
    std::vector<Node> children;
    for (const Node child : addition.children) {
      children.push_back(number[child]);
    }
    number.push_back(piece.add(std::move(children)));
  }
  return piece.finish();
}

}  // namespace drift
