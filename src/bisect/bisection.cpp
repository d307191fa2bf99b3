#include "driftaudit/bisection.hpp"

#include <algorithm>
#include <bit>

namespace drift {
namespace {

/// What is known so far, and the asking of what isn't.
class Search {
 public:
  Search(Prober& prober, std::size_t count) : prober_(prober), known_(count) {}

  std::size_t last() const { return known_.size() - 1; }

  void ask_in_full() {
    in_full_ = true;
    prober_.ask_in_full();
  }

  /// Asks the part that separates the first candidate from `other`, unless that was the last part.
  void ask_in_part(std::size_t other) {
    in_full_ = false;
    prober_.ask_in_part(0, other);
    if (separated_ != other) {
      separated_ = other;
      for (Known& candidate : known_) {
        candidate.has_part = false;
      }
    }
  }

  /// Whether the candidate has answered the present question, which it is asked if it hasn't.
  bool answers(std::size_t candidate, std::size_t left) {
    Known& known = known_[candidate];
    if (!known.skipped && !is_known(candidate)) {
      prober_.expect(left);
      ++probes_;
      known.skipped = !prober_.probe(candidate);
      known.asked = true;
      (in_full_ ? known.has_full : known.has_part) = !known.skipped;
    }
    return !known.skipped;
  }

  void require_end(std::size_t candidate, std::size_t left) {
    if (!answers(candidate, left)) {
      const Error& why = prober_.why_skipped(candidate);
      throw Error(why.status(), why.what(),
                  "both ends of the range have to run" +
                      (why.hint().empty() ? std::string() : "; " + why.hint()));
    }
  }

  bool equals_first(std::size_t candidate) {
    const bool equal = candidate == 0 || prober_.same(0, candidate);
    known_[candidate].equals_first = equal;
    return equal;
  }

  /// Candidates strictly between the two that may yet answer the present question.
  std::vector<std::size_t> open_between(std::size_t low, std::size_t high) const {
    std::vector<std::size_t> open;
    for (std::size_t i = low + 1; i < high; ++i) {
      if (!known_[i].skipped && !is_known(i)) {
        open.push_back(i);
      }
    }
    return open;
  }

  /// Those that aren't skipped, whether they have answered or not.
  std::size_t runnable_between(std::size_t low, std::size_t high) const {
    return static_cast<std::size_t>(
        std::count_if(known_.begin() + static_cast<std::ptrdiff_t>(low) + 1,
                      known_.begin() + static_cast<std::ptrdiff_t>(high),
                      [](const Known& candidate) { return !candidate.skipped; }));
  }

  /// The known candidates nearest to each other that the present question separates, from those
  /// known to lie in [low, high].
  void tighten(std::size_t& low, std::size_t& high) {
    const std::size_t top = high;
    for (std::size_t i = low + 1; i < top; ++i) {
      if (!known_[i].skipped && is_known(i)) {
        if (!equals_first(i)) {
          high = i;
          return;
        }
        low = i;
      }
    }
  }

  Boundary boundary(std::size_t before, std::size_t after) const {
    Boundary found{before, after, {}};
    for (std::size_t i = before + 1; i < after; ++i) {
      found.between.push_back(i);
    }
    return found;
  }

  void assume(std::size_t candidate) { known_[candidate].assumed = true; }

  /// The result but its boundaries, with the whole question as the present one.
  Bisection result() {
    ask_in_full();
    Bisection result;
    result.ends_equal = equals_first(last());
    result.probes = probes_;
    for (std::size_t i = 0; i < known_.size(); ++i) {
      if (known_[i].has_full) {
        known_[i].equals_first = equals_first(i);
        add_to_class(i, result.classes);
      }
      result.candidates.push_back({state_of(known_[i]), equality_of(known_[i])});
    }
    return result;
  }

 private:
  struct Known {
    bool skipped = false;
    bool asked = false;
    bool has_full = false;
    bool has_part = false;  ///< of the present part
    bool assumed = false;
    std::optional<bool> equals_first;  ///< by the last comparison
  };

  bool is_known(std::size_t candidate) const {
    return known_[candidate].has_full || (!in_full_ && known_[candidate].has_part);
  }

  static CandidateState state_of(const Known& known) {
    if (known.skipped) {
      return CandidateState::kSkipped;
    }
    if (known.has_full || known.asked) {
      return known.has_full ? CandidateState::kFull : CandidateState::kPart;
    }
    return known.assumed ? CandidateState::kAssumed : CandidateState::kUntested;
  }

  static std::optional<bool> equality_of(const Known& known) {
    // A part that is no longer asked was given up because it couldn't show a change: being equal in
    // it says nothing, differing in it does.
    const bool outdated = !known.has_full && !known.has_part && known.equals_first == true;
    return known.skipped || outdated ? std::nullopt : known.equals_first;
  }

  void add_to_class(std::size_t candidate, std::vector<std::vector<std::size_t>>& classes) {
    for (std::vector<std::size_t>& members : classes) {
      if (prober_.same(members.front(), candidate)) {
        members.push_back(candidate);
        return;
      }
    }
    classes.push_back({candidate});
  }

