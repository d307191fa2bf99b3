#include "driftaudit/gap_figures.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <utility>

#include "driftaudit/error.hpp"
#include "driftaudit/order_statistics.hpp"
#include "driftaudit/step_difference.hpp"

namespace drift {
namespace {

constexpr std::uint32_t kLongestPeriod = 32;
constexpr std::uint32_t kLeastRepeated = 8;
constexpr std::uint32_t kBands = 10;
constexpr std::uint32_t kEndSteps = 10;

/// Gaps of a run as bits, prompt by prompt: equal where all of them are the same numbers.
std::vector<std::uint64_t> gap_bits(const std::vector<const Run*>& runs) {
  std::vector<std::uint64_t> bits;
  for (const Run* run : runs) {
    bits.push_back(run->steps.size());
    for (const Step& step : run->steps) {
      bits.push_back(std::bit_cast<std::uint64_t>(step.gap));
    }
  }
  return bits;
}

bool same_tokens(const Run& a, const Run& b) {
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const Step& x, const Step& y) { return x.token == y.token; });
}

/// Calls `visit(prompt, step, a, b, change)` for every step with equal contexts; indices from 0,
/// `change` null where it isn't known.
template <class Visit>
void visit_shared_steps(const std::vector<const Run*>& a, const std::vector<const Run*>& b,
                        const Visit& visit) {
  if (a.size() != b.size()) {
    throw trouble("runs of a study answered other numbers of prompts");
  }
  constexpr std::size_t kUnknownVocabulary = 0;
  for (std::size_t p = 0; p < a.size(); ++p) {
    if (a[p]->prompt != b[p]->prompt || a[p]->prompt_ids != b[p]->prompt_ids) {
      throw trouble("runs of a study answered other prompts");
    }
    const std::size_t steps = std::min(a[p]->steps.size(), b[p]->steps.size());
    for (std::size_t i = 0; i < steps; ++i) {
      const Step& x = a[p]->steps[i];
      const Step& y = b[p]->steps[i];
      const std::optional<double> change = compare_kept(x, y, kUnknownVocabulary).gap_change;
      visit(p, i, x, y, std::isfinite(x.gap) ? change : std::nullopt);
      if (next_token(x) != next_token(y)) {
        break;
      }
    }
  }
}

/// The first run's figures by position.
void add_positions(const std::vector<const Run*>& runs, StudyGaps& gaps) {
  gaps.end_steps = std::max(1U, std::min(kEndSteps, gaps.tokens / 2));
  GapHistogram histogram(gaps.tokens);
  std::vector<double> first;
  std::vector<double> last;
  std::uint64_t steps = 0;
  std::uint64_t in_loop = 0;
  for (const Run* run : runs) {
    std::vector<std::int32_t> tokens;
    for (std::size_t i = 0; i < run->steps.size(); ++i) {
      const Step& step = run->steps[i];
      const auto number = static_cast<std::uint32_t>(i + 1);
      tokens.push_back(next_token(step));
      histogram.add(number, step.gap);
      if (number <= gaps.end_steps) {
        first.push_back(step.gap);
      }
      if (number + gaps.end_steps > gaps.tokens) {
        last.push_back(step.gap);
      }
    }
    const std::vector<bool> looping = steps_in_loop(tokens);
    steps += looping.size();
    in_loop += static_cast<std::uint64_t>(std::count(looping.begin(), looping.end(), true));
  }
  gaps.median_first = median(std::move(first));
  gaps.median_last = median(std::move(last));
  gaps.loop_share = steps > 0 ? static_cast<double>(in_loop) / static_cast<double>(steps) : 0;
  gaps.histogram = histogram.counts();
}

void add_smallest(const std::vector<std::vector<const Run*>>& runs, StudyGaps& gaps) {
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const Run* run : runs[r]) {
      for (std::size_t i = 0; i < run->steps.size(); ++i) {
        const double gap = run->steps[i].gap;
        if (std::isfinite(gap) && (!gaps.smallest || gap < gaps.smallest->value)) {
          gaps.smallest = StudyGap{gap, run->prompt, static_cast<std::uint32_t>(i + 1),
                                   static_cast<std::uint32_t>(r)};
          gaps.smallest_text = run->prompt_text;
        }
      }
    }
  }
}

