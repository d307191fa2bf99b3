#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "driftaudit/sum_tree.hpp"

namespace drift {

/// A kernel that reduces each row of a batch: rows × length float32 in, row-major; out one float32
/// a row (a sum), or a row of `length` (softmax).
using RowKernel = std::function<std::vector<float>(std::size_t rows, std::size_t length,
                                                   std::span<const float> values)>;

/// Dot products: row r of a (rows × length) with row r of b, one float32 a row.
using DotKernel = std::function<std::vector<float>(
    std::size_t rows, std::size_t length, std::span<const float> a, std::span<const float> b)>;

/// For rows of wanted terms (rows × length), none negative, one of them a 1 at `ones[row]` that no
/// other term exceeds: whether the kernel's sum of each row exceeded 1.
using ExceedsOne = std::function<std::vector<bool>(std::size_t rows, std::size_t length,
                                                   std::span<const float> terms,
                                                   std::span<const std::size_t> ones)>;

/// How probes, a row each, are put into calls.
struct Batching {
  std::size_t max_values = std::size_t{1} << 22;  ///< floats of one call's input, at least a row's
  /// Rows of every call, whatever is asked (the last row is repeated where probes run out), for
  /// kernels whose order hangs on the number of rows; 0: as many as there are, up to max_values.
  std::size_t rows = 0;
};

/// What probing a kernel at one length gave.
struct Revealed {
  std::optional<SumTree> tree;  ///< consistent with every answer; proof is another matter
  std::string why_not;          ///< without a tree: why, one lower-case line
  std::size_t probes = 0;       ///< rows that the kernel was asked about
  std::size_t calls = 0;
};

/// The longest sum that can be revealed: beyond it a float32 can't count ones.
inline constexpr std::size_t kLongestRevealed = std::size_t{1} << 24;

/// The order of a sum whose terms may have either sign, after FPRev ("Revealing Floating-Point
/// Accumulation Orders", USENIX ATC 2025). `sum` must give the sum of each row's terms.
///
/// A probe puts 2^100 at i, −2^100 at j and ones elsewhere. Ones that are added to either mask
/// before the two meet are absorbed; those that survive count the terms outside the smallest sum
/// that holds both. A pivot is probed against all others of its set, which splits the set along the
/// pivot's way to the root; the parts are then probed alike, all sets of a round in one batch.
/// Pivots are drawn from a fixed seed, so that n terms take about n log₂ n probes at most, and
/// serial or vertical sums some 3 n. As many answers as there are terms are checked against the
/// finished tree.
///
/// An addition of several terms that drops what its largest term doesn't reach is found as a
/// multi-term addition. One that rounds once, sums that cancel otherwise, and kernels that aren't
/// sums or don't repeat themselves are not explained. Errors (usage): length 0 or above
/// kLongestRevealed; (trouble) the kernel gives another number of values.
Revealed reveal_signed(const RowKernel& sum, std::size_t length, const Batching& batching = {});

/// The order of a sum whose terms can't be negative, from rooted triples.
///
/// A probe puts 1 at one term, s = 0.75 × 2^-24 at two others and 0 elsewhere. A lone s is absorbed
/// by the 1; 2 s is over half a unit in the last place of 1. So the sum exceeds 1 exactly when the
/// two small terms meet before they meet the 1. Any s strictly between 2^-25 and 2^-24 does, so
/// terms may be off by a quarter. Two random terms p, q split a set in three (those that meet p
/// first, q first, or the sum of both), the parts likewise, all sets of a round in one batch: some
/// 3 n log₂ n probes. Before that, each term's 1 is tried against one s (must not exceed) and
/// against 2 s (must); after it, for each addition below the root one triple that only that place
/// in the tree answers so, in all its three turns: those alone admit no other binary tree.
///
/// Those triples also confirm a guess: where one of the `likely` trees is right, it takes some 5 n
/// probes and few calls. A wrong guess costs 32.
///
/// Additions of several terms, and kernels that aren't float32 sums or don't repeat themselves, are
/// not explained. Errors: as above.
Revealed reveal_nonnegative(const ExceedsOne& exceeds_one, std::size_t length,
                            const Batching& batching = {}, std::span<const SumTree> likely = {});

/// Orders that kernels often have: serial, pairwise, 4 to 64 lanes with a serial fold or one that
/// halves.
std::vector<SumTree> likely_orders(std::size_t terms);

/// The order of a dot product's sum, and which products enter it unrounded: reveals the order with
/// b = 1, then for each term sets its product, which float32 can't hold, against the negative of
/// its rounded value in the term's sibling: what survives is the product's rounding, or nothing.
Revealed reveal_dot(const DotKernel& dot, std::size_t length, const Batching& batching = {});

/// Sums from a kernel that gives means: times the length, and where that is within the mean's
/// rounding of a whole number, that number.
RowKernel sums_of_means(RowKernel mean);

/// Answers from a kernel that gives sums.
ExceedsOne sums_exceed_one(RowKernel sum);

/// Answers from softmax, which sums exp(x − max): x is the logarithm of the term wanted, −1000 for
/// 0.
///
/// The 1 is the maximum, x = 0; exp(0) must be 1 exactly. s is exp(−16.92321), which any
/// exponential within a quarter gives well. −1000 rather than −inf, since inf − inf is NaN and some
/// exponentials clamp; a clamp at 2^-126 is far below s. The 1's output is 1 / sum: 1 exactly for a
/// sum of 1, and for a sum of 1 + 2^-23 or more at most 1 − 2^-23, which float32 holds, so it is
/// below 1 exactly when the sum exceeded 1. Where exp(0) or the reciprocal is off, the tries before
/// the triples fail.
ExceedsOne softmax_exceeds_one(RowKernel softmax);

/// Whether a kernel that gives each row's mean scales one sum, or scales as it goes.
struct MeanKind {
  bool scaled_sum = false;    ///< a lone 1 gives one and the same mean at every place
  bool running_mean = false;  ///< means of it differ by its place, all within 2^-16 of 1 / length
  std::string evidence;       ///< what was seen, one lower-case line
};

/// Looks at the means of rows with a lone 1 at each place. A sum of such a row is 1 in any order,
/// so a scaled sum gives equal bits; running moments (layer_norm's) multiply by 1 / k as terms come
/// in and round differently by place. Errors (usage): length below 3; (trouble) as above.
MeanKind mean_kind(const RowKernel& mean, std::size_t length, const Batching& batching = {});

}  // namespace drift
