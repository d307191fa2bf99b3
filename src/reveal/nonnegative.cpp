#include <algorithm>

#include <fmt/core.h>

#include "driftaudit/reveal.hpp"

#include "reveal/families.hpp"
#include "reveal/probes.hpp"
#include "runner/split_mix.hpp"

namespace drift {
namespace {

using Node = SumTree::Node;

// Triples that a likely tree must pass first: so many at its top, where folds differ, and as many
// over all of it.
constexpr std::size_t kSamples = 16;
constexpr float kSmall = 0x1.8p-25F;  // 0.75 × 2^-24: a 1 absorbs it, but not twice it

/// A 1 and what is set against it.
struct Triple {
  Node one = 0;
  Node small = 0;
  Node other_small = 0;
};

/// Terms to be put in order; a term may stand for a sum that is known already.
struct Trio {
  std::vector<Node> members;
  Node p = 0;
  Node q = 0;
  std::size_t with_p = 0;  ///< sets of those that meet p before q, q before p, or p + q
  std::size_t with_q = 0;
  std::size_t with_both = 0;
};

class NonnegativeReveal {
 public:
  NonnegativeReveal(const ExceedsOne& exceeds_one, std::size_t length, const Batching& batching)
      : exceeds_one_(exceeds_one), length_(length), batching_(batching), builder_(length) {}

  Revealed reveal(std::span<const SumTree> likely) {
    Revealed revealed;
    if (length_ == 1 || adds_in_float32()) {
      revealed.tree = first_confirmed(likely);
      if (!revealed.tree) {
        why_not_.clear();
        split_all();
        assemble(0);
        SumTree tree = builder_.finish();
        if (confirm(tree)) {
          revealed.tree = std::move(tree);
        }
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

  std::vector<bool> ask(std::size_t rows, const std::function<Node(std::size_t)>& one_of,
                        const std::function<void(std::size_t, std::span<float>)>& small_terms) {
    std::vector<bool> answers;
    answers.reserve(rows);
    in_batches(
        rows, length_, batching_, count_,
        [&](std::size_t row, std::span<float> terms) {
          terms[one_of(row)] = 1;
          small_terms(row, terms);
        },
        [&](std::size_t first, std::size_t asked, std::span<const float> values) {
          std::vector<std::size_t> ones;
          for (std::size_t row = 0; row < values.size() / length_; ++row) {
            ones.push_back(one_of(first + std::min(row, asked - 1)));
          }
          const std::vector<bool> out = exceeds_one_(ones.size(), length_, values, ones);
          check_outputs(out.size(), ones.size());
          answers.insert(answers.end(), out.begin(),
                         out.begin() + static_cast<std::ptrdiff_t>(asked));
        });
    return answers;
  }

  /// For each triple whether its small terms meet before they meet the 1.
  std::vector<bool> small_meet_first(const std::vector<Triple>& triples) {
    return ask(
        triples.size(), [&](std::size_t row) { return triples[row].one; },
        [&](std::size_t row, std::span<float> terms) {
          terms[triples[row].small] = kSmall;
          terms[triples[row].other_small] = kSmall;
        });
  }

  /// At each place a 1 must absorb a lone small term in the next place, and not twice that.
  bool adds_in_float32() {
    const std::vector<bool> exceeded = ask(
        2 * length_, [&](std::size_t row) { return static_cast<Node>(row / 2); },
        [&](std::size_t row, std::span<float> terms) {
          terms[(row / 2 + 1) % length_] = row % 2 == 0 ? kSmall : 2 * kSmall;
        });
    for (std::size_t row = 0; row < exceeded.size(); ++row) {
      const std::size_t one = row / 2;
      const std::size_t small = (one + 1) % length_;
      if (row % 2 == 0 && exceeded[row]) {
        return refuse(
            fmt::format("a 1 at {} and 0.75 × 2^-24 at {} exceed 1: not a sum that is "
                        "rounded to float32 at each addition",
                        one, small));
      }
      if (row % 2 == 1 && !exceeded[row]) {
        return refuse(
            fmt::format("a 1 at {} and 1.5 × 2^-24 at {} don't exceed 1: not a sum of all "
                        "its terms in float32",
                        one, small));
      }
    }
    return true;
  }

  std::size_t new_set(std::vector<Node> members) {
    sets_.push_back({std::move(members)});
    return sets_.size() - 1;
  }

  void split_all() {
    std::vector<Node> all;
    for (std::size_t i = 0; i < length_; ++i) {
      all.push_back(static_cast<Node>(i));
    }
    new_set(std::move(all));
    std::size_t first = 0;
    while (first < sets_.size()) {
      const std::size_t end = sets_.size();
      split_round(first, end);
      first = end;
    }
  }

  /// Splits the sets from `first` to `end` in two batches: who meets p first, who of the rest q.
  void split_round(std::size_t first, std::size_t end) {
    std::vector<std::size_t> set_of;
    std::vector<Node> waiting;
    for (std::size_t at = first; at < end; ++at) {
      std::vector<Node>& members = sets_[at].members;
      if (members.size() < 3) {
        continue;
      }
      // The two that split the set move to its front.
      std::swap(members[0], members[random_.below(members.size())]);
      std::swap(members[1], members[1 + random_.below(members.size() - 1)]);
      sets_[at].p = members[0];
      sets_[at].q = members[1];
      for (std::size_t i = 2; i < members.size(); ++i) {
        set_of.push_back(at);
        waiting.push_back(members[i]);
      }
    }
    std::vector<Sorted> sorted(end - first);
    for (const bool by_p : {true, false}) {
      keep_those_that_miss(by_p, first, sorted, set_of, waiting);
    }
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      sorted[set_of[i] - first].both.push_back(waiting[i]);
    }
    for (std::size_t at = first; at < end; ++at) {
      if (sets_[at].members.size() >= 3) {
        make_parts(at, std::move(sorted[at - first]));
      }
    }
  }

  struct Sorted {
    std::vector<Node> p;
    std::vector<Node> q;
    std::vector<Node> both;
  };

  /// Moves the waiting terms that meet p (or q) before the other one to where they belong.
  void keep_those_that_miss(bool by_p, std::size_t first, std::vector<Sorted>& sorted,
                            std::vector<std::size_t>& set_of, std::vector<Node>& waiting) {
    std::vector<Triple> triples;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const Trio& set = sets_[set_of[i]];
      triples.push_back({by_p ? set.q : set.p, by_p ? set.p : set.q, waiting[i]});
    }
    const std::vector<bool> meets = small_meet_first(triples);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < meets.size(); ++i) {
      if (meets[i]) {
        Sorted& parts = sorted[set_of[i] - first];
        (by_p ? parts.p : parts.q).push_back(waiting[i]);
        continue;
      }
      set_of[kept] = set_of[i];
      waiting[kept++] = waiting[i];
    }
    set_of.resize(kept);
    waiting.resize(kept);
  }

