#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "driftaudit/reveal.hpp"
#include "driftaudit/sum_tree.hpp"

namespace drift {

using RowSum = std::function<float(std::span<const float>)>;

/// A sum written as a loop, as kernels are, and the tree that it must be found to be.
struct KnownSum {
  std::string name;
  RowSum sum;
  std::function<SumTree(std::size_t terms)> tree;
};

void PrintTo(const KnownSum& known, std::ostream* out);

/// Serial, reverse, pairwise, lanes with either fold, several accumulators, blocks, strides, tails.
const std::vector<KnownSum>& known_sums();
const KnownSum& known_sum(const std::string& name);

RowKernel each_row(RowSum sum);

/// Softmax in plain float32 over `sum`: exp by the C library; times the sum's reciprocal, or
/// divided.
RowKernel softmax_over(RowSum sum, bool reciprocal = true);
float exp_of(float x);

/// A dot product in lanes of 8, with fused multiply-adds or without, and a serial fold.
float lanes_dot(std::span<const float> a, std::span<const float> b, bool fused);
DotKernel each_dot(std::function<float(std::span<const float>, std::span<const float>)> dot);

/// Adds four terms and the accumulator at once: bits below 2^-24 of the largest are dropped.
float dropping_adder(std::span<const float> terms);
/// The same, but exactly, rounded once.
float exact_adder(std::span<const float> terms);

float largest(std::span<const float> terms);
/// The mean as layer_norm computes it: running, in eight lanes that are merged at the end.
float running_mean(std::span<const float> terms);

}  // namespace drift
