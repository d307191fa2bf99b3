#include <algorithm>
#include <cmath>
#include <cstddef>

#include "driftaudit/rescore.hpp"

#include "audit/sides.hpp"

namespace drift {
namespace {

constexpr std::size_t kMostRequests = 4;
constexpr std::size_t kMostTokens = 16;

/// A few of the requests, cut short.
std::vector<DecodedRequest> some_of(const std::vector<DecodedRequest>& requests) {
  std::vector<DecodedRequest> some;
  const std::size_t count = std::min(kMostRequests, requests.size());
  for (std::size_t i = 0; i < count; ++i) {
    some.push_back(requests[i * requests.size() / count]);
    some.back().tokens.resize(std::min(some.back().tokens.size(), kMostTokens));
  }
  return some;
}

/// Each request twice: decoded with its tokens imposed, and as one text.
std::vector<wire::Task> tasks_of(const std::vector<DecodedRequest>& requests) {
  std::vector<wire::Task> tasks;
  for (const DecodedRequest& request : requests) {
    wire::Task decoded;
    decoded.id = static_cast<std::uint32_t>(tasks.size());
    decoded.mode = wire::Mode::kGreedy;
    decoded.ids = request.prompt_ids;
    decoded.new_tokens = static_cast<std::uint32_t>(request.tokens.size());
    decoded.given = request.tokens;
    tasks.push_back(std::move(decoded));
    wire::Task scored;
    scored.id = static_cast<std::uint32_t>(tasks.size());
    scored.mode = wire::Mode::kScore;
    scored.ids = request.prompt_ids;
    scored.ids.insert(scored.ids.end(), request.tokens.begin(), request.tokens.end());
    tasks.push_back(std::move(scored));
  }
  return tasks;
}

}  // namespace

std::optional<double> own_noise(const std::vector<DecodedRequest>& requests, const Side& side,
                                double timeout_seconds, const Model& model, Progress& progress) {
  const std::vector<DecodedRequest> some = some_of(requests);
  const std::string& label = side.build.label;
  RunnerProcess runner(launch_of(side, label, timeout_seconds),
                       job_of(side, model, tasks_of(some)));
  expect_event<wire::Hello>(runner.next(), label);
  progress.start("measuring the build's own noise", some.size(), Progress::Unit::kItems);
  // The logits before `token`, which come next.
  const auto next_score = [&](std::int32_t token) {
    const auto step = expect_event<wire::Step>(runner.next(), label);
    require_logits(step, model.config.vocab_size, label);
    return token_score(step.logits, token).logprob;
  };
  std::optional<double> quietest;
  for (std::size_t r = 0; r < some.size(); ++r) {
    std::vector<double> decoded;
    for (const std::int32_t token : some[r].tokens) {
      decoded.push_back(next_score(token));
    }
    expect_event<wire::TaskEnd>(runner.next(), label);
    for (std::size_t at = 1; at < some[r].prompt_ids.size(); ++at) {
      expect_event<wire::Step>(runner.next(), label);
    }
    std::vector<double> deltas;
    std::vector<double> scored;
    for (std::size_t i = 0; i < some[r].tokens.size(); ++i) {
      scored.push_back(next_score(some[r].tokens[i]));
      deltas.push_back(std::abs(decoded[i] - scored[i]));
    }
    expect_event<wire::TaskEnd>(runner.next(), label);
    if (const auto scale = noise_scale(deltas, scored)) {
      quietest = std::min(quietest.value_or(*scale), *scale);
    }
    progress.update(r + 1);
  }
  expect_event<wire::Done>(runner.next(), label);
  progress.finish();
  return quietest;
}

}  // namespace drift
