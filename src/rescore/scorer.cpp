#include "driftaudit/rescore.hpp"

#include "audit/records.hpp"
#include "audit/sides.hpp"

namespace drift {
namespace {

wire::Task task_of(const ScoredText& text, std::size_t index) {
  wire::Task task;
  task.id = static_cast<std::uint32_t>(index);
  task.mode = wire::Mode::kScore;
  task.ids = text.ids;
  return task;
}

/// One process that reads all texts.
class ScoringRun {
 public:
  ScoringRun(const Side& side, double timeout_seconds, const Model& model,
             const std::vector<ScoredText>& texts)
      : label_(side.build.label),
        vocabulary_(model.config.vocab_size),
        texts_(texts),
        runner_(launch_of(side, label_, timeout_seconds), job_of(side, model, tasks(texts))) {}

  void run(const LogitsVisitor& visit, BuildRecord& record, Progress& progress) {
    record_facts(facts_from(expect_event<wire::Hello>(runner_.next(), label_)), record);
    std::uint64_t total = 0;
    for (const ScoredText& text : texts_) {
      total += text.ids.size() - 1;
    }
    progress.start("scoring", total, Progress::Unit::kTokens);
    for (std::size_t i = 0; i < texts_.size(); ++i) {
      read(i, visit, progress);
    }
    record_end(runner_, label_, steps_, seconds_, record);
    progress.finish();
  }

 private:
  static std::vector<wire::Task> tasks(const std::vector<ScoredText>& texts) {
    std::vector<wire::Task> tasks;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      tasks.push_back(task_of(texts[i], i));
    }
    return tasks;
  }

  void read(std::size_t index, const LogitsVisitor& visit, Progress& progress) {
    const ScoredText& text = texts_[index];
    for (std::size_t at = 1; at < text.ids.size(); ++at) {
      const auto step = expect_event<wire::Step>(runner_.next(), label_);
      require_logits(step, vocabulary_, label_);
      if (at >= text.first) {
        visit(index, at - text.first, step.logits);
      }
      progress.update(++steps_);
    }
    seconds_ += expect_event<wire::TaskEnd>(runner_.next(), label_).seconds;
  }

  std::string label_;
  std::size_t vocabulary_;
  const std::vector<ScoredText>& texts_;
  RunnerProcess runner_;
  std::uint64_t steps_ = 0;
  double seconds_ = 0;
};

}  // namespace

LogitsReader runner_logits(const Side& side, double timeout_seconds, const Model& model,
                           Progress& progress, BuildRecord& record) {
  return [&side, timeout_seconds, &model, &progress, &record](const std::vector<ScoredText>& texts,
                                                              const LogitsVisitor& visit) {
    ScoringRun(side, timeout_seconds, model, texts).run(visit, record, progress);
  };
}

}  // namespace drift
