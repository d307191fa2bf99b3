#include <algorithm>

#include "driftaudit/audit.hpp"
#include "driftaudit/error.hpp"

namespace drift {
namespace {

wire::Mode mode_from(const std::string& name) {
  if (name == "greedy") {
    return wire::Mode::kGreedy;
  }
  if (name == "sample") {
    return wire::Mode::kSample;
  }
  if (name == "score") {
    return wire::Mode::kScore;
  }
  throw usage_error("unknown mode \"" + name + "\"", "modes are greedy, sample and score");
}

/// Numbers the batches of one mode's tasks, which begin at `first`; counting goes on from `batch`.
void number_batches(std::uint32_t size, std::size_t first, std::uint32_t& batch,
                    std::vector<wire::Task>& tasks) {
  for (std::size_t i = first; i < tasks.size(); ++i) {
    batch += (i - first) % size == 0 ? 1 : 0;
    tasks[i].batch = batch;
  }
}

}  // namespace

std::vector<Prompt> score_windows(const std::vector<std::int32_t>& ids, const Tokenizer& tokenizer,
                                  std::uint32_t n_positions) {
  std::vector<Prompt> windows;
  for (std::size_t at = 0; at + 1 < ids.size(); at += n_positions - 1) {
    const auto begin = ids.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t size = std::min<std::size_t>(n_positions, ids.size() - at);
    Prompt window;
    window.ids.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
    window.text = tokenizer.decode(window.ids);
    windows.push_back(std::move(window));
  }
  return windows;
}

std::vector<wire::Task> plan_tasks(const AuditRequest& request,
                                   const std::vector<std::int32_t>& end_of_text, bool fed) {
  const SettingsRecord& settings = request.settings;
  if (settings.batch > 1 && fed) {
    throw usage_error("prompts of a batch can't be fed another side's tokens",
                      "leave out --batch, or --on-divergence force");
  }
  std::vector<wire::Task> tasks;
  std::uint32_t batch = 0;
  for (const std::string& name : settings.modes) {
    const wire::Mode mode = mode_from(name);
    const bool scores = mode == wire::Mode::kScore;
    const std::size_t first = tasks.size();
    for (const Prompt& prompt : scores ? request.text : request.prompts.prompts) {
      wire::Task task;
      task.id = static_cast<std::uint32_t>(tasks.size());
      task.mode = mode;
      task.cache = settings.cache;
      task.fed = fed && !scores;
      task.ids = prompt.ids;
      task.new_tokens = scores ? 0 : settings.new_tokens;
      task.end_of_text = settings.ignore_eos ? std::vector<std::int32_t>() : end_of_text;
      task.top_k = settings.top_k;
      task.temperature = settings.temperature;
      task.seed = settings.seed;
      task.sampler = settings.sampler == "fixed" ? wire::Sampler::kFixed : wire::Sampler::kTorch;
      tasks.push_back(std::move(task));
    }
    if (settings.batch > 1 && !scores) {
      number_batches(settings.batch, first, batch, tasks);
    }
  }
  return tasks;
}

}  // namespace drift
