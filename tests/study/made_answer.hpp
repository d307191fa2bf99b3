#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driftaudit/report.hpp"

namespace drift::test {

/// A step that chose `token` over token 1000 by `gap`; what else it kept is far below.
inline Step made_gap_step(std::int32_t token, double gap) {
  const auto high = static_cast<float>(gap);
  Step step;
  step.token = token;
  step.logit = high;
  step.top = {{token, high}, {1000, 0}, {2000, -50}};
  step.gap = high;
  step.logsumexp = gap;
  step.digest = std::string(16, 'a') + std::string(16, static_cast<char>('0' + token % 10));
  return step;
}

/// A prompt's run of the mode.
inline Run made_gap_run(std::uint32_t build, std::uint32_t prompt, const std::string& mode,
                        std::vector<Step> steps) {
  Run run;
  run.build = build;
  run.prompt = prompt;
  run.mode = mode;
  run.prompt_text = "prompt " + std::to_string(prompt);
  run.prompt_ids = {static_cast<std::int32_t>(prompt)};
  run.steps = std::move(steps);
  return run;
}

/// Answers to as many prompts as there are lists of gaps; token 5 throughout. The digest of a step
/// tells `salt`.
inline Report made_answer(const std::vector<std::vector<double>>& gaps, char salt = 'a') {
  Report report;
  report.kind = "record";
  report.builds.emplace_back();
  for (std::size_t p = 0; p < gaps.size(); ++p) {
    std::vector<Step> steps;
    for (const double gap : gaps[p]) {
      steps.push_back(made_gap_step(5, gap));
      steps.back().digest[0] = salt;
    }
    report.runs.push_back(
        made_gap_run(0, static_cast<std::uint32_t>(p + 1), "greedy", std::move(steps)));
  }
  return report;
}

}  // namespace drift::test
