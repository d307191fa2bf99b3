#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/core.h>

#include "driftaudit/reveal.hpp"

#include "reveal/families.hpp"
#include "reveal/probes.hpp"
#include "runner/split_mix.hpp"

namespace drift {
namespace {

using Node = SumTree::Node;

// Absorbs all ones that a float32 can count, in double too; its square needn't be finite.
constexpr float kMask = 0x1p100F;

struct MaskPair {
  Node plus = 0;
  Node minus = 0;
};

/// Terms that come together before anything else is added, or (with `joined_by`) in one multi-term
/// addition of that many terms.
struct TermSet {
  std::vector<Node> members;
  std::size_t joined_by = 0;
  Node pivot = 0;
  std::map<std::size_t, std::size_t> parts;  ///< size of the sum that the part joins in → set
  std::size_t siblings = 0;                  ///< set of those that meet the pivot in `joined_by`
};

class SignedReveal {
 public:
  SignedReveal(const RowKernel& sum, std::size_t length, const Batching& batching)
      : sum_(sum), length_(length), batching_(batching), builder_(length) {}

  Revealed reveal() {
    TermSet all;
    for (std::size_t i = 0; i < length_; ++i) {
      all.members.push_back(static_cast<Node>(i));
    }
    sets_.push_back(std::move(all));
    Revealed revealed;
    if (split_all()) {
      assemble(0);
      SumTree tree = builder_.finish();
      if (confirm(tree)) {
        revealed.tree = std::move(tree);
      }
    }
    revealed.why_not = why_not_;
    revealed.probes = count_.probes;
    revealed.calls = count_.calls;
    return revealed;
  }

 private:
  bool refuse(std::string why) {
    why_not_ = std::move(why);
    return false;
  }

  /// Splits sets, a round in one batch, until all are single terms.
  bool split_all() {
    std::size_t first = 0;
    while (first < sets_.size()) {
      const std::size_t end = sets_.size();
      std::vector<MaskPair> pairs;
      for (std::size_t at = first; at < end; ++at) {
        TermSet& set = sets_[at];
        set.pivot = set.members[random_.below(set.members.size())];
        for (const Node other : set.members) {
          if (other != set.pivot) {
            pairs.push_back({set.pivot, other});
          }
        }
      }
      std::vector<std::size_t> sizes;
      if (!joint_sizes(pairs, sizes)) {
        return false;
      }
      std::size_t answer = 0;
      for (; first < end; ++first) {
        const std::size_t answers = sets_[first].members.size() - 1;
        if (!split(first, std::span(sizes).subspan(answer, answers))) {
          return false;
        }
        answer += answers;
      }
    }
    return true;
  }

  /// For each pair the number of terms in the smallest sum that holds both.
  bool joint_sizes(const std::vector<MaskPair>& pairs, std::vector<std::size_t>& sizes) {
    const std::vector<float> sums = kernel_sums(sum_, pairs.size(), length_, batching_, count_,
                                                [&](std::size_t row, std::span<float> terms) {
                                                  std::fill(terms.begin(), terms.end(), 1.0F);
                                                  terms[pairs[row].plus] = kMask;
                                                  terms[pairs[row].minus] = -kMask;
                                                });
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const float most = static_cast<float>(length_ - 2);
      if (!(sums[i] >= 0 && sums[i] <= most && std::floor(sums[i]) == sums[i])) {
        return refuse(
            fmt::format("with 2^100 at {}, -2^100 at {} and ones elsewhere it gives {}; a "
                        "sum gives a whole number from 0 to {}",
                        pairs[i].plus, pairs[i].minus, sums[i], most));
      }
      sizes.push_back(length_ - static_cast<std::size_t>(sums[i]));
    }
    return true;
  }

  std::size_t new_set(std::size_t joined_by) {
    sets_.emplace_back();
    sets_.back().joined_by = joined_by;
    return sets_.size() - 1;
  }

  bool split(std::size_t at, std::span<const std::size_t> sizes) {
    const std::vector<Node> members = sets_[at].members;
    const Node pivot = sets_[at].pivot;
    std::size_t answer = 0;
    for (const Node other : members) {
      if (other == pivot) {
        continue;
      }
      const std::size_t size = sizes[answer++];
      if (size == sets_[at].joined_by) {
        if (sets_[at].siblings == 0) {
          const std::size_t siblings = new_set(size);
          sets_[at].siblings = siblings;
        }
        sets_[sets_[at].siblings].members.push_back(other);
        continue;
      }
      if (!sets_[at].parts.contains(size)) {
        const std::size_t part = new_set(size);
        sets_[at].parts[size] = part;
      }
      sets_[sets_[at].parts[size]].members.push_back(other);
    }
    return parts_fit(sets_[at]);
  }

  /// From the pivot on, each sum must be as large as what was added up to it.
  bool parts_fit(const TermSet& set) {
    std::size_t added = 1;
    for (const auto& [size, part] : set.parts) {
      added += sets_[part].members.size();
      if (added > size) {
        return refuse(
            fmt::format("at term {} two terms cancel in a sum of {} and leave some of its {} "
                        "others: an adder of "
                        "several terms that rounds once, or not a sum in floating point",
                        set.pivot, added, added - 2));
      }
      if (added < size) {
        return contradiction(set.pivot);
      }
    }
    return true;
  }

  bool contradiction(Node term) {
    return refuse(
        fmt::format("the answers about term {} contradict one another: {}", term, kNoFixedOrder));
  }

  /// The sums that the set's terms make: one, or in a multi-term addition several.
  std::vector<Node> assemble(std::size_t at) {
    const TermSet& set = sets_[at];
    Node sum = set.pivot;
    for (const auto& [size, part] : set.parts) {
      std::vector<Node> children = assemble(part);
      children.push_back(sum);
      sum = builder_.add(std::move(children));
    }
    std::vector<Node> sums = {sum};
    if (set.siblings != 0) {
      const std::vector<Node> others = assemble(set.siblings);
      sums.insert(sums.end(), others.begin(), others.end());
    }
    return sums;
  }

  /// Asks about random pairs once more: does the tree answer like the kernel?
  bool confirm(const SumTree& tree) {
    if (length_ < 2) {
      return true;
    }
    std::vector<MaskPair> pairs;
    for (std::size_t i = 0; i < length_; ++i) {
      const std::size_t plus = random_.below(length_);
      const std::size_t minus = (plus + 1 + random_.below(length_ - 1)) % length_;
      pairs.push_back({static_cast<Node>(plus), static_cast<Node>(minus)});
    }
    std::vector<std::size_t> sizes;
    if (!joint_sizes(pairs, sizes)) {
      return false;
    }
    const std::vector<Node> above = parents(tree);
    const std::vector<std::size_t> counts = term_counts(tree);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      // A parent's number is above its children's, so the lower of the two climbs.
      Node a = pairs[i].plus;
      Node b = pairs[i].minus;
      while (a != b) {
        Node& lower = a < b ? a : b;
        lower = above[lower];
      }
      if (counts[a] != sizes[i]) {
        return contradiction(pairs[i].plus);
      }
    }
    return true;
  }

  const RowKernel& sum_;
  std::size_t length_;
  Batching batching_;
  TreeBuilder builder_;
  SplitMix64 random_{1};
  ProbeCount count_;
  std::vector<TermSet> sets_;
  std::string why_not_;
};

}  // namespace

Revealed reveal_signed(const RowKernel& sum, std::size_t length, const Batching& batching) {
  check_revealable(length);
  return SignedReveal(sum, length, batching).reveal();
}

}  // namespace drift