void add_changes(const std::vector<std::vector<const Run*>>& runs, StudyGaps& gaps) {
  for (std::uint32_t a = 0; a < runs.size(); ++a) {
    for (std::uint32_t b = a + 1; b < runs.size(); ++b) {
      visit_shared_steps(
          runs[a], runs[b],
          [&](std::size_t p, std::size_t i, const Step&, const Step&,
              const std::optional<double>& change) {
            gaps.changes_unknown += change ? 0 : 1;
            if (change && (!gaps.largest_change || *change > gaps.largest_change->value)) {
              gaps.largest_change = StudyGapChange{*change, runs[a][p]->prompt,
                                                   static_cast<std::uint32_t>(i + 1), a, b};
            }
          });
    }
  }
  if (gaps.smallest && gaps.largest_change && gaps.largest_change->value > 0) {
    gaps.margin = gaps.smallest->value / gaps.largest_change->value;
  }
}

}  // namespace

std::vector<bool> steps_in_loop(const std::vector<std::int32_t>& tokens) {
  std::vector<bool> looping(tokens.size(), false);
  for (std::uint32_t period = 1; period <= kLongestPeriod; ++period) {
    const std::uint32_t needed = std::max(period, kLeastRepeated);
    std::uint32_t repeated = 0;
    for (std::size_t i = period; i < tokens.size(); ++i) {
      repeated = tokens[i] == tokens[i - period] ? repeated + 1 : 0;
      looping[i] = looping[i] || repeated >= needed;
    }
  }
  return looping;
}

GapHistogram::GapHistogram(std::uint32_t tokens) {
  histogram_.edges = {1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2,
                      5e-2, 0.1,  0.2,  0.5,  1,    2,    5,    10};
  const std::uint32_t bands = std::max(1U, std::min(kBands, tokens));
  for (std::uint32_t b = 0; b < bands; ++b) {
    const auto edge = [&](std::uint32_t band) {
      return static_cast<std::uint32_t>(std::uint64_t{band} * tokens / bands);
    };
    histogram_.bands.push_back(
        {edge(b) + 1, edge(b + 1), std::vector<std::uint64_t>(histogram_.edges.size() + 1, 0)});
  }
}

void GapHistogram::add(std::uint32_t step, double gap) {
  const auto band =
      std::find_if(histogram_.bands.begin(), histogram_.bands.end(),
                   [&](const StudyBand& each) { return step >= each.first && step <= each.last; });
  if (band == histogram_.bands.end() || !std::isfinite(gap)) {
    return;
  }
  const auto bin = std::upper_bound(histogram_.edges.begin(), histogram_.edges.end(), gap);
  ++band->counts[static_cast<std::size_t>(bin - histogram_.edges.begin())];
}

std::vector<const Run*> runs_of(const Report& report, const std::string& mode,
                                std::uint32_t build) {
  std::vector<const Run*> runs;
  for (const Run& run : report.runs) {
    if (run.mode == mode && run.build == build) {
      runs.push_back(&run);
    }
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run* a, const Run* b) { return a->prompt < b->prompt; });
  return runs;
}

GapChanges gap_changes(const std::vector<const Run*>& a, const std::vector<const Run*>& b,
                       std::uint64_t& unknown) {
  GapChanges changes(a.size());
  visit_shared_steps(a, b,
                     [&](std::size_t p, std::size_t, const Step& x, const Step& y,
                         const std::optional<double>& change) {
                       if (!change) {
                         ++unknown;
                         return;
                       }
                       const bool flipped = x.top.at(0).id != y.top.at(0).id;
                       changes[p].push_back({x.gap, *change, flipped});
                     });
  return changes;
}

StudyGaps gap_figures(const std::vector<OpeningsRun>& runs, const std::string& openings,
                      std::uint32_t tokens) {
  StudyGaps gaps;
  gaps.openings = openings;
  gaps.tokens = tokens;
  std::vector<std::vector<const Run*>> greedy;
  std::map<std::vector<std::uint64_t>, std::uint32_t> sets;
  for (const OpeningsRun& run : runs) {
    greedy.push_back(runs_of(*run.report, "greedy", 0));
    StudyRun& about = gaps.runs.emplace_back(run.about);
    about.steps = 0;
    for (const Run* each : greedy.back()) {
      about.steps += each->steps.size();
    }
    const auto next = static_cast<std::uint32_t>(sets.size());
    about.set = sets.emplace(gap_bits(greedy.back()), next).first->second;
  }
  gaps.distinct_sets = static_cast<std::uint32_t>(sets.size());
  if (greedy.empty()) {
    return gaps;
  }
  gaps.prompts = greedy.front().size();
  for (const std::vector<const Run*>& other : greedy) {
    gaps.continuations_equal =
        gaps.continuations_equal &&
        std::equal(greedy.front().begin(), greedy.front().end(), other.begin(), other.end(),
                   [](const Run* a, const Run* b) { return same_tokens(*a, *b); });
  }
  add_smallest(greedy, gaps);
  add_positions(greedy.front(), gaps);
  add_changes(greedy, gaps);
  return gaps;
}

}  // namespace drift
