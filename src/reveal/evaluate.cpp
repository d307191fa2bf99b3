// Compiled with -ffp-contract=off: a product and a sum are two roundings unless std::fma says
// otherwise.
#include <cmath>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/sum_tree.hpp"

#include "reveal/rounded_sum.hpp"

namespace drift {
namespace {

void check_length(const SumTree& tree, std::size_t length) {
  if (length != tree.terms()) {
    throw usage_error(
        fmt::format("a summation tree of {} terms was given {} values", tree.terms(), length));
  }
}

float add_at_once(std::span<const float> values, const std::vector<SumTree::Node>& children) {
  std::vector<double> exact;
  exact.reserve(children.size());
  for (const SumTree::Node child : children) {
    exact.push_back(values[child]);
  }
  return rounded_sum(exact);
}

}  // namespace

float evaluate_sum(const SumTree& tree, std::span<const float> terms) {
  check_length(tree, terms.size());
  std::vector<float> values(terms.begin(), terms.end());
  values.reserve(tree.terms() + tree.additions().size());
  for (const SumTree::Addition& addition : tree.additions()) {
    const std::vector<SumTree::Node>& c = addition.children;
    values.push_back(c.size() == 2 ? values[c[0]] + values[c[1]] : add_at_once(values, c));
  }
  return values.back();
}

float evaluate_dot(const SumTree& tree, std::span<const float> a, std::span<const float> b) {
  check_length(tree, a.size());
  check_length(tree, b.size());
  std::vector<float> values;
  values.reserve(tree.terms() + tree.additions().size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    values.push_back(a[i] * b[i]);
  }
  const auto fused = [&](SumTree::Node node) { return tree.is_term(node) && tree.fused(node); };
  for (const SumTree::Addition& addition : tree.additions()) {
    const std::vector<SumTree::Node>& c = addition.children;
    if (c.size() == 2 && !(fused(c[0]) && fused(c[1]))) {
      const SumTree::Node product = fused(c[1]) ? c[1] : c[0];
      const SumTree::Node other = fused(c[1]) ? c[0] : c[1];
      values.push_back(fused(product) ? std::fma(a[product], b[product], values[other])
                                      : values[product] + values[other]);
      continue;
    }
    std::vector<double> exact;
    exact.reserve(c.size());
    for (const SumTree::Node child : c) {
      exact.push_back(fused(child) ? double{a[child]} * double{b[child]} : double{values[child]});
    }
    values.push_back(rounded_sum(exact));
  }
  return values.back();
}

}  // namespace drift
