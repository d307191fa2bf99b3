#include "reveal/probes.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

namespace drift {

void in_batches(std::size_t rows, std::size_t length, const Batching& batching, ProbeCount& count,
                const std::function<void(std::size_t, std::span<float>)>& fill,
                const std::function<void(std::size_t, std::size_t, std::span<const float>)>& call) {
  const std::size_t most = std::max<std::size_t>(batching.max_values / length, 1);
  const std::size_t step = batching.rows > 0 ? batching.rows : std::min(most, rows);
  std::vector<float> values;
  for (std::size_t first = 0; first < rows; first += step) {
    const std::size_t asked = std::min(step, rows - first);
    const std::size_t filled = batching.rows > 0 ? step : asked;
    values.assign(filled * length, 0.0F);
    for (std::size_t row = 0; row < filled; ++row) {
      fill(first + std::min(row, asked - 1), std::span(values).subspan(row * length, length));
    }
    count.probes += asked;
    ++count.calls;
    call(first, asked, values);
  }
}

std::vector<float> kernel_sums(const RowKernel& sum, std::size_t rows, std::size_t length,
                               const Batching& batching, ProbeCount& count,
                               const std::function<void(std::size_t, std::span<float>)>& fill) {
  std::vector<float> sums;
  sums.reserve(rows);
  in_batches(rows, length, batching, count, fill,
             [&](std::size_t /*first*/, std::size_t asked, std::span<const float> values) {
               const std::vector<float> out = sum(values.size() / length, length, values);
               check_outputs(out.size(), values.size() / length);
               sums.insert(sums.end(), out.begin(),
                           out.begin() + static_cast<std::ptrdiff_t>(asked));
             });
  return sums;
}

void check_outputs(std::size_t got, std::size_t wanted) {
  if (got != wanted) {
    throw trouble(fmt::format("a probed kernel gave {} values where {} belong", got, wanted));
  }
}

void check_revealable(std::size_t length) {
  if (length == 0 || length > kLongestRevealed) {
    throw usage_error(fmt::format("a sum of {} terms: its order can't be revealed", length),
                      fmt::format("float32 counts ones up to {}; take a length from 1 to that",
                                  kLongestRevealed));
  }
}

}  // namespace drift
