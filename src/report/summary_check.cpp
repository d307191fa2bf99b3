#include "report/summary_check.hpp"

#include <string>

#include <fmt/core.h>

namespace drift {
namespace {

/// `mode` empty: over all.
std::string verdict_by_prompts(const Report& report, const std::string& mode) {
  std::string verdict = "identical";
  for (const PromptComparison& prompt : report.comparison) {
    if (!mode.empty() && prompt.mode != mode) {
      continue;
    }
    if (prompt.first_token_change) {
      return "diverged";
    }
    if (prompt.steps_changed > 0) {
      verdict = "same_tokens";
    }
  }
  return verdict;
}

void check_verdict(const Place& summary, const std::string& said, const std::string& found) {
  if (said != found) {
    throw Place(summary, "verdict")
        .error(fmt::format("\"{}\", but by its prompts it is \"{}\"", said, found),
               "the report was changed after it was written; write it again");
  }
}

}  // namespace

void check_verdicts(const Place& root, const Report& report) {
  const Place summary(root, "summary");
  check_verdict(summary, report.summary.verdict, verdict_by_prompts(report, ""));
  const Place by_mode(summary, "by_mode");
  for (const auto& [mode, of_mode] : report.by_mode) {
    check_verdict(Place(by_mode, mode), of_mode.verdict, verdict_by_prompts(report, mode));
  }
}

}  // namespace drift
