#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drift {

/// The order in which terms 0 … n−1 are added: a tree whose leaves are the terms.
///
/// An addition of two rounds once; one of more is a multi-term adder, which adds all of them
/// exactly and rounds once. In a dot product a *fused* term's product enters its addition unrounded
/// (a fused multiply-add). Additions commute, so a tree is kept in one canonical form: children
/// ordered by their least term, additions numbered after the additions they use, the last one the
/// root. Equal trees compare equal.
class SumTree {
 public:
  /// A term (below `terms()`), or `terms()` + k for addition k.
  using Node = std::uint32_t;

  /// A zero that isn't a term, as an accumulator starts with. Adding it changes no value (except a
  /// sum of nothing but −0), so it can't be seen from outside: trees are built with it and drop it.
  static constexpr Node kZero = 0xFFFFFFFF;

  struct Addition {
    std::vector<Node> children;
    bool operator==(const Addition&) const = default;
  };

  /// From additions in any order. `fused`: a flag a term, or empty for none. Errors (usage): not a
  /// tree over all `terms`; no terms.
  SumTree(std::size_t terms, const std::vector<Addition>& additions, std::vector<bool> fused = {});

  std::size_t terms() const { return terms_; }
  const std::vector<Addition>& additions() const { return additions_; }
  Node root() const { return static_cast<Node>(terms_ + additions_.size() - 1); }
  bool is_term(Node node) const { return node < terms_; }
  const std::vector<Node>& children(Node addition) const {
    return additions_[addition - terms_].children;
  }
  bool fused(Node term) const { return fused_[term]; }
  bool any_fused() const;
  /// Most terms that one addition takes; 1 for a tree of one term.
  std::size_t widest() const;

  bool operator==(const SumTree&) const = default;

 private:
  std::size_t terms_;
  std::vector<Addition> additions_;
  std::vector<bool> fused_;
};

/// The sum of `terms` (one each) in plain float32: each addition rounded to nearest, none
/// contracted.
float evaluate_sum(const SumTree& tree, std::span<const float> terms);

/// The dot product of a and b (one element a term each): products rounded to float32 except those
/// of fused terms.
float evaluate_dot(const SumTree& tree, std::span<const float> a, std::span<const float> b);

/// The terms' numbers in parentheses, as `((0+2)+(1+3))+4`, the outermost left out; a multi-term
/// addition as `(0+1+2)`; a fused term as `*3`.
std::string tree_text(const SumTree& tree);

/// Reads what `tree_text` writes. Errors (usage): anything else.
SumTree tree_from_text(std::string_view text);

/// For each node its least term, by node.
std::vector<SumTree::Node> least_terms(const SumTree& tree);

/// For each node how many terms it adds up, by node.
std::vector<std::size_t> term_counts(const SumTree& tree);

/// For each node the addition that uses it, by node; `SumTree::kZero` for the root.
std::vector<SumTree::Node> parents(const SumTree& tree);

/// The additions between the root and its furthest term: how many roundings a term can meet.
std::size_t depth(const SumTree& tree);

}  // namespace drift
