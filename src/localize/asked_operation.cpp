#include "localize/asked_operation.hpp"

#include <utility>

namespace drift {
namespace {

wire::Job job_up_to(wire::Job job, std::int32_t token, const std::string& operation) {
  wire::Task task;
  task.ids = {token};
  task.new_tokens = 1;
  task.trace = {{1}, {}, {}, {operation}};
  job.tasks = {std::move(task)};
  return job;
}

}  // namespace

AskedOperation::AskedOperation(const ReplaySide& side, std::int32_t token,
                               const std::string& operation)
    : label_(side.launch.label), process_(side.launch, job_up_to(side.job, token, operation)) {
  expect_event<wire::Hello>(process_.next(), label_);
  expect_event<wire::Question>(process_.next(), label_);
}

void AskedOperation::call(std::vector<wire::TensorData> inputs) {
  std::vector<std::optional<wire::TensorData>> all;
  all.reserve(inputs.size());
  for (wire::TensorData& input : inputs) {
    all.emplace_back(std::move(input));
  }
  process_.call(std::move(all));
}

wire::TensorData AskedOperation::result() {
  return expect_event<wire::Result>(process_.next(), label_).output;
}

}  // namespace drift
