#include "sweep/conclude.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/core.h>

#include "driftaudit/measure.hpp"

#include "sweep/failures.hpp"
#include "sweep/idle.hpp"

namespace drift {
namespace {

/// The first step, from 0, at which `differ` holds, or the shorter run's end if they aren't of one
/// length.
template <class Differ>
std::optional<std::size_t> first_step(const Run& a, const Run& b, const Differ& differ) {
  const std::size_t common = std::min(a.steps.size(), b.steps.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (differ(a.steps[i], b.steps[i])) {
      return i;
    }
  }
  return a.steps.size() == b.steps.size() ? std::nullopt : std::optional(common);
}

bool other_bits(const Step& a, const Step& b) { return a.digest != b.digest || a.token != b.token; }

bool other_token(const Step& a, const Step& b) { return a.token != b.token; }

bool earlier(const SweepTokenChange& a, const SweepTokenChange& b) {
  return std::tuple(a.step, a.prompt) < std::tuple(b.step, b.prompt);
}

/// Whether ATen and the BLAS name the same kernels.
bool same_kernels(const Report& a, const Report& b) {
  const BuildRecord& x = a.builds.at(0);
  const BuildRecord& y = b.builds.at(0);
  return x.cpu_capability == y.cpu_capability && x.blas == y.blas &&
         x.blas_dispatch == y.blas_dispatch;
}

/// Whether any token differs, and the first one that both cells have.
struct TokenComparison {
  bool differ = false;
  std::optional<SweepTokenChange> first;
};

TokenComparison compare_tokens(const Report& a, const Report& b, SweepPair cells) {
  TokenComparison result;
  result.differ = a.runs.size() != b.runs.size();
  for (std::size_t i = 0; i < std::min(a.runs.size(), b.runs.size()); ++i) {
    const Run& run_a = a.runs[i];
    const Run& run_b = b.runs[i];
    const auto step = first_step(run_a, run_b, other_token);
    result.differ = result.differ || step;
    if (!step || *step >= std::min(run_a.steps.size(), run_b.steps.size())) {
      continue;
    }
    const SweepTokenChange change{cells,
                                  run_a.mode,
                                  run_a.prompt,
                                  static_cast<std::uint32_t>(*step + 1),
                                  run_a.steps[*step].token,
                                  run_b.steps[*step].token};
    if (!result.first || earlier(change, *result.first)) {
      result.first = change;
    }
  }
  return result;
}

/// Cells, their classes, and what pairs of them show.
class Conclusion {
 public:
  Conclusion(const SweepRequest& request, const std::vector<CellOutcome>& outcomes)
      : request_(request), outcomes_(outcomes) {}

  SweepRecord record() {
    record_.one_at_a_time = request_.one_at_a_time;
    for (std::size_t i = 0; i < outcomes_.size(); ++i) {
      add_cell(i);
    }
    if (request_.builds.size() > 1) {
      add_knob({"build", request_.builds});
    }
    for (const Knob& knob : request_.knobs) {
      add_knob(knob);
    }
    return std::move(record_);
  }

 private:
  void add_cell(std::size_t i) {
    const CellOutcome& outcome = outcomes_[i];
    SweepCell cell;
    cell.build = request_.builds.at(request_.cells[i].build);
    cell.knobs = request_.cells[i].values;
    cell.reason = outcome.reason;
    cell.reports = outcome.reports;
    if (outcome.rescore) {
      cell.rescore = rescore_of_cell(*outcome.rescore);
    }
    cell.state = "failed";
    if (outcome.answer) {
      cell.state = outcome.repeatable ? "ran" : "nondeterministic";
      cell.repeatable = outcome.repeatable;
      cell.ran_as = ran_++;
    }
    if (outcome.answer && outcome.repeatable) {
      cell.digest = answer_digest(*outcome.answer);
      cell.reason = unheeded(*outcome.answer);
      cell.state = cell.reason.empty() ? "ran" : "not_honoured";
    }
    if (cell.state == "ran") {
      cell.class_index = class_of(*cell.digest);
      record_.classes[*cell.class_index].cells.push_back(static_cast<std::uint32_t>(i));
    }
    record_.cells.push_back(std::move(cell));
  }

  /// The knobs that the cell's libraries didn't follow, in words.
  std::string unheeded(const Report& answer) const {
    std::string words;
    for (const DoubtfulSetting& setting : answer.builds.at(0).doubtful_settings) {
      const bool is_knob = std::any_of(request_.knobs.begin(), request_.knobs.end(),
                                       [&](const Knob& knob) { return knob.name == setting.name; });
      if (is_knob && setting.state == "not_honoured") {
        words += fmt::format("{}{}={} isn't honoured, {}", words.empty() ? "" : "; ", setting.name,
                             setting.value, setting.answer);
      }
    }
    return words;
  }