  /// p stands for p + q among those that meet both at once.
  void make_parts(std::size_t at, Sorted sorted) {
    const Node p = sets_[at].p;
    sorted.p.push_back(p);
    sorted.q.push_back(sets_[at].q);
    sorted.both.push_back(p);
    const std::size_t with_p = new_set(std::move(sorted.p));
    const std::size_t with_q = new_set(std::move(sorted.q));
    const std::size_t with_both = new_set(std::move(sorted.both));
    sets_[at].with_p = with_p;
    sets_[at].with_q = with_q;
    sets_[at].with_both = with_both;
  }

  /// The sum of a set's terms, where `stands_for_` says what each term stands for.
  Node assemble(std::size_t at) {
    if (stands_for_.empty()) {
      stands_for_ = sets_[at].members;
      std::sort(stands_for_.begin(), stands_for_.end());
    }
    const Trio& set = sets_[at];
    if (set.members.size() == 1) {
      return stands_for_[set.members[0]];
    }
    if (set.members.size() == 2) {
      return builder_.add({stands_for_[set.members[0]], stands_for_[set.members[1]]});
    }
    const Node left = assemble(set.with_p);
    const Node right = assemble(set.with_q);
    stands_for_[set.p] = builder_.add({left, right});
    return assemble(set.with_both);
  }

