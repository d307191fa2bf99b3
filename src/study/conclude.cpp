#include "study/conclude.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "driftaudit/draw_coupling.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/flip_rate.hpp"
#include "driftaudit/gap_figures.hpp"
#include "driftaudit/study.hpp"

namespace drift {
namespace {

constexpr std::uint64_t kSeed = 1;  ///< of all intervals, so that a study repeats its figures

const Run* same_run(const Report& report, const Run& wanted) {
  const auto at = std::find_if(report.runs.begin(), report.runs.end(), [&](const Run& run) {
    return run.mode == wanted.mode && run.prompt == wanted.prompt;
  });
  return at == report.runs.end() ? nullptr : &*at;
}

std::optional<std::uint32_t> run_named(const StudyGaps& gaps, StudyCondition condition) {
  for (std::uint32_t i = 0; i < gaps.runs.size(); ++i) {
    if (gaps.runs[i].name == condition_name(condition)) {
      return i;
    }
  }
  return std::nullopt;
}

/// What the two sides' steps say of their draws, prompt by prompt.
struct DrawFigures {
  std::vector<std::vector<double>> other_token;  ///< the chance, a step
  double variation = 0;                          ///< summed over steps
};

void add_draws(const Step& a, const Step& b, const Report& audit, DrawFigures& figures,
               StudySampled& sampled) {
  const SettingsRecord& settings = audit.settings;
  const std::uint32_t drawn_from = std::min(settings.top_k, audit.model.vocab_size);
  const Chances p = chances_of(a, drawn_from, settings.temperature);
  const Chances q = chances_of(b, drawn_from, settings.temperature);
  figures.variation += total_variation(p, q);
  figures.other_token.back().push_back(settings.sampler == "fixed" ? other_token_by_inverse(p, q)
                                                                   : other_token_by_race(p, q));
  if (a.draw_digest && a.draw_digest == b.draw_digest) {
    ++sampled.same_draws;
    sampled.draws_changed += a.token != b.token ? 1 : 0;
  }
}

}  // namespace

StudyPair pair_figures(const Report& audit, const Report& first_step) {
  StudyPair pair;
  const Summary& summary = audit.summary;
  pair.mode = audit.settings.modes.at(0);
  pair.cache = audit.settings.cache;
  pair.prompts = summary.prompts;
  pair.steps = summary.steps;
  pair.steps_changed = summary.steps_changed;
  pair.first_steps_changed = summary.first_steps_changed;
  pair.max_first_step_diff = first_step.summary.max_abs_logit_diff;
  pair.max_abs_logit_diff = summary.max_abs_logit_diff;
  pair.prompts_diverged = static_cast<std::uint64_t>(
      std::count_if(audit.comparison.begin(), audit.comparison.end(),
                    [](const PromptComparison& prompt) { return prompt.first_token_change; }));
  return pair;
}

void compare_in_range(const Report& before, const Report& after, StudyBuild& build) {
  for (const Run& run : after.runs) {
    const Run* earlier = same_run(before, run);
    if (earlier == nullptr) {
      throw trouble(build.label + ": answered other prompts than the build before it");
    }
    const std::size_t steps = std::min(earlier->steps.size(), run.steps.size());
    bool diverged = false;
    for (std::size_t i = 0; i < steps && !diverged; ++i) {
      ++build.steps;
      build.steps_changed += earlier->steps[i].digest != run.steps[i].digest ? 1 : 0;
      diverged = earlier->steps[i].token != run.steps[i].token;
    }
    build.runs_diverged += diverged ? 1 : 0;
  }
  build.same_bits = build.steps_changed == 0 && build.runs_diverged == 0;
}

std::vector<StudyFlips> flips_between(const std::vector<const Report*>& answers,
                                      const StudyGaps& gaps) {
  using enum StudyCondition;
  std::vector<StudyFlips> flips;
  for (const auto& [from, to] :
       {std::pair(kFirst, kLast), std::pair(kLast, kLastGeneric), std::pair(kLast, kLastSingle),
        std::pair(kFirstGeneric, kLastGeneric)}) {
    const auto a = run_named(gaps, from);
    const auto b = run_named(gaps, to);
    if (a && b) {
      std::uint64_t unknown = 0;
      const GapChanges changes = gap_changes(runs_of(*answers.at(*a), "greedy", 0),
                                             runs_of(*answers.at(*b), "greedy", 0), unknown);
      flips.push_back({*a, *b, estimate_flip_rate(changes, kSeed)});
    }
  }
  return flips;
}

StudySampled sampled_figures(const Report& audit) {
  StudySampled sampled;
  const std::vector<const Run*> a = runs_of(audit, "sample", 0);
  const std::vector<const Run*> b = runs_of(audit, "sample", 1);
  sampled.prompts = a.size();
  sampled.argmax = estimate_flip_rate(gap_changes(a, b, sampled.changes_unknown), kSeed);
  DrawFigures draws;
  std::uint64_t in_loop = 0;
  for (std::size_t p = 0; p < a.size(); ++p) {
    draws.other_token.emplace_back();
    std::vector<std::int32_t> tokens;
    for (std::size_t i = 0; i < std::min(a[p]->steps.size(), b[p]->steps.size()); ++i) {
      const Step& step = a[p]->steps[i];
      ++sampled.steps;
      tokens.push_back(step.token);
      if (step.non_finite == 0 && b[p]->steps[i].non_finite == 0) {
        add_draws(step, b[p]->steps[i], audit, draws, sampled);
      }
    }
    const std::vector<bool> looping = steps_in_loop(tokens);
    in_loop += static_cast<std::uint64_t>(std::count(looping.begin(), looping.end(), true));
  }
  if (sampled.steps > 0) {
    sampled.loop_share = static_cast<double>(in_loop) / static_cast<double>(sampled.steps);
    sampled.mean_total_variation = draws.variation / static_cast<double>(sampled.steps);
  }
  sampled.draws = mean_rate(draws.other_token, kSeed);
  return sampled;
}

}  // namespace drift
