#pragma once

#include <string>

#include "driftaudit/report.hpp"

namespace drift::test {

/// A cell's report whose answers are a word: a letter a step, a space between prompts. The token is
/// the letter's number in the alphabet, a capital letter has the same token and other bits.
inline Report worded_report(const std::string& word) {
  Report report;
  report.kind = "record";
  report.builds.emplace_back();
  std::uint32_t prompt = 1;
  report.runs.emplace_back();
  for (const char letter : word + " ") {
    Run& run = report.runs.back();
    run.mode = "greedy";
    run.prompt = prompt;
    if (letter == ' ') {
      report.runs.emplace_back();
      ++prompt;
      continue;
    }
    const bool capital = letter < 'a';
    Step& step = run.steps.emplace_back();
    step.token = letter - (capital ? 'A' : 'a');
    step.digest = std::string(31, '0') + (capital ? "1" : "0");
    step.top = {{step.token, 0.0F}};
    report.tokens[step.token] = std::string(1, static_cast<char>('a' + step.token));
  }
  report.runs.pop_back();
  return report;
}

}  // namespace drift::test
