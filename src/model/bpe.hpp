#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace drift {

/// The merges of a byte-pair encoding, ranked, and how they are applied to one word.
class Merges {
 public:
  /// Which rank counts of a pair that is given twice: the `tokenizers` package takes the last,
  /// transformers, where it reads merges.txt, the first.
  enum class Twice { kFirst, kLast };

  /// Adds the merge of the next rank. Gives whether the pair is new.
  bool add(std::int32_t left, std::int32_t right, std::int32_t merged, Twice twice);

  /// Merges the ids of a word, one a byte at first, in place: always the pair of the lowest rank
  /// and among equals the leftmost. O(n log n).
  void apply(std::vector<std::int32_t>& word) const;

 private:
  struct Merge {
    std::uint32_t rank;
    std::int32_t merged;
  };
  const Merge* find(std::int32_t left, std::int32_t right) const;

  std::unordered_map<std::uint64_t, Merge> merges_;
  std::uint32_t next_rank_ = 0;
};

}  // namespace drift
