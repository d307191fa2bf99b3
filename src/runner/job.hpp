#pragma once

#include "channel.hpp"
#include "wire.hpp"

namespace drift::runner {

/// Runs all tasks of a job in order, those of a batch together (batch.hpp), and writes their Step
/// and TaskEnd frames. Errors are exceptions whose text names the task.
///
/// A task ends, whichever comes first, after a token of `end_of_text`, after `new_tokens` steps, or
/// when the next step would need a position that the model doesn't have. In a fed task these look
/// at the tokens that were fed, and every Step, the last one too, is answered by a FedToken; with
/// tokens `given` they look at those. A kOperation task ends when the driver's Calls do.
void run_job(const wire::Job& job, Channel& channel);

}  // namespace drift::runner
