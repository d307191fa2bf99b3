#include "e2e/real_runner.hpp"

#include <cstdlib>
#include <memory>
#include <sstream>
#include <utility>

namespace drift::test {

std::vector<std::int32_t> Answer::tokens() const {
  std::vector<std::int32_t> result;
  for (const wire::Step& step : steps) {
    result.push_back(step.token);
  }
  return result;
}

wire::Task greedy_task(std::uint32_t new_tokens) {
  wire::Task result;
  result.ids = {11, 22, 33, 44, 55, 66, 77, 88, 99};
  result.new_tokens = new_tokens;
  result.seed = 1234;
  return result;
}

void RealRunnerTest::SetUp() {
  NeedsPython39::SetUp();
  if (python_.empty()) {
    return;
  }
  const auto progress = make_silent_progress();
  const fs::path folder = scratch_.path() / "model";
  make_model(folder, {}, *progress);
  use_model(folder);
  launch_.label = "1.10.1";
  launch_.program = open_runner(inspect_build(january_venv(python_)), *progress).program;
  launch_.environment = test_runner_environment();
  launch_.timeout_seconds = 120;
  // A command before the runner, such as one that emulates another processor.
  if (const char* launcher = std::getenv("DRIFTAUDIT_TEST_LAUNCHER")) {
    std::istringstream words(launcher);
    for (std::string word; words >> word;) {
      launch_.launcher.push_back(word);
    }
    launch_.timeout_seconds = 1200;
  }
}

void RealRunnerTest::use_mini() { use_model(fs::path(DRIFTAUDIT_SOURCE_FOLDER) / "models/mini"); }

void RealRunnerTest::use_model(const fs::path& folder) {
  config_ = read_model_config(folder / "config.json");
  job_.weights = (scratch_.path() / (folder.filename().string() + ".weights")).string();
  write_canonical_weights(folder, config_, job_.weights);
}

Answer RealRunnerTest::run(const wire::Task& one, const std::vector<std::int32_t>& feed) {
  wire::Job job = job_;
  job.tasks = {one};
  RunnerProcess process(launch_, job);
  Answer answer;
  for (;;) {
    RunnerProcess::Event event = process.next();
    if (auto* step = std::get_if<wire::Step>(&event)) {
      answer.steps.push_back(std::move(*step));
      if (one.fed) {
        process.feed(feed.at(answer.steps.size() - 1));
      }
    } else if (auto* operation = std::get_if<wire::OperationRecord>(&event)) {
      answer.operations.push_back(std::move(*operation));
    } else if (const auto* end = std::get_if<wire::TaskEnd>(&event)) {
      answer.end = *end;
    } else if (std::holds_alternative<wire::Done>(event)) {
      return answer;
    }
  }
}

std::map<std::uint32_t, Answer> RealRunnerTest::run_all(const std::vector<wire::Task>& tasks,
                                                        const std::string& fault) {
  wire::Job job = job_;
  job.tasks = tasks;
  job.fault = fault;
  RunnerProcess process(launch_, job);
  std::map<std::uint32_t, Answer> answers;
  std::size_t at = 0;
  for (;;) {
    RunnerProcess::Event event = process.next();
    if (auto* step = std::get_if<wire::Step>(&event)) {
      Answer& answer = answers[step->task];
      EXPECT_EQ(step->task, tasks.at(at).id);
      answer.steps.push_back(std::move(*step));
      EXPECT_EQ(answer.steps.back().step, answer.steps.size());
    } else if (const auto* end = std::get_if<wire::TaskEnd>(&event)) {
      EXPECT_EQ(end->task, tasks.at(at).id);
      answers[end->task].end = *end;
      ++at;
    } else if (std::holds_alternative<wire::Done>(event)) {
      EXPECT_EQ(at, tasks.size());
      return answers;
    }
  }
}

Answer RealRunnerTest::run_with(const std::string& fault, const wire::Task& one) {
  job_.fault = fault;
  Answer answer = run(one);
  job_.fault.clear();
  return answer;
}

std::string RealRunnerTest::error_with(const std::string& fault, const wire::Task& one) {
  try {
    run_with(fault, one);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace drift::test
