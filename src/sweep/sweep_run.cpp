#include <array>
#include <exception>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/measure.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/sweep.hpp"

#include "bisect/probe_store.hpp"
#include "sweep/conclude.hpp"

namespace drift {
namespace {

constexpr std::size_t kTurns = 2;

std::string values_text(const PlannedCell& cell) {
  std::string text = fmt::format("build {}\n", cell.build);
  for (const auto& [name, value] : cell.values) {
    text += fmt::format("{}={}\n", name, value);
  }
  return text;
}

std::string sweep_key(const SweepRequest& request) {
  Sha256 digest;
  digest.update(request.identity);
  for (const PlannedCell& cell : request.cells) {
    digest.update(values_text(cell));
  }
  return digest.hex().substr(0, 24);
}

/// Leaves of each step what cells are compared by.
void strip(Report& report) {
  for (Run& run : report.runs) {
    for (Step& step : run.steps) {
      step.top = {};
    }
  }
}

bool is_interruption(const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const Error& error) {
    return error.is_interruption();
  } catch (...) {
    return false;
  }
}

/// One of a cell's two runs.
struct Turn {
  std::size_t cell = 0;
  std::size_t number = 0;
};

/// All cells at work. What threads share is behind one lock.
class Sweep {
 public:
  Sweep(const SweepRequest& request, const CellRunner& run, const CellRescorer& rescore,
        Progress& progress)
      : request_(request),
        run_(run),
        rescore_(rescore),
        progress_(progress),
        store_("sweep", sweep_key(request), progress),
        cells_(request.cells.size()),
        outcomes_(request.cells.size()) {
    store_.note_kept("run", progress);
  }

  std::vector<CellOutcome> outcomes() {
    progress_.start("sweeping, two runs a cell", kTurns * cells_.size(), Progress::Unit::kItems);
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < request_.jobs; ++i) {
      others.emplace_back([this] { work(); });
    }
    work();
    for (std::jthread& other : others) {
      other.join();
    }
    if (problem_) {
      std::rethrow_exception(problem_);
    }
    progress_.finish();
    return std::move(outcomes_);
  }

  /// To be called when the result is safe.
  void done() { store_.remove(); }

 private:
  /// Both runs of a cell, as they come.
  struct CellState {
    std::array<std::optional<Report>, kTurns> answers;
    std::array<std::optional<Error>, kTurns> failures;
    std::optional<Report> rescored;  ///< the first answer, where that was asked for
    bool settled = false;

    bool is_done(std::size_t number) const { return answers[number] || failures[number]; }
  };

