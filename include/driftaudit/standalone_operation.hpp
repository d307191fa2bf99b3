#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driftaudit/runner_process.hpp"

namespace drift {

/// One operation of a build by itself, in a runner of its own; its names are in
/// runner/operations.hpp ("softmax", "sum", "matmul", "sleef_expf8_u10", …). Needs no model.
class StandaloneOperation {
 public:
  /// Starts the runner with so many threads; `fault` as in runner/faults.hpp, for tests.
  StandaloneOperation(const RunnerLaunch& launch, std::string name, std::uint32_t threads = 1,
                      const std::string& fault = "");

  const RunnerFacts& facts() const { return facts_; }
  /// As RunnerProcess::log_tail().
  std::string log_tail() const { return process_.log_tail(); }
  /// What the operation gives on these inputs. Errors (trouble), naming the side and the operation:
  /// the build has none of that name, it refuses the inputs; or as RunnerProcess::next().
  wire::TensorData operator()(std::vector<wire::TensorData> inputs);

 private:
  std::string label_;
  RunnerProcess process_;
  RunnerFacts facts_;
};

}  // namespace drift
