#include "driftaudit/standalone_operation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/tensor.hpp"

namespace drift {
namespace {

RunnerLaunch launch_of_fake(const std::string& fake) {
  RunnerLaunch launch;
  launch.label = "1.2.3";
  launch.program = FAKE_RUNNER;
  launch.environment["FAKE"] = fake;
  launch.timeout_seconds = 20;
  return launch;
}

TEST(StandaloneOperation, AnswersCallByCall) {
  StandaloneOperation echo(launch_of_fake(""), "echo", 3);
  EXPECT_EQ(echo.facts().torch, "9.9.9");
  EXPECT_EQ(echo.facts().aten_threads, 3U);
  for (const float value : {1.0F, 2.0F}) {
    EXPECT_EQ(float_elements(echo({contiguous_tensor({1}, {value})})), std::vector<float>{value});
  }
}

TEST(StandaloneOperation, PassesOnWhatTheRunnerRefuses) {
  StandaloneOperation operation(launch_of_fake("failure"), "softmax");
  try {
    operation({contiguous_tensor({1}, {0})});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("1.2.3: the runner gave up: weights.bin"));
  }
}

}  // namespace
}  // namespace drift
