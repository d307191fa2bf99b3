#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/rescore_record.hpp"

namespace drift {

/// A request of a cell with tokens whose log-probability a prefill doesn't confirm.
struct SweepFailure {
  std::string mode;
  std::uint32_t prompt = 0;      ///< from 1
  std::uint32_t first_step = 0;  ///< from 1
  std::uint64_t outliers = 0;
  std::optional<std::uint32_t> step_period;  ///< steps between outliers, where they are regular
  std::optional<std::uint32_t> answers;      ///< the prompt that its tokens belong to instead
};

/// What a cell's answers gave when they were scored again: see RescoreRecord.
struct SweepRescore {
  std::uint64_t tokens = 0;
  std::uint64_t outliers = 0;
  double limit = 0;   ///< an outlier has |Δ| above it
  double median = 0;  ///< of |Δ|, nats
  double max = 0;
  std::vector<SweepFailure> failing;
  std::optional<RescorePeriod> request_period;  ///< where every n-th request fails
};

/// One build under one setting of all knobs, run twice.
struct SweepCell {
  std::string build;                         ///< its label
  std::map<std::string, std::string> knobs;  ///< every knob's value; a variable's empty one: unset
  /// "ran": twice, alike; "nondeterministic": twice, and they differ; "not_honoured": alike, but a
  /// library didn't follow a variable that is a knob; "failed": not twice.
  std::string state;
  std::optional<std::string> digest;         ///< over all that it answered; where it ran alike
  std::optional<bool> repeatable;            ///< null: it failed
  std::optional<std::uint32_t> class_index;  ///< into classes; only of "ran"
  std::optional<std::uint32_t> ran_as;       ///< into the report's builds: what the runner said
  std::string reason;  ///< why it failed, where its two runs part, or what a library says
  std::vector<std::string> reports;     ///< kept ones: names in the folder asked for
  std::optional<SweepRescore> rescore;  ///< of the first run, where it was asked for
};

/// Cells of equal bits.
struct SweepClass {
  std::string digest;
  std::vector<std::uint32_t> cells;  ///< indices, rising
};

/// The two cells of a pair: indices, the first one less.
struct SweepPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

/// A token that isn't the same in two cells, the first of its prompt.
struct SweepTokenChange {
  SweepPair cells;
  std::string mode;
  std::uint32_t prompt = 0;  ///< from 1
  std::uint32_t step = 0;    ///< from 1
  std::int32_t before = -1;  ///< in the first cell
  std::int32_t after = -1;
};

/// What a knob did to the requests that fail.
struct SweepKnobFailures {
  std::uint64_t pairs = 0;         ///< of cells that were rescored
  std::uint64_t pairs_moved = 0;   ///< those in which other requests fail, or from other steps on
  std::optional<SweepPair> first;  ///< the first of them
};

/// Pairs of cells of equal bits in which a knob had nothing to act on.
struct SweepIdle {
  std::uint64_t pairs = 0;
  std::string why;  ///< of the first: "no mode samples"
};

/// What a knob did, by the pairs of cells that differ in it alone and that both repeat themselves.
struct SweepKnob {
  std::string name;                 ///< "build" where several builds were swept
  std::vector<std::string> values;  ///< the base's first
  std::optional<bool> moves_bits;   ///< some pair differs; null: there was no pair
  std::optional<bool> moves_tokens;
  std::uint64_t pairs = 0;
  std::uint64_t pairs_bits = 0;        ///< those whose bits differ
  std::uint64_t pairs_tokens = 0;      ///< those whose tokens differ
  std::optional<SweepPair> differing;  ///< the first pair whose bits differ
  /// Pairs in which ATen or the BLAS named other kernels (BuildRecord::cpu_capability, blas,
  /// blas_dispatch), and the first of them; null without pairs, and in reports of before.
  std::optional<std::uint64_t> pairs_kernels;
  std::optional<SweepPair> other_kernels;
  /// The earliest over all pairs, by step and then by prompt.
  std::optional<SweepTokenChange> first_token_change;
  std::optional<SweepKnobFailures> failures;  ///< where cells were rescored
  std::optional<SweepIdle> idle;              ///< pairs that aren't among `pairs`
  /// In reports of before, what follows "known to"; else empty.
  std::string known;
  /// What isn't from this sweep: what a manual says of the knob, by its name, and what was seen on
  /// which processor.
  std::vector<std::string> notes;
};

/// What a sweep adds to a report.
struct SweepRecord {
  bool one_at_a_time = false;
  std::vector<SweepCell> cells;
  std::vector<SweepClass> classes;
  std::vector<SweepKnob> knobs;
};

}  // namespace drift
