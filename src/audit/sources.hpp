#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/audit.hpp"

#include "audit/sides.hpp"

namespace drift {

/// Where a side's steps come from: a runner at work, or a saved report.
class StepSource {
 public:
  virtual ~StepSource() = default;

  /// Before the first task: what the side says of itself.
  virtual void begin(BuildRecord& record) = 0;
  /// `run` is the one that the steps go to; a saved side puts in what it knows otherwise.
  virtual void begin_task(Run& run) = 0;
  /// The task's next step; nothing when it has ended, and why then stands in `stopped`.
  virtual std::optional<Step> next(Stop& stopped) = 0;
  /// Whether last_logits() has an answer.
  virtual bool knows_logits() const = 0;
  /// All logits of the step that next() gave last.
  virtual const std::vector<float>& last_logits() = 0;
  /// Answers a step of a fed task; -1 ends the task.
  virtual void feed(std::int32_t token) = 0;
  /// After the last task.
  virtual void finish(BuildRecord& record) = 0;
  /// The generated text, where the source has it ready.
  virtual std::optional<std::string> text() const = 0;
};

/// A runner of the request's side. `tasks` are its own.
std::unique_ptr<StepSource> live_source(const AuditRequest& request, const Model& model,
                                        std::size_t side, std::vector<wire::Task> tasks);

std::unique_ptr<StepSource> saved_source(const SavedSide& side);

}  // namespace drift
