#include "report/sweep_failures.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/utf8.hpp"
#include "report/verdict.hpp"

namespace drift {
namespace {

constexpr std::size_t kMostCells = 8;
constexpr std::size_t kMostRequests = 6;

/// "greedy prompt 3 from step 5 on, every 4 steps; it answers prompt 7".
std::string failure_in_words(const SweepFailure& failure) {
  std::string text = fmt::format("{} prompt {} {} step {}{}", failure.mode, failure.prompt,
                                 failure.outliers == 1 ? "at" : "from", failure.first_step,
                                 failure.outliers == 1 ? "" : " on");
  if (failure.step_period) {
    text += fmt::format(", every {} steps", *failure.step_period);
  }
  if (failure.answers) {
    text += fmt::format(" (its tokens answer prompt {})", *failure.answers);
  }
  return text;
}

std::string failures_in_words(const SweepRescore& rescore) {
  std::string text;
  const std::size_t shown = std::min(kMostRequests, rescore.failing.size());
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i == 0 ? "" : ", ") + failure_in_words(rescore.failing[i]);
  }
  if (shown < rescore.failing.size()) {
    text += fmt::format(" and {} more", rescore.failing.size() - shown);
  }
  if (rescore.request_period) {
    text += fmt::format("; every {} requests, the first is {}", rescore.request_period->period,
                        rescore.request_period->first);
  }
  return text;
}

std::string knob_in_words(const SweepKnob& knob) {
  const SweepKnobFailures& failures = *knob.failures;
  const std::string name = visible(knob.name);
  if (!failures.first) {
    return fmt::format("{} doesn't move what fails, in {}", name, counted(failures.pairs, "pair"));
  }
  return fmt::format("{} moves what fails, in {} of {}: cells {} and {} are the first", name,
                     failures.pairs_moved, counted(failures.pairs, "pair"), failures.first->a + 1,
                     failures.first->b + 1);
}

}  // namespace

bool is_rescored(const SweepRecord& sweep) {
  return std::any_of(sweep.cells.begin(), sweep.cells.end(),
                     [](const SweepCell& cell) { return cell.rescore.has_value(); });
}

std::string failing_in_brief(const SweepCell& cell) {
  if (!cell.rescore) {
    return "–";
  }
  const std::vector<SweepFailure>& failing = cell.rescore->failing;
  if (failing.empty()) {
    return "none";
  }
  return failing.size() == 1
             ? fmt::format("prompt {} from step {}", failing[0].prompt, failing[0].first_step)
             : counted(failing.size(), "request");
}

std::string failure_headline(const SweepRecord& sweep) {
  std::size_t rescored = 0;
  std::size_t failing = 0;
  for (const SweepCell& cell : sweep.cells) {
    rescored += cell.rescore ? 1 : 0;
    failing += cell.rescore && !cell.rescore->failing.empty() ? 1 : 0;
  }
  if (failing == 0) {
    return "no request fails";
  }
  std::string movers;
  for (const SweepKnob& knob : sweep.knobs) {
    if (knob.failures && knob.failures->pairs_moved > 0) {
      movers += (movers.empty() ? "" : ", ") + visible(knob.name);
    }
  }
  return fmt::format("requests fail in {} of {}, {}", failing, counted(rescored, "cell"),
                     movers.empty() ? "whatever the knobs" : "moved by " + movers);
}

std::vector<std::string> failure_details(const SweepRecord& sweep) {
  std::vector<std::string> details;
  std::size_t failing = 0;
  for (std::size_t i = 0; i < sweep.cells.size(); ++i) {
    const SweepCell& cell = sweep.cells[i];
    if (!cell.rescore || cell.rescore->failing.empty() || ++failing > kMostCells) {
      continue;
    }
    details.push_back(fmt::format("cell {} fails: {}", i + 1, failures_in_words(*cell.rescore)));
  }
  if (failing > kMostCells) {
    details.push_back(fmt::format("{} more cells fail: see the report", failing - kMostCells));
  }
  if (failing == 0) {
    details.emplace_back("every cell's tokens have the log-probabilities that one prefill gives");
    return details;
  }
  for (const SweepKnob& knob : sweep.knobs) {
    if (knob.failures) {
      details.push_back(knob_in_words(knob));
    }
  }
  return details;
}

}  // namespace drift
