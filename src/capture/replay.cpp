#include "driftaudit/replay.hpp"

#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/core.h>

namespace drift {
namespace {

/// One runner on its way through the traced pass.
class TracedPass {
 public:
  TracedPass(const ReplaySide& side, const wire::Task& task)
      : label_(side.launch.label),
        process_(side.launch, job_with(side.job, task)),
        facts_(facts_from(expect_event<wire::Hello>(process_.next(), label_))) {}

  const RunnerFacts& facts() const { return facts_; }

  /// The next operation's record; nothing at the end of the job.
  std::optional<wire::OperationRecord> next_record() {
    RunnerProcess::Event event = next_event();
    if (std::holds_alternative<wire::Done>(event)) {
      return std::nullopt;
    }
    return expect_event<wire::OperationRecord>(std::move(event), label_);
  }

  /// What this side's operation of the same name gives on those inputs.
  wire::TensorData apply_to(const wire::OperationRecord& recorded) {
    require_same(expect_event<wire::Question>(next_event(), label_).name, recorded);
    std::vector<std::optional<wire::TensorData>> inputs;
    inputs.reserve(recorded.inputs.size());
    for (const wire::Operand& input : recorded.inputs) {
      inputs.push_back(recorded_tensor(input));
    }
    process_.call(std::move(inputs));
    wire::TensorData output = expect_event<wire::Result>(process_.next(), label_).output;
    process_.end_calls();
    return output;
  }

  /// The record that follows apply_to().
  wire::OperationRecord own_record(const wire::OperationRecord& recorded) {
    auto record = expect_event<wire::OperationRecord>(process_.next(), label_);
    require_same(record.name, recorded);
    return record;
  }

  /// Takes what is left; any further operation is one too many.
  void finish() { expect_event<wire::Done>(next_event(), label_); }

 private:
  static wire::Job job_with(wire::Job job, const wire::Task& task) {
    job.tasks = {task};
    return job;
  }

  /// The next event but for the steps of the task itself.
  RunnerProcess::Event next_event() {
    for (;;) {
      RunnerProcess::Event event = process_.next();
      if (!std::holds_alternative<wire::Step>(event) &&
          !std::holds_alternative<wire::TaskEnd>(event)) {
        return event;
      }
    }
  }

  void require_same(const std::string& name, const wire::OperationRecord& recorded) const {
    if (name != recorded.name) {
      throw trouble(fmt::format("{}: its pass comes to {} where the other side's comes to {}",
                                label_, name, recorded.name));
    }
  }

  std::string label_;
  RunnerProcess process_;
  RunnerFacts facts_;
};

}  // namespace

ReplayFacts replay_pass(const ReplaySide& a, const ReplaySide& b, wire::Task task,
                        std::uint32_t step, const std::vector<std::string>& selectors,
                        const std::function<void(ReplayedOperation&&)>& visit) {
  if (task.mode != wire::Mode::kScore && task.given.size() + 1 < step) {
    throw std::invalid_argument("the tokens of all steps before");
  }
  task.new_tokens = step;
  task.trace = {{step}, {}, selectors, {}};
  TracedPass recorder(a, task);
  task.trace.questions = selectors;
  TracedPass other(b, task);
  task.trace = {{step}, {}, {}, selectors};
  TracedPass again(a, task);
  while (auto recorded = recorder.next_record()) {
    ReplayedOperation operation;
    operation.a_again = again.apply_to(*recorded);
    operation.b_on_a = other.apply_to(*recorded);
    operation.b = other.own_record(*recorded);
    operation.a = std::move(*recorded);
    visit(std::move(operation));
  }
  again.finish();
  other.finish();
  return {recorder.facts(), other.facts()};
}

std::optional<wire::TensorData> recorded_tensor(const wire::Operand& operand) {
  if (!operand.bytes) {
    return std::nullopt;
  }
  return wire::TensorData{operand.layout, *operand.bytes};
}

}  // namespace drift
