#pragma once

#include <vector>

#include "gpt2.hpp"
#include "wire.hpp"

namespace drift::runner {

/// What the model can't do, whatever the task's mode. Throws std::runtime_error that names the
/// task.
void check_task(const wire::Task& task, const Gpt2& model);

/// What can't run as one batch; each task is checked as well. Throws std::runtime_error that names
/// the first task that doesn't fit.
void check_batch(const std::vector<const wire::Task*>& tasks, const Gpt2& model);

}  // namespace drift::runner
