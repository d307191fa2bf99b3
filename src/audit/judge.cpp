#include "audit/sides.hpp"

namespace drift {
namespace {

wire::Task draw_task(const wire::Task& sampled, std::uint32_t draws_before,
                     const std::vector<float>& logits) {
  wire::Task task = sampled;
  task.mode = wire::Mode::kDraw;
  task.fed = false;
  task.batch = 0;
  task.draws_before = draws_before;
  task.logits = logits;
  return task;
}

}  // namespace

std::optional<TokenChangeCause> judge_change(const AuditRequest& request, const Model& model,
                                             const wire::Task& task, std::uint32_t draws_before,
                                             const JudgedStep& a, const JudgedStep& b) {
  RunnerProcess runner(launch_of(request, 0), job_of(request.sides[0], model,
                                                     {draw_task(task, draws_before, a.logits),
                                                      draw_task(task, draws_before, b.logits)}));
  std::vector<wire::Step> draws;
  for (;;) {
    RunnerProcess::Event event = runner.next();
    if (auto* step = std::get_if<wire::Step>(&event)) {
      draws.push_back(std::move(*step));
    } else if (std::holds_alternative<wire::Done>(event)) {
      break;
    }
  }
  const bool repeats = draws.size() == 2 && draws[0].token == a.step.token &&
                       draws[0].draw_digest == a.step.draw_digest;
  if (!repeats) {
    return std::nullopt;
  }
  if (draws[1].token == b.step.token) {
    return TokenChangeCause::kLogits;
  }
  return draws[1].token == a.step.token ? TokenChangeCause::kSampler : TokenChangeCause::kBoth;
}

}  // namespace drift
