#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driftaudit/reveal.hpp"
#include "driftaudit/sum_tree.hpp"

namespace drift {

/// How a tree, evaluated in plain float32, fared against the kernel on random rows.
struct Proof {
  std::string exponential;        ///< softmax: the exponential that replayed most rows
  std::string finish;             ///< what is done with the sum, likewise
  std::uint64_t rows = 0;         ///< rows tried
  std::uint64_t proved_rows = 0;  ///< rows of which every output has the same bits

  /// All rows: less is no proof, however close.
  bool proved() const { return rows > 0 && proved_rows == rows; }
};

struct ProofOptions {
  std::size_t rows = 1000;
  std::uint64_t seed = 1;
  Batching batching;  ///< as when the tree was revealed
};

/// What a kernel makes of its sum.
struct SumFinish {
  std::string name;
  std::function<float(float sum, std::size_t length)> apply;
};

/// The sum as it is.
const std::vector<SumFinish>& sum_finishes();
/// Divided by the length, or times its reciprocal.
const std::vector<SumFinish>& mean_finishes();

/// An exponential as some kernel has it: `apply` gets x − max (rows × length, row-major, none above
/// 0) and gives as many values. Rows are whole, since a kernel's last elements may go another way.
struct Exponential {
  std::string name;
  RowKernel apply;
};

/// What softmax makes of an exponential and the sum of its row's.
struct SoftmaxFinish {
  std::string name;
  std::function<float(float term, float sum)> apply;
};

/// Times the sum's reciprocal, or divided by the sum.
const std::vector<SoftmaxFinish>& softmax_finishes();

/// The finish that replays most rows; the first of those that do alike. Terms have either sign and
/// 2^-4 to 2^4 as scale. Errors (usage): no candidates, no rows; (trouble) the kernel, or an
/// exponential, gives another number of values.
Proof prove_sum(const RowKernel& sum, const SumTree& tree, std::span<const SumFinish> finishes,
                const ProofOptions& options = {});

/// A dot product, fused where the tree says so.
Proof prove_dot(const DotKernel& dot, const SumTree& tree, const ProofOptions& options = {});

/// The exponential and the finish that replay most rows. Inputs are from −4 to 4.
Proof prove_softmax(const RowKernel& softmax, const SumTree& tree,
                    std::span<const Exponential> exponentials,
                    std::span<const SoftmaxFinish> finishes, const ProofOptions& options = {});

/// One kernel's order at one length, as reports carry it.
struct RevealedOrder {
  std::uint32_t build = 0;  ///< index into the report's builds
  std::string operation;
  std::uint64_t length = 0;
  /// "proved"; "consistent" (it fits every probe, but doesn't replay every row: no answer); "not a
  /// sum" (it was seen to be something else); or "not explained".
  std::string status;
  std::string tree;     ///< as `tree_text`; empty without one
  std::string fold;     ///< in words, as `order_words`; likewise
  std::string why_not;  ///< without a tree: why; one lower-case line
  std::string note;     ///< what else was seen, one lower-case line, or empty
  std::uint64_t probes = 0;
  Proof proof;
};

/// From what probing gave; `proof` is of its tree, and isn't read without one. `lanes`: as for
/// `order_words`. Its build is for the caller to set.
RevealedOrder revealed_order(std::string operation, std::size_t length, const Revealed& revealed,
                             const Proof& proof, std::size_t lanes = 0);

}  // namespace drift
