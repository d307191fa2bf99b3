#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
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

/// One process that scores all texts.
class ScoringRun {
 public:
  ScoringRun(const Side& side, double timeout_seconds, const Model& model,
             const std::vector<ScoredText>& texts)
      : label_(side.build.label),
        vocabulary_(model.config.vocab_size),
        texts_(texts),
        runner_(launch_of(side, label_, timeout_seconds), job_of(side, model, tasks(texts))) {}

  std::vector<std::vector<TokenScore>> run(BuildRecord& record, Progress& progress) {
    record_facts(facts_from(expect_event<wire::Hello>(runner_.next(), label_)), record);
    std::uint64_t total = 0;
    for (const ScoredText& text : texts_) {
      total += text.ids.size() - 1;
    }
    progress.start("scoring", total, Progress::Unit::kTokens);
    std::vector<std::vector<TokenScore>> scores;
    for (const ScoredText& text : texts_) {
      scores.push_back(score(text, progress));
    }
    record_end(runner_, label_, steps_, seconds_, record);
    progress.finish();
    return scores;
  }

 private:
  static std::vector<wire::Task> tasks(const std::vector<ScoredText>& texts) {
    std::vector<wire::Task> tasks;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      tasks.push_back(task_of(texts[i], i));
    }
    return tasks;
  }

  std::vector<TokenScore> score(const ScoredText& text, Progress& progress) {
    std::vector<TokenScore> scores;
    for (std::size_t at = 1; at < text.ids.size(); ++at) {
      const auto step = expect_event<wire::Step>(runner_.next(), label_);
      require_logits(step, vocabulary_, label_);
      if (at >= text.first) {
        scores.push_back(token_score(step.logits, text.ids[at]));
      }
      progress.update(++steps_);
    }
    seconds_ += expect_event<wire::TaskEnd>(runner_.next(), label_).seconds;
    return scores;
  }

  std::string label_;
  std::size_t vocabulary_;
  const std::vector<ScoredText>& texts_;
  RunnerProcess runner_;
  std::uint64_t steps_ = 0;
  double seconds_ = 0;
};

}  // namespace

TokenScore token_score(Logits logits, std::int32_t token) {
  const auto id = static_cast<std::size_t>(token);
  const float own = logits[id];
  TokenScore score;
  score.logprob = double{own} - log_sum_exp(logits);
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const float logit = logits[i];
    highest = std::isnan(logit) ? highest : std::max(highest, double{logit});
    const bool both_nan = std::isnan(own) && std::isnan(logit);
    const bool above = std::isnan(own) ? !std::isnan(logit) : logit > own;
    score.rank += above || ((both_nan || logit == own) && i < id) ? 1 : 0;
  }
  score.margin = highest == double{own} ? 0 : highest - double{own};
  return score;
}

TextScorer runner_scorer(const Side& side, double timeout_seconds, const Model& model,
                         Progress& progress, BuildRecord& record) {
  return
      [&side, timeout_seconds, &model, &progress, &record](const std::vector<ScoredText>& texts) {
        return ScoringRun(side, timeout_seconds, model, texts).run(record, progress);
      };
}

}  // namespace drift