  /// For each addition below the root one triple that fixes its place: a term of each child against
  /// one of its sibling, the least term standing for each sum. Taking away the terms that stand for
  /// none, one by one from the leaves, shows that no other binary tree answers them all alike.
  /// From the largest sum down.
  static std::vector<Triple> fixing_triples(const SumTree& tree) {
    const std::vector<Node> least = least_terms(tree);
    const std::vector<std::size_t> counts = term_counts(tree);
    std::vector<std::pair<std::size_t, Triple>> sized;
    for (const SumTree::Addition& addition : tree.additions()) {
      for (std::size_t side = 0; side < 2; ++side) {
        const Node node = addition.children[side];
        if (!tree.is_term(node)) {
          const std::vector<Node>& children = tree.children(node);
          sized.push_back(
              {counts[node],
               {least[addition.children[1 - side]], least[children[0]], least[children[1]]}});
        }
      }
    }
    std::stable_sort(sized.begin(), sized.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Triple> triples;
    triples.reserve(sized.size());
    for (const auto& [size, triple] : sized) {
      triples.push_back(triple);
    }
    return triples;
  }

  bool confirm(const SumTree& tree) {
    std::vector<Triple> turned;
    for (const Triple& t : fixing_triples(tree)) {
      turned.insert(turned.end(),
                    {t, {t.small, t.other_small, t.one}, {t.other_small, t.small, t.one}});
    }
    const std::vector<bool> meets = small_meet_first(turned);
    for (std::size_t i = 0; i < turned.size(); i += 3) {
      if (!meets[i] || meets[i + 1] || meets[i + 2]) {
        return refuse_triple(turned[i], int{meets[i]} + int{meets[i + 1]} + int{meets[i + 2]});
      }
    }
    return true;
  }

  /// The first of these trees that all its triples confirm. Some triples of each, all in one batch,
  /// leave few to be asked about in full.
  std::optional<SumTree> first_confirmed(std::span<const SumTree> likely) {
    std::vector<const SumTree*> trees;
    std::vector<Triple> samples;
    for (const SumTree& tree : likely) {
      if (tree.terms() != length_ || tree.widest() > 2) {
        continue;
      }
      const std::vector<Triple> triples = fixing_triples(tree);
      for (std::size_t i = 0; i < kSamples && !triples.empty(); ++i) {
        samples.push_back(triples[std::min(i, triples.size() - 1)]);
        samples.push_back(triples[i * triples.size() / kSamples]);
      }
      trees.push_back(&tree);
    }
    const std::vector<bool> meets = small_meet_first(samples);
    const std::size_t each = trees.empty() ? 0 : samples.size() / trees.size();
    for (std::size_t i = 0; i < trees.size(); ++i) {
      const auto first = meets.begin() + static_cast<std::ptrdiff_t>(i * each);
      if (std::find(first, first + static_cast<std::ptrdiff_t>(each), false) ==
              first + static_cast<std::ptrdiff_t>(each) &&
          confirm(*trees[i])) {
        return *trees[i];
      }
    }
    return std::nullopt;
  }

  bool refuse_triple(const Triple& triple, int pairs) {
    const std::string terms =
        fmt::format("{}, {} and {}", triple.one, triple.small, triple.other_small);
    if (pairs == 0) {
      return refuse(
          fmt::format("of the terms {} no two meet before the third: an adder of several "
                      "terms, or not a sum",
                      terms));
    }
    if (pairs == 3) {
      return refuse(
          fmt::format("of the terms {} any two meet before the third: an adder of several "
                      "terms that rounds once, or more than float32",
                      terms));
    }
    return refuse(
        fmt::format("the answers about the terms {} contradict others: {}", terms, kNoFixedOrder));
  }

  const ExceedsOne& exceeds_one_;
  std::size_t length_;
  Batching batching_;
  TreeBuilder builder_;
  SplitMix64 random_{2};
  ProbeCount count_;
  std::vector<Trio> sets_;
  std::vector<Node> stands_for_;
  std::string why_not_;
};

}  // namespace

Revealed reveal_nonnegative(const ExceedsOne& exceeds_one, std::size_t length,
                            const Batching& batching, std::span<const SumTree> likely) {
  check_revealable(length);
  return NonnegativeReveal(exceeds_one, length, batching).reveal(likely);
}

}  // namespace drift
