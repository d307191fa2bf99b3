#include <algorithm>
#include <memory>
#include <set>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/isolation.hpp"
#include "driftaudit/localize.hpp"

#include "audit/sides.hpp"
#include "localize/asked_operation.hpp"
#include "localize/locate.hpp"

namespace drift {
namespace {

/// The pass's operations in order, without elements.
std::vector<wire::OperationRecord> layouts_of(const ReplaySide& side, wire::Task task,
                                              std::uint32_t step) {
  wire::Job job = side.job;
  task.new_tokens = step;
  task.trace = {{step}, {"*"}, {}, {}};
  job.tasks = {std::move(task)};
  RunnerProcess process(side.launch, job);
  std::vector<wire::OperationRecord> operations;
  for (;;) {
    RunnerProcess::Event event = process.next();
    if (std::holds_alternative<wire::Done>(event)) {
      return operations;
    }
    if (auto* operation = std::get_if<wire::OperationRecord>(&event)) {
      operations.push_back(std::move(*operation));
    }
  }
}

/// Localizes a pass that has been found.
class Localizer {
 public:
  Localizer(const LocalizeRequest& request, const Model& model, const Located& located,
            Progress& progress)
      : request_(request), located_(located), progress_(progress) {
    for (std::size_t i = 0; i < 2; ++i) {
      sides_.push_back({launch_of(request.audit, i), job_of(request.audit.sides[i], model, {})});
    }
  }

  LocalizeRecord localize() {
    record_.prompt = located_.prompt;
    record_.step = located_.step;
    record_.cached = located_.task.cache && located_.step > 1;
    record_.memory_budget = request_.memory;
    if (request_.memory) {
      check_memory(layouts_of(sides_[0], located_.task, located_.step), *request_.memory);
    }
    replay();
    summarize(record_);
    for (const auto& [function, operation] : own_functions()) {
      record_.sources.push_back(source_hint(function.name, located_.report.builds.at(0).blas));
      if (request_.isolation) {
        record_.isolation.push_back(isolate(operation, function));
      }
    }
    record_.compare = compare_address(located_.report.builds.at(0).torch_git,
                                      located_.report.builds.at(1).torch_git);
    return std::move(record_);
  }

 private:
  void replay() {
    progress_.start("replaying", 0, Progress::Unit::kItems);
    replay_pass(sides_[0], sides_[1], located_.task, located_.step, {"*"},
                [&](const ReplayedOperation& replayed) {
                  record_.operations.push_back(localized(replayed));
                  if (std::optional<CacheReentry> reentry = cache_reentry(replayed)) {
                    record_.reentries.push_back(std::move(*reentry));
                  }
                  progress_.update(record_.operations.size());
                });
    progress_.finish();
  }

  /// Each function that changed by itself, with its first operation that did.
  std::vector<std::pair<OperationFunction, std::string>> own_functions() const {
    std::vector<std::pair<OperationFunction, std::string>> functions;
    std::set<std::string> seen;
    for (const std::string& operation : record_.own) {
      OperationFunction function =
          operation_function(operation_kind(operation), sides_[0].job.score_scale);
      if (seen.insert(function.name).second) {
        functions.emplace_back(std::move(function), operation);
      }
    }
    return functions;
  }

  IsolatedOperation isolate(const std::string& operation, const OperationFunction& function) const {
    if (function.family == RowFamily::kMoves || function.family == RowFamily::kUnknown) {
      IsolatedOperation isolated;
      isolated.operation = operation;
      isolated.function = function.name;
      isolated.why_not = function.family == RowFamily::kMoves ? "it moves numbers and computes none"
                                                              : "its inputs aren't known";
      return isolated;
    }
    progress_.start(fmt::format("isolating {}", function.name), 0, Progress::Unit::kItems);
    const Kernels base = kernels(operation, std::nullopt);
    const std::optional<std::uint32_t> others = other_threads();
    const std::optional<Kernels> threaded =
        others ? std::optional<Kernels>(kernels(operation, others)) : std::nullopt;
    IsolatedOperation isolated =
        sweep(operation, function, base.pair(),
              threaded ? std::optional<KernelPair>(threaded->pair()) : std::nullopt,
              {request_.audit.sides[0].threads, others.value_or(0)}, full_sweep());
    progress_.finish();
    return isolated;
  }

  /// Both sides' runners at the operation.
  struct Kernels {
    std::unique_ptr<AskedOperation> a, b;
    KernelPair pair() const { return {a.get(), b.get()}; }
  };

  Kernels kernels(const std::string& operation, std::optional<std::uint32_t> threads) const {
    std::unique_ptr<AskedOperation> of[2];
    for (std::size_t i = 0; i < 2; ++i) {
      ReplaySide side = sides_[i];
      side.job.threads = threads.value_or(side.job.threads);
      of[i] = std::make_unique<AskedOperation>(side, located_.task.ids.at(0), operation);
    }
    return {std::move(of[0]), std::move(of[1])};
  }

  /// Another number of threads for both sides; none where it is what the sides differ by, or there
  /// are no cores for it.
  std::optional<std::uint32_t> other_threads() const {
    const std::uint32_t threads = request_.audit.sides[0].threads;
    if (threads != request_.audit.sides[1].threads || std::thread::hardware_concurrency() < 2) {
      return std::nullopt;
    }
    return threads == 1 ? 2U : 1U;
  }

  const LocalizeRequest& request_;
  const Located& located_;
  Progress& progress_;
  std::vector<ReplaySide> sides_;
  LocalizeRecord record_;
};

}  // namespace

Report run_localize(const LocalizeRequest& request, const Model& model, Progress& progress) {
  Located located = locate(request, model, progress);
  LocalizeRecord record = Localizer(request, model, located, progress).localize();
  Report report = std::move(located.report);
  report.kind = "localize";
  report.localize = std::move(record);
  return report;
}

}  // namespace drift
