#include "driftaudit/measure.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <tuple>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/hash.hpp"

namespace drift {
namespace {

/// The same run of two answers.
struct Pair {
  const Answer& a;
  std::size_t run_a;
  const Answer& b;
  std::size_t run_b;
};

/// Whether some logit differs by more than `most`. Numbers that aren't finite differ from all that
/// isn't the same bits.
bool exceeds(const std::vector<float>& a, const std::vector<float>& b, double most) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same_bits = std::bit_cast<std::uint32_t>(a[i]) == std::bit_cast<std::uint32_t>(b[i]);
    const bool within = std::abs(double{a[i]} - double{b[i]}) <= most;
    if (!same_bits && !within) {
      return true;
    }
  }
  return a.size() != b.size();
}

bool step_changed(const Pair& pair, std::size_t step, const Measure& measure) {
  const Step& a = pair.a.report->runs[pair.run_a].steps[step];
  const Step& b = pair.b.report->runs[pair.run_b].steps[step];
  switch (measure.kind) {
    case Measure::Kind::kBits:
      return a.digest != b.digest;
    case Measure::Kind::kTokens:
      return a.token != b.token;
    case Measure::Kind::kLogits:
      return a.digest != b.digest && exceeds(pair.a.logits(pair.run_a, step),
                                             pair.b.logits(pair.run_b, step), measure.most);
  }
  return true;
}

/// The first changed step, from 1, of the first `most` ones.
std::optional<std::uint32_t> first_change(const Pair& pair, const Measure& measure,
                                          std::size_t most) {
  const std::vector<Step>& a = pair.a.report->runs[pair.run_a].steps;
  const std::vector<Step>& b = pair.b.report->runs[pair.run_b].steps;
  const std::size_t steps = std::min(most, std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < steps; ++i) {
    if (i >= std::min(a.size(), b.size()) || step_changed(pair, i, measure)) {
      return static_cast<std::uint32_t>(i + 1);
    }
    if (next_token(a[i]) != next_token(b[i])) {
      break;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> find_run(const Report& report, const std::string& mode,
                                    std::uint32_t prompt) {
  const auto run = std::find_if(report.runs.begin(), report.runs.end(), [&](const Run& candidate) {
    return candidate.mode == mode && candidate.prompt == prompt;
  });
  return run == report.runs.end()
             ? std::nullopt
             : std::optional(static_cast<std::size_t>(run - report.runs.begin()));
}

Pair pair_of(const Answer& a, const Answer& b, const std::string& mode, std::uint32_t prompt) {
  const auto run_a = find_run(*a.report, mode, prompt);
  const auto run_b = find_run(*b.report, mode, prompt);
  if (!run_a || !run_b) {
    throw trouble(fmt::format("prompt {} ({}) was not answered by both builds", prompt, mode));
  }
  return {a, *run_a, b, *run_b};
}

}  // namespace

std::string Measure::name() const {
  switch (kind) {
    case Kind::kBits:
      return "bits";
    case Kind::kTokens:
      return "tokens";
    case Kind::kLogits:
      return "max-logit-diff";
  }
  return "";
}

bool equal_answers(const Answer& a, const Answer& b, const Measure& measure,
                   const std::optional<BisectPart>& part) {
  if (part) {
    return !first_change(pair_of(a, b, part->mode, part->prompt), measure, part->steps);
  }
  constexpr std::size_t kAll = static_cast<std::size_t>(-1);
  return a.report->runs.size() == b.report->runs.size() &&
         std::none_of(a.report->runs.begin(), a.report->runs.end(), [&](const Run& run) {
           return first_change(pair_of(a, b, run.mode, run.prompt), measure, kAll).has_value();
         });
}

BisectPart cheapest_part(const Answer& a, const Answer& b, const Measure& measure) {
  BisectPart cheapest;
  std::tuple<std::size_t, std::size_t> least{static_cast<std::size_t>(-1), 0};
  for (const Run& run : a.report->runs) {
    const auto [steps, prompt] = least;
    const Pair pair = pair_of(a, b, run.mode, run.prompt);
    const auto change = first_change(pair, measure, steps);
    if (!change) {
      continue;
    }
    const std::size_t needed = run.mode == "score" ? run.steps.size() : *change;
    const std::tuple cost{needed, run.prompt_ids.size()};
    if (cost < least) {
      least = cost;
      cheapest = {run.mode, run.prompt, static_cast<std::uint32_t>(needed)};
    }
  }
  return cheapest;
}

std::string answer_digest(const Report& report) {
  std::string text;
  for (const Run& run : report.runs) {
    text += fmt::format("{} {}\n", run.mode, run.prompt);
    for (const Step& step : run.steps) {
      text += fmt::format("{} {}\n", step.token, step.digest);
    }
  }
  return xxh3_128_hex(std::as_bytes(std::span(text)));
}

}  // namespace drift
