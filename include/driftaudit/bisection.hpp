#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/error.hpp"

namespace drift {

/// What a bisection asks of its candidates, which are numbered from 0 in their order. There is a
/// whole question (all prompts, all steps), and parts of it that are cheaper to ask. A candidate
/// that has answered the whole one answers every part for nothing. A candidate that differs from
/// another in a part differs from it in the whole; not the other way round.
class Prober {
 public:
  virtual ~Prober() = default;

  /// What messages call the candidate.
  virtual std::string label(std::size_t candidate) const = 0;
  /// Makes the candidate's answer to the present question available. False: it can't be had, now or
  /// later in this bisection, and the candidate is skipped.
  virtual bool probe(std::size_t candidate) = 0;
  /// Why probe() said false.
  virtual const Error& why_skipped(std::size_t candidate) const = 0;
  /// Whether the answers of two probed candidates to the present question are equal.
  virtual bool same(std::size_t a, std::size_t b) = 0;
  /// The whole question is the present one. It is at the start.
  virtual void ask_in_full() = 0;
  /// The cheapest part of the question in which two candidates, whose whole answers differ, still
  /// differ is the present one.
  virtual void ask_in_part(std::size_t a, std::size_t b) = 0;
  /// Comes before each probe: at most `left` remain, this one with them. Each candidate that has to
  /// be skipped may add one, and so may each change that a part of the question can't show.
  virtual void expect(std::size_t left) = 0;
  /// From here on nothing outside [low, high] is probed, but for what confirms these two.
  virtual void narrow(std::size_t low, std::size_t high) = 0;
};

/// What a bisection came to know of one candidate.
enum class CandidateState {
  kUntested,  ///< nothing was asked, and nothing follows for it
  kAssumed,   ///< not asked: what lies around it is equal
  kPart,      ///< has answered a part of the question
  kFull,      ///< has answered the whole question
  kSkipped,   ///< couldn't be fetched, compiled or run
};

struct CandidateOutcome {
  CandidateState state = CandidateState::kUntested;
  /// Equal to the first candidate in what was asked last; null where that isn't known.
  std::optional<bool> equals_first;
};

/// Two candidates that answered the whole question differently.
struct Boundary {
  std::size_t before = 0;
  std::size_t after = 0;
  /// Candidates between them, all skipped. With none the change is proved to have come with
  /// `after`; else with one of these or `after`.
  std::vector<std::size_t> between;
  bool proved() const { return between.empty(); }
};

struct Bisection {
  bool ends_equal = false;  ///< the first candidate and the last, in full
  std::vector<CandidateOutcome> candidates;
  std::vector<Boundary> boundaries;  ///< in order
  /// Candidates of equal whole answers, those that answered the whole question. Each stands in the
  /// first class to whose first member it is equal: a measure with a tolerance isn't transitive.
  std::vector<std::vector<std::size_t>> classes;
  std::size_t probes = 0;  ///< answers that were asked for, skipped candidates among them
};

/// Finds where candidates cease to be equal to the first one: tests both ends in full, then halves
/// the range with the cheapest part of the question that separates them, then confirms the boundary
/// in full, and goes on below it when that part didn't show an earlier change. Candidates that are
/// skipped are passed over for their neighbours. Where candidates change to and fro, it finds one
/// of the boundaries; candidates below `before` that weren't asked are assumed to equal the first.
/// `count` is at least 2. Errors: those of the Prober; the Prober's reason when an end is skipped;
/// (trouble) a candidate that differs in part and not in the whole, so that it doesn't repeat
/// itself.
Bisection bisect(Prober& prober, std::size_t count);

/// Finds every boundary: asks the whole question, and goes on into each half whose ends differ.
/// Candidates between equal ends are assumed to equal them, unless `exhaustive`; but the whole
/// range is halved once even so. Errors as above.
Bisection bisect_all(Prober& prober, std::size_t count, bool exhaustive);

}  // namespace drift
