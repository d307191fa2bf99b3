#include "driftaudit/sum_tree.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

using Node = SumTree::Node;
using Additions = std::vector<SumTree::Addition>;

Error not_a_tree(const std::string& why) { return usage_error("not a summation tree: " + why); }

/// The one node that no addition uses.
Node root_of(std::size_t terms, const Additions& additions) {
  const std::size_t nodes = terms + additions.size();
  std::vector<bool> used(nodes, false);
  for (const SumTree::Addition& addition : additions) {
    for (const Node child : addition.children) {
      if (child == SumTree::kZero) {
        continue;
      }
      if (child >= nodes) {
        throw not_a_tree(fmt::format("node {} doesn't exist", child));
      }
      if (used[child]) {
        throw not_a_tree(fmt::format("node {} is added twice", child));
      }
      used[child] = true;
    }
  }
  if (std::count(used.begin(), used.end(), false) != 1) {
    throw not_a_tree("its terms don't come together in one sum");
  }
  return static_cast<Node>(std::find(used.begin(), used.end(), false) - used.begin());
}

/// The additions that `root` uses, each after those it uses. Without recursion: a serial sum is as
/// deep as it is long.
std::vector<Node> additions_below(std::size_t terms, const Additions& additions, Node root) {
  std::vector<Node> order;
  std::vector<Node> open = {root};
  while (!open.empty()) {
    const Node node = open.back();
    open.pop_back();
    if (node < terms || node == SumTree::kZero) {
      continue;
    }
    order.push_back(node);
    const std::vector<Node>& children = additions[node - terms].children;
    open.insert(open.end(), children.begin(), children.end());
  }
  // Visited from the root, the last child first; turned round, children come before their parents
  // and in their order.
  std::reverse(order.begin(), order.end());
  return order;
}

/// Drops zeros, and additions that are left with one child; orders children by their least term.
class Tidied {
 public:
  Tidied(std::size_t terms, const Additions& additions, std::vector<bool>& fused)
      : terms_(terms),
        tidy_(additions.size()),
        stands_for_(terms + additions.size()),
        least_(terms + additions.size(), SumTree::kZero) {
    std::iota(stands_for_.begin(), stands_for_.end(), Node{0});
    std::iota(least_.begin(), least_.begin() + static_cast<std::ptrdiff_t>(terms), Node{0});
    const Node root = root_of(terms, additions);
    const std::vector<Node> order = additions_below(terms, additions, root);
    if (order.size() != additions.size()) {
      throw not_a_tree("some additions go round in a ring");
    }
    for (const Node node : order) {
      tidy(node, additions[node - terms].children, fused);
    }
    root_ = stands_for_[root];
    if (root_ == SumTree::kZero) {
      throw not_a_tree("it has no terms");
    }
  }

  Node root() const { return root_; }
  const Additions& additions() const { return tidy_; }

 private:
  void tidy(Node node, const std::vector<Node>& children, std::vector<bool>& fused) {
    std::vector<Node>& kept = tidy_[node - terms_].children;
    for (const Node child : children) {
      if (child != SumTree::kZero && stands_for_[child] != SumTree::kZero) {
        kept.push_back(stands_for_[child]);
      }
    }
    if (kept.size() < 2) {
      // A product added to zero is rounded there: whatever takes it next takes it rounded.
      if (!kept.empty() && kept[0] < terms_) {
        fused[kept[0]] = false;
      }
      stands_for_[node] = kept.empty() ? SumTree::kZero : kept[0];
      return;
    }
    std::sort(kept.begin(), kept.end(), [&](Node a, Node b) { return least_[a] < least_[b]; });
    least_[node] = least_[kept[0]];
  }

  std::size_t terms_;
  Additions tidy_;
  std::vector<Node> stands_for_;
  std::vector<Node> least_;
  Node root_ = SumTree::kZero;
};

}  // namespace

SumTree::SumTree(std::size_t terms, const std::vector<Addition>& additions, std::vector<bool> fused)
    : terms_(terms), fused_(std::move(fused)) {
  fused_.resize(terms, false);
  if (terms == 0) {
    throw not_a_tree("it has no terms");
  }
  const Tidied tidied(terms, additions, fused_);
  const std::vector<Node> order = additions_below(terms, tidied.additions(), tidied.root());
  std::vector<Node> number(terms + additions.size(), kZero);
  std::iota(number.begin(), number.begin() + static_cast<std::ptrdiff_t>(terms), Node{0});
  for (const Node old : order) {
    Addition addition;
    for (const Node child : tidied.additions()[old - terms].children) {
      addition.children.push_back(number[child]);
    }
    number[old] = static_cast<Node>(terms + additions_.size());
    additions_.push_back(std::move(addition));
  }
  if (terms == 1) {
    fused_[0] = false;
  }
}

bool SumTree::any_fused() const {
  return std::find(fused_.begin(), fused_.end(), true) != fused_.end();
}

std::size_t SumTree::widest() const {
  std::size_t widest = 1;
  for (const Addition& addition : additions_) {
    widest = std::max(widest, addition.children.size());
  }
  return widest;
}

std::vector<Node> least_terms(const SumTree& tree) {
  std::vector<Node> least(tree.terms());
  std::iota(least.begin(), least.end(), Node{0});
  for (const SumTree::Addition& addition : tree.additions()) {
    least.push_back(least[addition.children[0]]);
  }
  return least;
}

std::vector<std::size_t> term_counts(const SumTree& tree) {
  std::vector<std::size_t> counts(tree.terms(), 1);
  for (const SumTree::Addition& addition : tree.additions()) {
    std::size_t count = 0;
    for (const Node child : addition.children) {
      count += counts[child];
    }
    counts.push_back(count);
  }
  return counts;
}

std::vector<Node> parents(const SumTree& tree) {
  std::vector<Node> parents(tree.terms() + tree.additions().size(), SumTree::kZero);
  Node node = static_cast<Node>(tree.terms());
  for (const SumTree::Addition& addition : tree.additions()) {
    for (const Node child : addition.children) {
      parents[child] = node;
    }
    ++node;
  }
  return parents;
}

std::size_t depth(const SumTree& tree) {
  std::vector<std::size_t> depths(tree.terms(), 0);
  for (const SumTree::Addition& addition : tree.additions()) {
    std::size_t deepest = 0;
    for (const Node child : addition.children) {
      deepest = std::max(deepest, depths[child]);
    }
    depths.push_back(deepest + 1);
  }
  return depths.back();
}

}  // namespace drift
