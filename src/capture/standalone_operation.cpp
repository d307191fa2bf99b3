#include "driftaudit/standalone_operation.hpp"

#include <optional>
#include <utility>

namespace drift {
namespace {

wire::Job job_of_operation(std::string name, std::uint32_t threads, const std::string& fault) {
  wire::Job job;
  job.threads = threads;
  job.fault = fault;
  wire::Task task;
  task.mode = wire::Mode::kOperation;
  task.operation = std::move(name);
  job.tasks.push_back(std::move(task));
  return job;
}

}  // namespace

StandaloneOperation::StandaloneOperation(const RunnerLaunch& launch, std::string name,
                                         std::uint32_t threads, const std::string& fault)
    : label_(launch.label),
      process_(launch, job_of_operation(std::move(name), threads, fault)),
      facts_(facts_from(expect_event<wire::Hello>(process_.next(), label_))) {}

wire::TensorData StandaloneOperation::operator()(std::vector<wire::TensorData> inputs) {
  std::vector<std::optional<wire::TensorData>> all;
  all.reserve(inputs.size());
  for (wire::TensorData& input : inputs) {
    all.emplace_back(std::move(input));
  }
  process_.call(std::move(all));
  return expect_event<wire::Result>(process_.next(), label_).output;
}

}  // namespace drift
