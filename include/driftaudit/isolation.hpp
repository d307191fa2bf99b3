#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/localize_record.hpp"

#include "runner/tensor_data.hpp"
#include "runner/wire.hpp"

namespace drift {

/// What an operation's inputs look like when it works on rows of a given length.
enum class RowFamily {
  kUnary,             ///< x [rows, length]
  kBinary,            ///< x, y [rows, length]
  kNorm,              ///< x [rows, length], weight [length], bias [length]
  kAddmm,             ///< bias [columns], x [rows, length], w [length, columns]
  kLinear,            ///< x [rows, length], w [columns, length]
  kMatmul,            ///< x [1, 1, rows, length], w [1, 1, length, columns]
  kMatmulTransposed,  ///< the same, w as the transpose of [columns, length]
  /// queries [rows, 1, 1, columns], keys and values [rows, 1, length, columns], the same for all
  /// rows: as one token attends to `length` of them
  kAttention,
  kMoves,  ///< computes nothing
  kUnknown
};

/// The function behind a kind of operation.
struct OperationFunction {
  std::string name;  ///< "softmax"
  RowFamily family = RowFamily::kUnknown;
};

/// Of "attn.softmax", "mlp.fc", …: see operation_kind(). One that isn't known is a function of its
/// own. `scale`: the job's, by which some are other functions.
OperationFunction operation_function(const std::string& kind,
                                     wire::ScoreScale scale = wire::ScoreScale::kDivide);

/// One side's operation. Results come in the order of the calls.
class AskedKernel {
 public:
  virtual ~AskedKernel() = default;
  virtual void call(std::vector<wire::TensorData> inputs) = 0;
  virtual wire::TensorData result() = 0;
};

/// Both sides' operation under the same conditions; not owned.
struct KernelPair {
  AskedKernel* a = nullptr;
  AskedKernel* b = nullptr;
};

/// What is tried. The first of each list holds while the others are varied.
struct SweepPlan {
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint64_t> rows{64, 1, 2, 7};
  std::vector<std::uint64_t> alignments{0, 4, 16, 32};  ///< addresses modulo 64
  std::uint64_t batches = 4;                            ///< calls of rows[0] different rows
  std::uint64_t columns = 64;                           ///< of products of matrices
};

/// Lengths 1 to 64 and powers of two, one less and one more, to 4097.
SweepPlan full_sweep();

/// The thread counts of a sweep's two pairs of kernels.
struct SweepThreads {
  std::uint64_t base = 1;
  std::uint64_t other = 2;
};

/// Sweeps an operation over random rows of every length of the plan, the same on both sides:
/// `batches` calls of different rows, then the first call's rows once more in calls of fewer rows,
/// at other addresses and, with `threaded`, on other threads. A side whose own bits of a row then
/// move hangs on what was varied. Attention is asked for the rows as heads of one request, too, and
/// as a prefill of `length` queries that don't see later keys, in which only the sides are
/// compared. Where a side doesn't repeat itself there is no sweep. Memory: a call's inputs and
/// outputs.
IsolatedOperation sweep(const std::string& operation, const OperationFunction& function,
                        KernelPair base, std::optional<KernelPair> threaded, SweepThreads threads,
                        const SweepPlan& plan);

/// Ranges over `tried` (ascending) that take in those that are set.
std::vector<LengthRange> ranges_of(const std::vector<std::uint64_t>& tried,
                                   const std::vector<bool>& set);

}  // namespace drift
