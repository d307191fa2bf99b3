#include <algorithm>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/rescore.hpp"

namespace drift {
namespace {

/// The log-probability of the token that the text goes on with. Errors (usage): it was imposed, and
/// its logit wasn't kept.
double logprob_of(const Run& run, std::size_t index) {
  const Step& step = run.steps[index];
  const std::int32_t token = next_token(step);
  if (token == step.token) {
    return double{step.logit} - step.logsumexp;
  }
  const auto at = std::find_if(step.top.begin(), step.top.end(),
                               [&](const TokenLogit& entry) { return entry.id == token; });
  if (at == step.top.end()) {
    throw usage_error(
        fmt::format("prompt {}, step {} ({}): the token was imposed, and its logit isn't among "
                    "the kept ones",
                    run.prompt, index + 1, run.mode),
        "rescore the other side, or record with a larger --keep-top");
  }
  return double{at->logit} - step.logsumexp;
}

DecodedRequest request_of(const Run& run) {
  DecodedRequest request;
  request.mode = run.mode;
  request.prompt = run.prompt;
  request.prompt_text = run.prompt_text;
  request.prompt_ids = run.prompt_ids;
  for (std::size_t i = 0; i < run.steps.size(); ++i) {
    request.tokens.push_back(next_token(run.steps[i]));
    request.logprobs.push_back(logprob_of(run, i));
  }
  return request;
}

}  // namespace

std::vector<DecodedRequest> decoded_requests(const Report& report, std::uint32_t build) {
  std::vector<DecodedRequest> requests;
  for (const Run& run : report.runs) {
    const bool generated = run.mode == "greedy" || run.mode == "sample";
    if (run.build == build && generated && !run.steps.empty()) {
      requests.push_back(request_of(run));
    }
  }
  if (requests.empty()) {
    throw usage_error("there is no generated text to rescore",
                      "record with --mode greedy, sample or both");
  }
  return requests;
}

}  // namespace drift
