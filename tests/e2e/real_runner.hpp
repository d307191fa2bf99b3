#pragma once

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driftaudit/build.hpp"
#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/made_model.hpp"
#include "driftaudit/runner_process.hpp"
#include "driftaudit/weights.hpp"

#include "e2e/test_venvs.hpp"

namespace drift::test {

/// What one task gave.
struct Answer {
  std::vector<wire::Step> steps;
  std::vector<wire::OperationRecord> operations;
  wire::TaskEnd end;

  std::vector<std::int32_t> tokens() const;
};

/// Greedy from nine tokens.
wire::Task greedy_task(std::uint32_t new_tokens);

/// A runner of January's libtorch with a made model.
class RealRunnerTest : public NeedsPython39 {
 protected:
  void SetUp() override;

  /// From then on with the embedded model.
  void use_mini();
  /// Runs one task; `feed` answers the steps of a fed one.
  Answer run(const wire::Task& one, const std::vector<std::int32_t>& feed = {});
  /// Runs tasks in one process: their answers by id, whose frames must come one task after the
  /// other, in the tasks' order.
  std::map<std::uint32_t, Answer> run_all(const std::vector<wire::Task>& tasks,
                                          const std::string& fault = "");
  Answer run_with(const std::string& fault, const wire::Task& one);
  std::string error_with(const std::string& fault, const wire::Task& one = greedy_task(3));

 private:
  void use_model(const fs::path& folder);

 protected:
  TemporaryFolder scratch_{fs::temp_directory_path(), "driftaudit-runner"};
  ModelConfig config_;
  wire::Job job_;
  RunnerLaunch launch_;
};

}  // namespace drift::test
