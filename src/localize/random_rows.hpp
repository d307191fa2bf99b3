#pragma once

#include <cstdint>
#include <vector>

#include "driftaudit/isolation.hpp"

namespace drift {

/// Rows of random numbers for a family, the same on every machine: uniform in [-4, 4), by integer
/// arithmetic alone from a fixed seed, the length and the batch.
class RandomRows {
 public:
  RandomRows(RowFamily family, std::uint64_t length, std::uint64_t columns, std::uint64_t rows,
             std::uint64_t batch);

  std::uint64_t length() const { return length_; }

  /// The inputs of a call on the first `rows` of them, their storages at `alignment` modulo 64.
  std::vector<wire::TensorData> inputs(std::uint64_t rows, std::uint32_t alignment) const;

  /// Of kAttention: the same rows as heads of one request, [1, rows, 1, columns] and
  /// [1, rows, length, columns].
  std::vector<wire::TensorData> heads(std::uint64_t rows) const;

  /// Of kAttention: `length` rows that are queries of one request, [1, 1, length, columns].
  std::vector<wire::TensorData> prefill() const;

 private:
  RowFamily family_;
  std::uint64_t length_;
  std::uint64_t columns_;
  std::vector<float> x_, y_;     ///< rows × length; of kAttention at least length × columns
  std::vector<float> w_, bias_;  ///< the same for all rows; of kAttention keys and values
};

}  // namespace drift