  std::uint32_t class_of(const std::string& digest) {
    const auto at = std::find_if(record_.classes.begin(), record_.classes.end(),
                                 [&](const SweepClass& one) { return one.digest == digest; });
    const auto index = static_cast<std::uint32_t>(at - record_.classes.begin());
    if (at == record_.classes.end()) {
      record_.classes.push_back({digest, {}});
    }
    return index;
  }

  /// Whether two cells differ in a knob alone.
  bool is_pair(const std::string& knob, const PlannedCell& a, const PlannedCell& b) const {
    if (knob == "build") {
      return a.build != b.build && a.values == b.values;
    }
    if (a.build != b.build || a.values.at(knob) == b.values.at(knob)) {
      return false;
    }
    return std::all_of(a.values.begin(), a.values.end(), [&](const auto& entry) {
      return entry.first == knob || entry.second == b.values.at(entry.first);
    });
  }

  void add_knob(const Knob& source) {
    SweepKnob knob;
    knob.name = source.name;
    knob.values = source.values;
    FailureTally failures;
    for (std::uint32_t a = 0; a < record_.cells.size(); ++a) {
      for (std::uint32_t b = a + 1; b < record_.cells.size(); ++b) {
        if (record_.cells[a].class_index && record_.cells[b].class_index &&
            is_pair(knob.name, request_.cells[a], request_.cells[b])) {
          add_pair({a, b}, knob);
          failures.add({a, b}, record_.cells[a].rescore, record_.cells[b].rescore);
        }
      }
    }
    if (knob.pairs > 0) {
      knob.moves_bits = knob.pairs_bits > 0;
      knob.moves_tokens = knob.pairs_tokens > 0;
      knob.notes = notes_on_knob(knob.name);
    }
    knob.failures = failures.result();
    record_.knobs.push_back(std::move(knob));
  }

  /// Why a pair of equal bits shows nothing of a knob; empty: it does.
  std::string idle(SweepPair pair, const std::string& knob) const {
    if (record_.cells[pair.a].class_index != record_.cells[pair.b].class_index) {
      return "";
    }
    return idle_reason(knob, request_.settings,
                       {request_.cells[pair.a].values, *outcomes_[pair.a].answer},
                       {request_.cells[pair.b].values, *outcomes_[pair.b].answer});
  }

  void add_pair(SweepPair pair, SweepKnob& knob) const {
    if (std::string why = idle(pair, knob.name); !why.empty()) {
      knob.idle = knob.idle.value_or(SweepIdle{0, std::move(why)});
      ++knob.idle->pairs;
      return;
    }
    ++knob.pairs;
    knob.pairs_kernels = knob.pairs_kernels.value_or(0);
    if (!same_kernels(*outcomes_[pair.a].answer, *outcomes_[pair.b].answer)) {
      ++*knob.pairs_kernels;
      knob.other_kernels = knob.other_kernels.value_or(pair);
    }
    if (record_.cells[pair.a].class_index == record_.cells[pair.b].class_index) {
      return;
    }
    ++knob.pairs_bits;
    knob.differing = knob.differing.value_or(pair);
    const TokenComparison tokens =
        compare_tokens(*outcomes_[pair.a].answer, *outcomes_[pair.b].answer, pair);
    knob.pairs_tokens += tokens.differ ? 1 : 0;
    if (tokens.first &&
        (!knob.first_token_change || earlier(*tokens.first, *knob.first_token_change))) {
      knob.first_token_change = tokens.first;
    }
  }

  const SweepRequest& request_;
  const std::vector<CellOutcome>& outcomes_;
  SweepRecord record_;
  std::uint32_t ran_ = 0;
};

}  // namespace

std::optional<std::size_t> first_difference(const Run& a, const Run& b) {
  const auto step = first_step(a, b, other_bits);
  return step ? std::optional(*step + 1) : std::nullopt;
}

std::string parting_of(const Report& a, const Report& b) {
  for (std::size_t i = 0; i < std::min(a.runs.size(), b.runs.size()); ++i) {
    if (const auto step = first_difference(a.runs[i], b.runs[i])) {
      return fmt::format("its two runs differ from step {} of prompt {} ({}) on", *step,
                         a.runs[i].prompt, a.runs[i].mode);
    }
  }
  return "its two runs answered other prompts";
}

void mark_unrepeatable(const std::string& parting, Report& report) {
  report.builds.at(0).repeatable = false;
  report.warnings = {parting};
}

std::string take_mark(Report& report) {
  if (report.builds.at(0).repeatable != false || report.warnings.empty()) {
    return "";
  }
  std::string parting = std::move(report.warnings.front());
  report.warnings.clear();
  return parting;
}

SweepRecord sweep_record(const SweepRequest& request, const std::vector<CellOutcome>& outcomes) {
  return Conclusion(request, outcomes).record();
}

}  // namespace drift