  Prober& prober_;
  std::vector<Known> known_;
  bool in_full_ = true;
  std::optional<std::size_t> separated_;  ///< from the first, by the last part that was asked
  std::size_t probes_ = 0;
};

/// Probes that halving `open` candidates takes.
std::size_t halvings(std::size_t open) { return static_cast<std::size_t>(std::bit_width(open)); }

/// Both ends in full; `others`: probes that may follow.
void ask_ends(Search& search, std::size_t others) {
  search.require_end(0, 2 + others);
  search.require_end(search.last(), 1 + others);
}

/// The search for one boundary, between a candidate that equals the first in full and one that
/// doesn't.
class Halving {
 public:
  Halving(Prober& prober, Search& search)
      : prober_(prober), search_(search), high_(search.last()) {}

  Boundary run() {
    while (search_.runnable_between(low_, high_) > 0) {
      search_.ask_in_part(high_);
      std::size_t before = low_;
      std::size_t after = high_;
      halve(before, after);
      search_.ask_in_full();
      confirm(before, after);
    }
    return search_.boundary(low_, high_);
  }

 private:
  /// Moves the two towards each other, by the part of the question, until nothing is open between.
  void halve(std::size_t& before, std::size_t& after) {
    for (;;) {
      search_.tighten(before, after);
      prober_.narrow(before, after);
      const std::vector<std::size_t> open = search_.open_between(before, after);
      if (open.empty()) {
        return;
      }
      const std::size_t confirmations = std::min<std::size_t>(
          2, (before != low_ ? 1U : 0U) + (after != high_ ? 1U : 0U) + open.size());
      search_.answers(open[open.size() / 2], halvings(open.size()) + confirmations);
    }
  }

  /// Holds the two against the whole question; what it says becomes the new bounds. When one of the
  /// two can't answer it, the bounds stay and the next round passes it over.
  void confirm(std::size_t before, std::size_t after) {
    const std::size_t of_after = after != high_ ? 1 : 0;
    if (before != low_) {
      if (!search_.answers(before, 1 + of_after)) {
        return;
      }
      if (!search_.equals_first(before)) {
        high_ = before;
        return;
      }
      low_ = before;
    }
    if (after != high_ && search_.answers(after, 1)) {
      if (search_.equals_first(after)) {
        throw trouble(prober_.label(after) + ": differs from " + prober_.label(0) +
                          " in a part of what was asked and not in the whole",
                      "it doesn't repeat itself; --threads 1 may help");
      }
      high_ = after;
    }
  }

  Prober& prober_;
  Search& search_;
  std::size_t low_ = 0;  ///< equals the first in full
  std::size_t high_;     ///< differs from it in full
};

/// The search for all boundaries.
class Exploration {
 public:
  Exploration(Prober& prober, Search& search, bool exhaustive)
      : prober_(prober),
        search_(search),
        exhaustive_(exhaustive),
        left_(search.open_between(0, search.last()).size()) {}

  std::vector<Boundary> run() {
    explore(0, search_.last());
    return std::move(boundaries_);
  }

 private:
  void explore(std::size_t low, std::size_t high) {
    prober_.narrow(low, high);
    const bool equal = prober_.same(low, high);
    const bool whole = low == 0 && high == search_.last();
    if (equal && !exhaustive_ && !whole) {
      for (const std::size_t candidate : search_.open_between(low, high)) {
        search_.assume(candidate);
        --left_;
      }
      return;
    }
    for (;;) {
      const std::vector<std::size_t> open = search_.open_between(low, high);
      if (open.empty()) {
        break;
      }
      const std::size_t middle = open[open.size() / 2];
      const bool answered = search_.answers(middle, left_--);
      if (answered) {
        explore(low, middle);
        explore(middle, high);
        return;
      }
    }
    if (!equal) {
      boundaries_.push_back(search_.boundary(low, high));
    }
  }

  Prober& prober_;
  Search& search_;
  bool exhaustive_;
  std::size_t left_;  ///< candidates that may yet be asked
  std::vector<Boundary> boundaries_;
};

}  // namespace

Bisection bisect(Prober& prober, std::size_t count) {
  Search search(prober, count);
  const std::size_t between = count - 2;
  search.ask_in_full();
  ask_ends(search, halvings(between) + std::min<std::size_t>(2, between));
  if (search.equals_first(search.last())) {
    return search.result();
  }
  const Boundary boundary = Halving(prober, search).run();
  for (const std::size_t candidate : search.open_between(0, boundary.before)) {
    search.assume(candidate);
  }
  Bisection result = search.result();
  result.boundaries = {boundary};
  return result;
}

Bisection bisect_all(Prober& prober, std::size_t count, bool exhaustive) {
  Search search(prober, count);
  search.ask_in_full();
  ask_ends(search, count - 2);
  std::vector<Boundary> boundaries = Exploration(prober, search, exhaustive).run();
  Bisection result = search.result();
  result.boundaries = std::move(boundaries);
  return result;
}

}  // namespace drift
