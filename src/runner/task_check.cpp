#include "task_check.hpp"

#include <stdexcept>
#include <string>

namespace drift::runner {
namespace {

[[noreturn]] void refuse(const wire::Task& task, const std::string& why) {
  throw std::runtime_error("task " + std::to_string(task.id) + ": " + why);
}

void check_in_batch(const wire::Task& task, const wire::Task& first) {
  if (task.mode != wire::Mode::kGreedy && task.mode != wire::Mode::kSample) {
    refuse(task, "only generation runs in a batch");
  }
  if (task.fed || !task.given.empty()) {
    refuse(task, "in a batch no tokens are fed or given");
  }
  if (!task.trace.steps.empty()) {
    refuse(task, "a batch isn't traced");
  }
  if (task.mode != first.mode || task.cache != first.cache) {
    refuse(task, "of another mode, or with another KV cache, than the batch's first task");
  }
}

}  // namespace

void check_task(const wire::Task& task, const Gpt2& model) {
  // A scored text's last token needs no position.
  const std::int64_t most = model.context_length() + (task.mode == wire::Mode::kScore ? 1 : 0);
  if (task.ids.empty() || static_cast<std::int64_t>(task.ids.size()) > most) {
    refuse(task, std::to_string(task.ids.size()) + " tokens, where the model takes 1 to " +
                     std::to_string(most));
  }
  for (const auto* ids : {&task.ids, &task.given}) {
    for (const std::int32_t id : *ids) {
      if (id < 0 || id >= model.vocabulary()) {
        refuse(task, "token " + std::to_string(id) + " is not in the vocabulary");
      }
    }
  }
  if (task.fed && !task.given.empty()) {
    refuse(task, "its tokens are either fed or given");
  }
  if (!(task.temperature > 0)) {
    refuse(task, "the temperature must be above 0");
  }
}

void check_batch(const std::vector<const wire::Task*>& tasks, const Gpt2& model) {
  for (const wire::Task* task : tasks) {
    check_task(*task, model);
    check_in_batch(*task, *tasks.front());
  }
}

}  // namespace drift::runner
