#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "audit/records.hpp"
#include "audit/sources.hpp"

namespace drift {
namespace {

Stop stop_from(wire::Stopped stopped) {
  switch (stopped) {
    case wire::Stopped::kLength:
      return Stop::kLength;
    case wire::Stopped::kEndOfText:
      return Stop::kEndOfText;
    case wire::Stopped::kContext:
      return Stop::kContext;
    case wire::Stopped::kFed:
      return Stop::kFed;
  }
  return Stop::kLength;
}

std::vector<std::uint32_t> ids_of(const std::vector<wire::Task>& tasks) {
  std::vector<std::uint32_t> ids;
  ids.reserve(tasks.size());
  for (const wire::Task& task : tasks) {
    ids.push_back(task.id);
  }
  return ids;
}

class LiveSource : public StepSource {
 public:
  LiveSource(const AuditRequest& request, const Model& model, std::size_t side,
             std::vector<wire::Task> tasks)
      : label_(request.sides[side].build.label),
        ids_(ids_of(tasks)),
        vocabulary_(model.config.vocab_size),
        keep_top_(request.settings.keep_top),
        runner_(launch_of(request, side), job_of(request.sides[side], model, std::move(tasks))) {}

  void begin(BuildRecord& record) override {
    record_facts(facts_from(expect_event<wire::Hello>(runner_.next(), label_)), record);
  }

  void begin_task(Run&) override {}

  std::optional<Step> next(Stop& stopped) override {
    RunnerProcess::Event event = runner_.next();
    if (const auto* end = std::get_if<wire::TaskEnd>(&event)) {
      require_own(end->task);
      ++task_;
      stopped = stop_from(end->stopped);
      seconds_ += end->seconds;
      return std::nullopt;
    }
    auto step = expect_event<wire::Step>(std::move(event), label_);
    require_own(step.task);
    require_logits(step, vocabulary_, label_);
    ++steps_;
    Step kept = reduce_step(step.token, step.logits, keep_top_, step.given);
    kept.draw_digest = step.draw_digest;
    logits_ = std::move(step.logits);
    return kept;
  }

  bool knows_logits() const override { return true; }
  const std::vector<float>& last_logits() override { return logits_; }
  void feed(std::int32_t token) override { runner_.feed(token); }

  void finish(BuildRecord& record) override {
    record_end(runner_, label_, steps_, seconds_, record);
  }

  std::optional<std::string> text() const override { return std::nullopt; }

 private:
  /// That a frame is of the task at hand: the answers of a batch are told apart by their ids alone.
  void require_own(std::uint32_t task) const {
    if (task_ >= ids_.size() || task != ids_[task_]) {
      throw out_of_order(label_);
    }
  }

  std::string label_;
  std::vector<std::uint32_t> ids_;  ///< of the tasks, in order
  std::size_t task_ = 0;            ///< index into ids_
  std::size_t vocabulary_;
  std::size_t keep_top_;
  RunnerProcess runner_;
  std::vector<float> logits_;
  double seconds_ = 0;
  std::uint64_t steps_ = 0;
};

}  // namespace

std::unique_ptr<StepSource> live_source(const AuditRequest& request, const Model& model,
                                        std::size_t side, std::vector<wire::Task> tasks) {
  return std::make_unique<LiveSource>(request, model, side, std::move(tasks));
}

}  // namespace drift
