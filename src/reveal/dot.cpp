#include <algorithm>

#include <fmt/core.h>

#include "driftaudit/reveal.hpp"

#include "reveal/probes.hpp"

namespace drift {
namespace {

using Node = SumTree::Node;

// Their product is 1 + 2^-12 + 2^-13 + 2^-25, which float32 rounds to the first three.
constexpr float kFactor = 1.0F + 0x1p-12F;
constexpr float kOtherFactor = 1.0F + 0x1p-13F;
constexpr float kProduct = 1.0F + 0x1p-12F + 0x1p-13F;
constexpr float kRounding = 0x1p-25F;

RowKernel with_ones(const DotKernel& dot) {
  return [&dot](std::size_t rows, std::size_t length, std::span<const float> terms) {
    const std::vector<float> ones(terms.size(), 1.0F);
    return dot(rows, length, terms, ones);
  };
}

/// For each term the least term of what it is added to.
std::vector<Node> added_to(const SumTree& tree) {
  const std::vector<Node> least = least_terms(tree);
  std::vector<Node> partners(tree.terms(), SumTree::kZero);
  for (const SumTree::Addition& addition : tree.additions()) {
    for (const Node child : addition.children) {
      if (tree.is_term(child)) {
        const std::vector<Node>& c = addition.children;
        partners[child] = least[c[0] == child ? c[1] : c[0]];
      }
    }
  }
  return partners;
}

/// Each term's product against the negative of its rounded value; the rest is zero.
std::vector<float> product_roundings(const DotKernel& dot, const SumTree& tree,
                                     const Batching& batching, ProbeCount& count) {
  const std::vector<Node> partners = added_to(tree);
  const std::size_t length = tree.terms();
  std::vector<float> sums;
  in_batches(
      length, length, batching, count,
      [&](std::size_t term, std::span<float> a) {
        a[term] = kFactor;
        a[partners[term]] = -kProduct;
      },
      [&](std::size_t first, std::size_t asked, std::span<const float> a) {
        std::vector<float> b(a.size(), 1.0F);
        const std::size_t rows = a.size() / length;
        for (std::size_t row = 0; row < rows; ++row) {
          b[row * length + first + std::min(row, asked - 1)] = kOtherFactor;
        }
        const std::vector<float> out = dot(rows, length, a, b);
        check_outputs(out.size(), rows);
        sums.insert(sums.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(asked));
      });
  return sums;
}

}  // namespace

Revealed reveal_dot(const DotKernel& dot, std::size_t length, const Batching& batching) {
  Revealed revealed = reveal_signed(with_ones(dot), length, batching);
  if (!revealed.tree || length < 2) {
    return revealed;
  }
  ProbeCount count{revealed.probes, revealed.calls};
  const std::vector<float> sums = product_roundings(dot, *revealed.tree, batching, count);
  revealed.probes = count.probes;
  revealed.calls = count.calls;
  std::vector<bool> fused(length, false);
  for (std::size_t term = 0; term < length; ++term) {
    if (sums[term] != 0 && sums[term] != kRounding) {
      revealed.tree.reset();
      revealed.why_not = fmt::format(
          "term {}'s product less its rounded value gives {}, where a product rounded first gives "
          "0 "
          "and a fused one {}",
          term, sums[term], kRounding);
      return revealed;
    }
    fused[term] = sums[term] != 0;
  }
  revealed.tree = SumTree(length, revealed.tree->additions(), std::move(fused));
  return revealed;
}

}  // namespace drift
