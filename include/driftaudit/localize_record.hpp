#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace drift {

/// How far B's output on A's inputs lies from A's: what the operation changes by itself.
struct OwnChange {
  double max_abs_diff = 0;
  std::uint64_t max_ulp = 0;
};

/// One operation of a forward pass on both sides, and A's replayed under B.
struct LocalizedOperation {
  std::string name;                  ///< "block.3.attn.softmax"
  std::vector<std::uint64_t> shape;  ///< of its output
  bool same = true;                  ///< its output in B's own pass has A's bits
  bool inputs_same = true;           ///< so have its inputs
  /// Whether B gives other bits on A's inputs, laid out as they were. Null: not replayable, A on
  /// its own inputs once more doesn't give its bits.
  std::optional<bool> own;
  std::optional<OwnChange> own_change;  ///< null: none, or of a tool before it was recorded
  // B's output in its own pass against A's, so with what its inputs carry on.
  double max_abs_diff = 0;
  double mean_abs_diff = 0;
  std::uint64_t max_ulp = 0;
  double mean_ulp = 0;
  std::uint64_t non_finite = 0;  ///< NaN and infinities, both sides
};

/// What comes out of a stage of the network: the figures of its last operation.
struct GrowthPoint {
  std::string stage;      ///< "embeddings", "block 0", "ln_f"
  std::string operation;  ///< "block.0.mlp.residual"
  double max_abs_diff = 0;
  double mean_abs_diff = 0;
  std::uint64_t max_ulp = 0;
  double mean_ulp = 0;
};

/// Keys or values of earlier tokens that differ where an operation reads them from the KV cache.
struct CacheReentry {
  std::string operation;  ///< "block.1.attn.keys"
  double max_abs_diff = 0;
  std::uint64_t max_ulp = 0;
};

/// Row lengths from `first` to `last`, of those that were tried.
struct LengthRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  bool operator==(const LengthRange&) const = default;
};

/// Something that was varied while the rows stayed the same.
struct IsolationCondition {
  std::string condition;  ///< "rows" of one call, "alignment" in bytes, "threads"
  std::vector<std::uint64_t> tried;
  /// Lengths at which a side's own bits of a row hang on it.
  std::vector<LengthRange> moves_a;
  std::vector<LengthRange> moves_b;
};

/// One operation by itself, on random rows.
struct IsolatedOperation {
  std::string operation;  ///< the one that was asked: "block.0.attn.softmax"
  std::string function;   ///< "softmax", "layer_norm", "addmm", …
  std::string rows;       ///< what a row, and so its length, is
  std::string why_not;    ///< without a sweep: the reason; what follows is then empty
  std::vector<LengthRange> lengths_tried;  ///< ranges without a gap
  std::vector<LengthRange> lengths_same;   ///< under every condition that was tried
  std::vector<LengthRange> lengths_differ;
  std::uint64_t rows_tried = 0;   ///< random rows, each counted once
  std::uint64_t rows_differ = 0;  ///< of them, under the first condition of each kind
  /// rows_differ of the rows of lengths_differ; null without any.
  std::optional<double> share_differ;
  std::vector<IsolationCondition> conditions;
};

/// Where to read on. Likely: nothing of it is proved.
struct SourceHint {
  std::string function;              ///< "softmax"
  std::string note;                  ///< "the BLAS does the work: MKL 2020.0.0"; or empty
  std::vector<std::string> files;    ///< from the root of PyTorch's sources
  std::vector<std::string> symbols;  ///< functions and types to look for in them
};

/// What localizing adds to a report.
struct LocalizeRecord {
  std::uint32_t prompt = 0;  ///< from 1
  std::uint32_t step = 0;    ///< from 1
  bool cached = false;       ///< the step read keys and values of earlier steps from a KV cache
  std::optional<std::uint64_t> memory_budget;   ///< bytes, where one was set
  std::optional<std::string> first_difference;  ///< in order of execution, by its output
  std::vector<std::string> own;                 ///< operations that changed by themselves
  std::vector<LocalizedOperation> operations;   ///< in order of execution
  std::vector<GrowthPoint> growth;              ///< in order of execution
  std::vector<CacheReentry> reentries;          ///< in order of execution
  std::vector<IsolatedOperation> isolation;     ///< one a function
  std::vector<SourceHint> sources;
  std::string compare;  ///< address of the changes between both builds' commits, or empty
};

/// "attn.softmax" of "block.3.attn.softmax", "ln_f" of itself.
std::string operation_kind(const std::string& name);

/// "block 3" of "block.3.attn.softmax", "embeddings" of "embed.sum", "ln_f" of itself.
std::string operation_stage(const std::string& name);

}  // namespace drift