  void work() {
    try {
      while (const std::optional<Turn> turn = next_turn()) {
        take_turn(*turn);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      // An interruption ends every run that is at work, each with its own error.
      if (!problem_ || is_interruption(std::current_exception())) {
        problem_ = std::current_exception();
      }
    }
  }

  /// The next run that is worth its time: none after a problem, and no second one of a cell whose
  /// first one has failed.
  std::optional<Turn> next_turn() {
    const std::lock_guard lock(mutex_);
    while (!problem_ && next_ < kTurns * cells_.size()) {
      const Turn turn{next_ / kTurns, next_ % kTurns};
      ++next_;
      if (!cells_[turn.cell].settled) {
        return turn;
      }
    }
    return std::nullopt;
  }

  std::string name_of(const Turn& turn) const {
    return fmt::format("{} {}", turn.cell, turn.number);
  }

  void take_turn(const Turn& turn) {
    std::optional<Error> failure;
    std::optional<Report> answer = answer_by(
        name_of(turn), [&] { return run_(turn.cell); }, failure);
    std::optional<Report> rescored;
    if (answer && rescore_ && turn.number == 0) {
      rescored = answer_by(
          name_of(turn) + " rescored " + request_.rescoring,
          [&] { return rescore_(turn.cell, *answer); }, failure);
    }
    const std::lock_guard lock(mutex_);
    CellState& cell = cells_[turn.cell];
    cell.answers[turn.number] = failure ? std::nullopt : std::move(answer);
    cell.failures[turn.number] = std::move(failure);
    if (rescored) {
      cell.rescored = std::move(rescored);
    }
    settle_if_done(turn.cell);
    advance();
  }

  /// What the store has under a name, or what `make` gives, which goes into the store; nothing
  /// where that fails.
  std::optional<Report> answer_by(const std::string& name, const std::function<Report()>& make,
                                  std::optional<Error>& failure) {
    std::optional<Report> answer;
    {
      const std::lock_guard lock(mutex_);
      answer = store_.answer(name);
    }
    if (answer) {
      return answer;
    }
    try {
      answer = make();
    } catch (const Error& error) {
      if (error.is_interruption()) {
        throw;
      }
      throw_if_disk_full(error);
      failure = error;
      return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    store_.keep_answer(name, *answer);
    return answer;
  }

  void settle_if_done(std::size_t index) {
    CellState& cell = cells_[index];
    if (cell.settled || !cell.is_done(0) || (!cell.failures[0] && !cell.is_done(1))) {
      return;
    }
    cell.settled = true;
    CellOutcome& outcome = outcomes_[index];
    const std::optional<Error>& failure = cell.failures[0] ? cell.failures[0] : cell.failures[1];
    if (failure) {
      outcome.reason = failure->what();
      progress_.note(fmt::format("cell {} failed: {}", index + 1, outcome.reason));
    } else {
      judge(index, cell, outcome);
    }
    cell.answers = {};
    cell.rescored.reset();
  }

  /// Holds a cell's two runs against each other.
  void judge(std::size_t index, CellState& cell, CellOutcome& outcome) {
    Report& first = *cell.answers[0];
    Report& again = *cell.answers[1];
    const std::array marks = {take_mark(first), take_mark(again)};
    std::string parting = marks[0].empty() ? marks[1] : marks[0];
    if (parting.empty() && answer_digest(first) != answer_digest(again)) {
      parting = parting_of(first, again);
    }
    outcome.repeatable = parting.empty();
    for (Report* report : {&first, &again}) {
      report->tool = request_.tool;
      report->builds.at(0).repeatable = outcome.repeatable;
    }
    if (!outcome.repeatable) {
      outcome.reason = parting;
      progress_.note(fmt::format("cell {} is nondeterministic: {}", index + 1, outcome.reason));
    }
    if (!request_.keep_cells.empty()) {
      save(first, cell_name(index), outcome);
      if (!outcome.repeatable) {
        save(again, cell_name(index) + "-again", outcome);
      }
    }
    if (cell.rescored) {
      if (!request_.keep_cells.empty()) {
        save(*cell.rescored, cell_name(index) + "-rescored", outcome);
      }
      outcome.rescore = std::move(cell.rescored->rescore);
    }
    strip(first);
    outcome.answer = std::move(first);
  }

  std::string cell_name(std::size_t index) const {
    const std::size_t digits = std::to_string(cells_.size()).size();
    return fmt::format("cell-{:0{}}", index + 1, digits);
  }

  void save(const Report& report, const std::string& name, CellOutcome& outcome) const {
    outcome.reports.push_back(name + ".json.zst");
    write_report(report, request_.keep_cells / outcome.reports.back());
  }

  void advance() {
    std::uint64_t done = 0;
    for (const CellState& cell : cells_) {
      done += cell.settled ? kTurns : (cell.is_done(0) ? 1U : 0U) + (cell.is_done(1) ? 1U : 0U);
    }
    progress_.update(done);
  }

  const SweepRequest& request_;
  const CellRunner& run_;
  const CellRescorer& rescore_;
  Progress& progress_;
  ProbeStore store_;
  std::mutex mutex_;
  std::size_t next_ = 0;  ///< turns are taken in order
  std::vector<CellState> cells_;
  std::vector<CellOutcome> outcomes_;
  std::exception_ptr problem_;
};

/// Errors: no cell ran.
void require_some(const std::vector<CellOutcome>& outcomes) {
  for (const CellOutcome& outcome : outcomes) {
    if (outcome.answer) {
      return;
    }
  }
  throw trouble(fmt::format("every cell failed; the first: {}", outcomes.at(0).reason),
                "audit one of the builds with one of the settings to see more");
}

/// The tokens that the record names.
void add_tokens(const std::vector<CellOutcome>& outcomes, Report& report) {
  for (const SweepKnob& knob : report.sweep->knobs) {
    if (!knob.first_token_change) {
      continue;
    }
    const SweepTokenChange& change = *knob.first_token_change;
    for (const auto& [cell, id] :
         {std::pair(change.cells.a, change.before), std::pair(change.cells.b, change.after)}) {
      const std::map<std::int32_t, std::string>& tokens = outcomes[cell].answer->tokens;
      if (const auto at = tokens.find(id); at != tokens.end()) {
        report.tokens.insert(*at);
      }
    }
  }
}

Report report_of(const SweepRequest& request, const std::vector<CellOutcome>& outcomes) {
  Report report;
  report.kind = "sweep";
  report.tool = request.tool;
  report.created = utc_now();
  report.host = this_host();
  report.prompts = request.prompts;
  report.settings = request.settings;
  for (const CellOutcome& outcome : outcomes) {
    if (outcome.answer) {
      report.model = outcome.answer->model;
      report.builds.push_back(outcome.answer->builds.at(0));
    }
  }
  report.sweep = sweep_record(request, outcomes);
  add_tokens(outcomes, report);
  return report;
}

}  // namespace

Report run_sweep(const SweepRequest& request, const CellRunner& run, const CellRescorer& rescore,
                 Progress& progress) {
  Sweep sweep(request, run, rescore, progress);
  return resumable([&] {
    const std::vector<CellOutcome> outcomes = sweep.outcomes();
    require_some(outcomes);
    Report report = report_of(request, outcomes);
    sweep.done();
    return report;
  });
}

}  // namespace drift
