#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/reveal.hpp"

#include "reveal/probes.hpp"

namespace drift {
namespace {

constexpr float kInputOfZero = -1000;

/// The whole number that `mean` was made from, where there is one within its rounding; else the
/// product, so that a kernel that isn't a sum is seen as one.
float sum_of_mean(float mean, std::size_t length) {
  const double sum = double{mean} * static_cast<double>(length);
  const double whole = std::round(sum);
  // A reciprocal, a product: two roundings of 2^-24 each.
  return static_cast<float>(std::abs(sum - whole) <= std::abs(whole) * 0x1p-22 ? whole : sum);
}

}  // namespace

RowKernel sums_of_means(RowKernel mean) {
  return [mean = std::move(mean)](std::size_t rows, std::size_t length,
                                  std::span<const float> values) {
    std::vector<float> out = mean(rows, length, values);
    for (float& value : out) {
      value = sum_of_mean(value, length);
    }
    return out;
  };
}

ExceedsOne sums_exceed_one(RowKernel sum) {
  return [sum = std::move(sum)](std::size_t rows, std::size_t length, std::span<const float> terms,
                                std::span<const std::size_t> /*ones*/) {
    std::vector<bool> exceeded;
    for (const float value : sum(rows, length, terms)) {
      exceeded.push_back(value > 1);
    }
    return exceeded;
  };
}

ExceedsOne softmax_exceeds_one(RowKernel softmax) {
  return [softmax = std::move(softmax)](std::size_t rows, std::size_t length,
                                        std::span<const float> terms,
                                        std::span<const std::size_t> ones) {
    std::vector<float> inputs;
    inputs.reserve(terms.size());
    for (const float term : terms) {
      inputs.push_back(term == 0 ? kInputOfZero : static_cast<float>(std::log(double{term})));
    }
    const std::vector<float> out = softmax(rows, length, inputs);
    check_outputs(out.size(), rows * length);
    std::vector<bool> exceeded;
    for (std::size_t row = 0; row < rows; ++row) {
      exceeded.push_back(out[row * length + ones[row]] < 1);
    }
    return exceeded;
  };
}

MeanKind mean_kind(const RowKernel& mean, std::size_t length, const Batching& batching) {
  check_revealable(length);
  if (length < 3) {
    throw usage_error("means of fewer than 3 terms don't tell how they are scaled");
  }
  ProbeCount count;
  const std::vector<float> means =
      kernel_sums(mean, length, length, batching, count,
                  [](std::size_t row, std::span<float> terms) { terms[row] = 1; });
  const double share = 1.0 / static_cast<double>(length);
  const bool near = std::all_of(means.begin(), means.end(), [&](float value) {
    return std::abs(double{value} - share) <= share * 0x1p-16;
  });
  MeanKind kind;
  if (!near) {
    kind.evidence = "a lone 1 doesn't give 1 / length: no mean";
    return kind;
  }
  const std::set<float> values(means.begin(), means.end());
  kind.scaled_sum = values.size() == 1;
  kind.running_mean = values.size() > 1;
  kind.evidence =
      kind.running_mean
          ? fmt::format(
                "a lone 1 among {} terms gives {} different means by its place, from {} to {}: "
                "scaled as it goes (running moments), where a sum gives one",
                length, values.size(), *values.begin(), *values.rbegin())
          : fmt::format("a lone 1 among {} terms gives {} at every place: one sum, scaled once",
                        length, *values.begin());
  return kind;
}

}  // namespace drift
