#include "model/bpe.hpp"

#include <functional>
#include <queue>
#include <tuple>

namespace drift {
namespace {

constexpr std::int32_t kGone = -1;  // merged into its left neighbour
constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::uint64_t key(std::int32_t left, std::int32_t right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

/// A pair that could be merged when it was seen; by the time it is its turn it may be stale.
struct Candidate {
  std::uint32_t rank;
  std::size_t at;
  std::int32_t merged;

  bool operator>(const Candidate& other) const {
    return std::tie(rank, at) > std::tie(other.rank, other.at);
  }
};

}  // namespace

bool Merges::add(std::int32_t left, std::int32_t right, std::int32_t merged, Twice twice) {
  const Merge merge{next_rank_++, merged};
  const auto [at, is_new] = merges_.emplace(key(left, right), merge);
  if (!is_new && twice == Twice::kLast) {
    at->second = merge;
  }
  return is_new;
}

const Merges::Merge* Merges::find(std::int32_t left, std::int32_t right) const {
  const auto found = merges_.find(key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void Merges::apply(std::vector<std::int32_t>& word) const {
  // Neighbours as linked lists over the positions, so that a merge moves nothing.
  std::vector<std::size_t> previous(word.size());
  std::vector<std::size_t> next(word.size());
  for (std::size_t i = 0; i < word.size(); ++i) {
    previous[i] = i == 0 ? kNone : i - 1;
    next[i] = i + 1 == word.size() ? kNone : i + 1;
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  const auto consider = [&](std::size_t at) {
    if (at == kNone || next[at] == kNone) {
      return;
    }
    if (const Merge* merge = find(word[at], word[next[at]])) {
      queue.push({merge->rank, at, merge->merged});
    }
  };
  for (std::size_t i = 0; i < word.size(); ++i) {
    consider(i);
  }
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    if (word[best.at] == kGone || next[best.at] == kNone) {
      continue;
    }
    const std::size_t right = next[best.at];
    const Merge* merge = find(word[best.at], word[right]);
    if (merge == nullptr || merge->merged != best.merged) {
      continue;
    }
    word[best.at] = best.merged;
    word[right] = kGone;
    next[best.at] = next[right];
    if (next[right] != kNone) {
      previous[next[right]] = best.at;
    }
    consider(previous[best.at]);
    consider(best.at);
  }
  std::erase(word, kGone);
}

}  // namespace drift
