#include "driftaudit/reveal_run.hpp"

#include <map>
#include <memory>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/localize.hpp"
#include "driftaudit/order_words.hpp"
#include "driftaudit/standalone_operation.hpp"

#include "audit/records.hpp"
#include "audit/sides.hpp"

namespace drift {
namespace {

/// A build's operations, each in a runner of its own that starts when it is first called.
class SideOperations {
 public:
  SideOperations(const Side& side, double timeout_seconds)
      : side_(side), launch_(launch_of(side, side.build.label, timeout_seconds)) {}

  OperationCall find(const std::string& name) {
    return [this, name](std::vector<wire::TensorData> inputs) { return call(name, inputs); };
  }

  /// What the runner of that operation says of itself.
  const RunnerFacts& facts(const std::string& name) { return opened(name).facts(); }
  std::string log_tail(const std::string& name) { return opened(name).log_tail(); }

 private:
  StandaloneOperation& opened(const std::string& name) {
    std::unique_ptr<StandaloneOperation>& operation = operations_[name];
    if (!operation) {
      operation = std::make_unique<StandaloneOperation>(launch_, name, side_.threads, side_.fault);
    }
    return *operation;
  }

  /// An operation that was refused once isn't started again: its runner has ended.
  wire::TensorData call(const std::string& name, std::vector<wire::TensorData>& inputs) {
    if (const auto refused = refusals_.find(name); refused != refusals_.end()) {
      throw refused->second;
    }
    try {
      return opened(name)(std::move(inputs));
    } catch (const Error& error) {
      refusals_.emplace(name, error);
      throw;
    }
  }

  const Side& side_;
  RunnerLaunch launch_;
  std::map<std::string, std::unique_ptr<StandaloneOperation>> operations_;
  std::map<std::string, Error> refusals_;
};

/// Lanes of the vectors that ATen's kernels are compiled for; 0: not known.
std::size_t lanes_of(const std::string& cpu_capability) {
  if (cpu_capability == "AVX512") {
    return 16;
  }
  return cpu_capability == "AVX2" ? 8 : 0;
}

std::string name_of(const Report& report, std::size_t build) {
  const auto shared = [&](const BuildRecord& other) {
    return &other != &report.builds[build] && other.label == report.builds[build].label;
  };
  const bool ambiguous = std::any_of(report.builds.begin(), report.builds.end(), shared);
  const std::string letter(1, static_cast<char>('A' + build));
  return ambiguous ? letter : report.builds[build].label;
}

OrderComparison compare(const Report& report, const RevealedOrder& a, const RevealedOrder& b) {
  OrderComparison comparison;
  comparison.a = a.build;
  comparison.b = b.build;
  comparison.length = a.length;
  const SumTree of_a = tree_from_text(a.tree);
  const SumTree of_b = tree_from_text(b.tree);
  comparison.same = of_a == of_b;
  comparison.proved = a.status == "proved" && b.status == "proved";
  const std::size_t lanes = lanes_of(report.builds[a.build].cpu_capability);
  const bool alike = lanes == lanes_of(report.builds[b.build].cpu_capability);
  comparison.words = order_difference(name_of(report, a.build), of_a, name_of(report, b.build),
                                      of_b, alike ? lanes : 0);
  return comparison;
}

class RevealRun {
 public:
  RevealRun(const RevealRequest& request, Progress& progress)
      : request_(request), progress_(progress) {
    report_.kind = "reveal";
    report_.created = utc_now();
    report_.host = this_host();
  }

  Report run() {
    RevealRecord& record = report_.reveal.emplace();
    const OrderQuestion& question = request_.question;
    record.operation = question.operation;
    record.lengths.assign(request_.lengths.begin(), request_.lengths.end());
    if (question.operation == "matmul") {
      record.shape = fmt::format("{}x{}", question.shape.rows, question.shape.columns);
    }
    record.rows_per_call = question.batching.rows;
    open_sides();
    point_to_sources(record);
    progress_.start("revealing", request_.lengths.size() * sides_.size(), Progress::Unit::kItems);
    for (const std::size_t length : request_.lengths) {
      reveal_length(length, record);
    }
    progress_.finish();
    return std::move(report_);
  }

 private:
  void open_sides() {
    for (const Side& side : request_.sides) {
      sides_.push_back(std::make_unique<SideOperations>(side, request_.timeout_seconds));
      BuildRecord& record = report_.builds.emplace_back(build_record(side));
      record_facts(sides_.back()->facts(request_.question.operation), record);
      record.log = sides_.back()->log_tail(request_.question.operation);
    }
  }

  void point_to_sources(RevealRecord& record) const {
    const std::vector<BuildRecord>& builds = report_.builds;
    if (builds.size() < 2) {
      return;
    }
    record.sources.push_back(source_hint(request_.question.operation, builds[0].blas));
    if (builds.size() == 2) {
      record.compare = compare_address(builds[0].torch_git, builds[1].torch_git);
    }
  }

  void reveal_length(std::size_t length, RevealRecord& record) {
    const std::size_t first = record.trees.size();
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      OrderQuestion question = request_.question;
      question.length = length;
      question.lanes = lanes_of(report_.builds[side].cpu_capability);
      const FindOperation find = [&](const std::string& name) { return sides_[side]->find(name); };
      RevealedOrder order = reveal_operation(find, question);
      order.build = static_cast<std::uint32_t>(side);
      record.trees.push_back(std::move(order));
      progress_.update(record.trees.size());
    }
    for (std::size_t i = first + 1; i < record.trees.size(); ++i) {
      const RevealedOrder& a = record.trees[i - 1];
      const RevealedOrder& b = record.trees[i];
      if (!a.tree.empty() && !b.tree.empty()) {
        record.comparisons.push_back(compare(report_, a, b));
      }
    }
  }

  const RevealRequest& request_;
  Progress& progress_;
  Report report_;
  std::vector<std::unique_ptr<SideOperations>> sides_;
};

}  // namespace

Report run_reveal(const RevealRequest& request, Progress& progress) {
  return RevealRun(request, progress).run();
}

}  // namespace drift
