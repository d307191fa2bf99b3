#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/runner_process.hpp"

namespace drift {

/// A side of a replay. The job's tasks are replaced; its weights must be those of the other side.
struct ReplaySide {
  RunnerLaunch launch;
  wire::Job job;
};

/// One operation of a forward pass under both sides.
struct ReplayedOperation {
  wire::OperationRecord a;  ///< A's own, with the elements of its inputs and its output
  wire::OperationRecord b;  ///< B's own
  /// What A's operation gives, in another process, on `a`'s inputs laid out as they were: A's own
  /// bits, or the operation isn't replayable.
  wire::TensorData a_again;
  /// What B's operation gives on `a`'s inputs: other bits than A's own mean that the operation
  /// itself changed, equal ones that, on these inputs, it only carries a change on.
  wire::TensorData b_on_a;
};

struct ReplayFacts {
  RunnerFacts a, b;
};

/// Runs step `step` of a task on three runners at once (A, A again, B) and visits the selected
/// operations in order of execution; nothing of one is kept for the next, so that memory is bounded
/// by a few times the largest operation's inputs and output. `selectors`: as wire::Trace has them.
///
/// `task`: kGreedy, with the tokens of the steps before `step` in `given` (std::invalid_argument
/// where there are fewer), or kScore, whose pass is step 1. Errors: as RunnerProcess::next(); sides
/// whose passes have other operations (trouble).
ReplayFacts replay_pass(const ReplaySide& a, const ReplaySide& b, wire::Task task,
                        std::uint32_t step, const std::vector<std::string>& selectors,
                        const std::function<void(ReplayedOperation&&)>& visit);

/// A recorded operand as it can be given to an operation; none for a weight, which every side has.
std::optional<wire::TensorData> recorded_tensor(const wire::Operand& operand);

}  // namespace drift
