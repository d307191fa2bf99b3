#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace drift {

/// A rate with its uncertainty; see estimate_flip_rate() for how both come about.
struct StudyRate {
  double per_million = 0;     ///< steps of a million
  std::optional<double> low;  ///< of the 95 % interval; null: nothing to base one on
  std::optional<double> high;
};

/// What a rate of flips rests on, and how it hangs on the choice. Rates are in a million.
struct FlipBasis {
  double reach = 1;            ///< a gap counts as near up to so many times its own change
  std::uint64_t steps = 0;     ///< whose gap is
  std::optional<double> half;  ///< the rate from half as many steps; null: `reach` is 1
  std::optional<double> quarter;
  double closing = 0;  ///< the rate from changes that close a gap alone
  /// "given", or why there is none: "density", "symmetry", "few steps", "few prompts".
  std::string interval = "given";
};

/// How often a token would flip between two runs.
struct FlipRate {
  std::uint64_t steps = 0;       ///< compared
  std::uint64_t changed = 0;     ///< whose gap isn't the same number
  std::uint64_t flips_seen = 0;  ///< steps whose highest token is another
  double mean_abs_change = 0;    ///< of the gap, over all steps
  std::uint64_t near = 0;        ///< steps with the smallest gaps, which tell the density
  double bandwidth = 0;          ///< the largest gap among them
  double density = 0;            ///< of gaps near 0, a unit of logit
  StudyRate flips;
  std::optional<FlipBasis> basis;  ///< null: no gap changed, or of a tool before it was recorded
};

/// Two conditions on the prompts, in one mode, compared on all logits.
struct StudyPair {
  /// "upgrade": the first build and the last; "kernels": the last, generic kernels; "generic
  /// upgrade": both on generic kernels; "threads": the last, one thread.
  std::string what;
  std::uint32_t a = 0;  ///< index into the report's builds
  std::uint32_t b = 0;
  std::string mode;
  bool cache = true;
  std::uint64_t prompts = 0;
  std::uint64_t prompts_diverged = 0;  ///< with a changed token
  std::uint64_t steps = 0;             ///< compared
  std::uint64_t steps_changed = 0;
  std::uint64_t first_steps_changed = 0;
  double max_first_step_diff = 0;  ///< largest difference of a logit at a first step
  double max_abs_logit_diff = 0;   ///< at any compared step
};

/// One build of the range, asked twice.
struct StudyBuild {
  std::string label;
  std::optional<std::uint32_t> ran_as;  ///< index into the report's builds; null: it was left out
  std::string reason;                   ///< why it was
  std::optional<bool> repeatable;
  // Against the nearest earlier build that ran; null for the first.
  std::optional<bool> same_bits;
  std::uint64_t steps = 0;  ///< compared
  std::uint64_t steps_changed = 0;
  std::uint64_t runs_diverged = 0;  ///< prompts in a mode with a changed token
};

/// One run over the openings.
struct StudyRun {
  /// "first", "last", "last again", "last, 1 thread", "first, generic", "last, generic".
  std::string name;
  std::uint32_t ran_as = 0;  ///< index into the report's builds
  std::uint32_t set = 0;     ///< runs of the same number have the same gaps, all of them
  std::uint64_t steps = 0;
  double tokens_per_second = 0;
};

/// Where a gap was; `run` is an index into the study's runs.
struct StudyGap {
  double value = 0;
  std::uint32_t prompt = 0;  ///< from 1
  std::uint32_t step = 0;    ///< from 1
  std::uint32_t run = 0;
};

/// Where two runs' gaps are farthest apart.
struct StudyGapChange {
  double value = 0;          ///< absolute
  std::uint32_t prompt = 0;  ///< from 1
  std::uint32_t step = 0;    ///< from 1
  std::uint32_t a = 0;       ///< index into the study's runs
  std::uint32_t b = 0;
};

/// Gaps of steps `first` to `last`, counted by size.
struct StudyBand {
  std::uint32_t first = 0;            ///< from 1
  std::uint32_t last = 0;             ///< with it
  std::vector<std::uint64_t> counts;  ///< one more than there are edges
};

/// Gaps of the first run by size and position. Bins are [edge, next edge); the first takes all
/// below, the last all above.
struct StudyHistogram {
  std::vector<double> edges;  ///< rising
  std::vector<StudyBand> bands;
};

/// The gaps of all runs over the openings.
struct StudyGaps {
  std::string openings;  ///< the set's name
  std::uint64_t prompts = 0;
  std::uint32_t tokens = 0;  ///< asked for, of each prompt
  std::vector<StudyRun> runs;
  std::uint32_t distinct_sets = 0;
  bool continuations_equal = true;  ///< all tokens of all runs
  std::optional<StudyGap> smallest;
  std::string smallest_text;  ///< of its prompt
  std::optional<StudyGapChange> largest_change;
  std::optional<double> margin;        ///< smallest ÷ largest change; null where nothing changed
  std::uint64_t changes_unknown = 0;   ///< pairs of steps whose change the kept logits don't tell
  std::uint32_t end_steps = 0;         ///< how many the two medians below are over, each
  std::optional<double> median_first;  ///< of the first run's first steps
  std::optional<double> median_last;   ///< of its last ones; null: no prompt got there
  double loop_share = 0;               ///< steps of the first run that repeat what went before
  StudyHistogram histogram;
};

/// The chance of a flip between two runs over the openings, which are indices into its runs.
struct StudyFlips {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  FlipRate rate;
};

/// The first build and the last on sampled text, the last one forced along the first one's tokens.
struct StudySampled {
  std::uint64_t prompts = 0;
  std::uint64_t steps = 0;
  double loop_share = 0;
  std::uint64_t changes_unknown = 0;
  FlipRate argmax;                  ///< of the highest token
  double mean_total_variation = 0;  ///< between the two distributions that are drawn from
  StudyRate draws;                  ///< the same draw picks another token
  std::uint64_t same_draws = 0;     ///< steps at which both sides had the same random draw
  std::uint64_t draws_changed = 0;  ///< those at which it picked another token
};

/// What a study adds to a report.
struct StudyRecord {
  bool quick = false;
  std::vector<StudyPair> pairs;
  std::vector<StudyBuild> range;  ///< builds, first to last
  StudyGaps gaps;
  std::vector<StudyFlips> flips;
  std::optional<StudySampled> sampled;  ///< only where it was asked for
};

}  // namespace drift
