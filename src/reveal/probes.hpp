#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "driftaudit/reveal.hpp"

namespace drift {

/// What contradicting answers mean.
inline constexpr const char* kNoFixedOrder =
    "it adds in no fixed order, or in one that hangs on where a row lies in memory";

/// Counts what a kernel was asked.
struct ProbeCount {
  std::size_t probes = 0;
  std::size_t calls = 0;
};

/// Puts `rows` rows into calls: `fill` writes row r's terms into zeros, `call` gets the index of a
/// call's first row, how many of its rows are asked for, and all its values, padded rows included.
void in_batches(std::size_t rows, std::size_t length, const Batching& batching, ProbeCount& count,
                const std::function<void(std::size_t row, std::span<float> terms)>& fill,
                const std::function<void(std::size_t first, std::size_t asked,
                                         std::span<const float> values)>& call);

/// Calls the kernel on all rows; gives the first output of each. Errors (trouble): another number
/// of outputs than one a row.
std::vector<float> kernel_sums(const RowKernel& sum, std::size_t rows, std::size_t length,
                               const Batching& batching, ProbeCount& count,
                               const std::function<void(std::size_t, std::span<float>)>& fill);

/// Errors (trouble): `got` isn't `wanted`.
void check_outputs(std::size_t got, std::size_t wanted);

/// Errors (usage): 0, or above kLongestRevealed.
void check_revealable(std::size_t length);

}  // namespace drift
