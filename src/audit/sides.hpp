#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/audit.hpp"

namespace drift {

/// "greedy", "sample", "score".
const char* mode_name(wire::Mode mode);

/// How a side is started, under a name for messages.
RunnerLaunch launch_of(const Side& side, std::string label, double timeout_seconds);
/// The same of a request's side, which is called by its letter where there are two, and what it is
/// told.
RunnerLaunch launch_of(const AuditRequest& request, std::size_t side);
wire::Job job_of(const Side& side, const Model& model, std::vector<wire::Task> tasks);

/// Errors (trouble): a step hasn't as many logits as the vocabulary.
void require_logits(const wire::Step& step, std::size_t vocabulary, const std::string& label);

/// Takes a runner's Done and records what its process came to; of several processes the largest
/// memory.
void record_end(RunnerProcess& runner, const std::string& label, std::uint64_t steps,
                double seconds, BuildRecord& record);

/// A step without its logits: all that repeatability is judged by.
struct TracedStep {
  std::string mode;
  std::int32_t token = -1;
  std::string digest;
  bool operator==(const TracedStep&) const = default;
};

/// The steps of the first prompt in each mode.
using Trace = std::vector<TracedStep>;

/// Runs the first prompt in each mode, in its batch, on every side that isn't saved, in processes
/// of their own. One trace a side; a saved side's is empty.
std::vector<Trace> trace_first_prompts(const AuditRequest& request, const Model& model,
                                       Progress& progress);

/// The same steps, as a whole run left them in its report.
std::vector<Trace> traces_of(const Report& report);

/// A step and all its logits.
struct JudgedStep {
  const Step& step;
  const std::vector<float>& logits;
};

/// What a sampled token's change is attributed to where both the logits and the random draws
/// differ: side A's sampler, with its own draw, is given B's logits. If it then chooses B's token,
/// the logits explain the change; if it still chooses A's, the sampler does; a third token takes
/// both. Null where A's sampler doesn't repeat its own choice: then nothing more can be said.
/// `draws_before`: draws that the prompt had taken on side A before this step.
std::optional<TokenChangeCause> judge_change(const AuditRequest& request, const Model& model,
                                             const wire::Task& task, std::uint32_t draws_before,
                                             const JudgedStep& a, const JudgedStep& b);

}  // namespace drift
