#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/audit.hpp"
#include "driftaudit/localize_record.hpp"
#include "driftaudit/replay.hpp"

namespace drift {

/// Which forward pass is localized.
struct LocalizeRequest {
  AuditRequest audit;  ///< two sides, none saved, and one mode, greedy or sample
  /// From 1. Without it: the prompt whose logits change at the earliest step, the first of several;
  /// prompt 1 where none do.
  std::optional<std::uint32_t> prompt;
  /// From 1. Without it: the first at which the prompt's logits change; 1 where none do.
  std::optional<std::uint32_t> step;
  /// Bytes that the driver may take for recorded tensors.
  std::optional<std::uint64_t> memory;
  bool isolation = true;
};

/// Finds where a forward pass changes. A short audit finds prompt and step and, for later steps,
/// A's tokens, which both sides are given; a replay then tells own changes from inherited ones, and
/// each function that changed by itself is swept over random rows. The report is of kind
/// "localize" and keeps the prompt's runs up to the step.
///
/// Errors (usage): no such prompt, A's run ends before the step, an operation needs more memory
/// than the budget; (trouble) a runner failed, the sides' passes have other operations.
Report run_localize(const LocalizeRequest& request, const Model& model, Progress& progress);

/// What a replay says of one operation.
LocalizedOperation localized(const ReplayedOperation& replayed);

/// The change that an operation of the cache reads from it; none where it reads none, or it is the
/// same.
std::optional<CacheReentry> cache_reentry(const ReplayedOperation& replayed);

/// First difference, own operations and growth, from operations in order of execution.
void summarize(LocalizeRecord& record);

/// Bytes that the driver takes for an operation's tensors while it is replayed, at most.
std::uint64_t replay_bytes(const wire::OperationRecord& operation);

/// Error (usage) where operations need more than `budget`: names the one that needs most, and what
/// it needs.
void check_memory(const std::vector<wire::OperationRecord>& operations, std::uint64_t budget);

/// Names of ATen's sources for a function of the forward pass ("softmax"), with the BLAS where that
/// does the work. Of an unknown function there are no files.
SourceHint source_hint(const std::string& function, const std::string& blas);

/// Address that shows the changes between two commits; empty where one isn't known or they are the
/// same.
std::string compare_address(const std::string& commit_a, const std::string& commit_b);

}  // namespace drift
