#include "driftaudit/runner_process.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/tensor.hpp"

namespace drift {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Signals : public testing::Environment {
 public:
  void SetUp() override { install_interrupt_handlers(); }
};
const auto* const kSignals = testing::AddGlobalTestEnvironment(new Signals);

RunnerLaunch launch(const std::string& fake) {
  RunnerLaunch result;
  result.label = "1.2.3";
  result.program = FAKE_RUNNER;
  result.environment["FAKE"] = fake;
  result.timeout_seconds = 20;
  return result;
}

wire::Task task(std::uint32_t id, std::vector<std::int32_t> ids, std::uint32_t new_tokens) {
  wire::Task result;
  result.id = id;
  result.ids = std::move(ids);
  result.new_tokens = new_tokens;
  return result;
}

wire::Job job(std::vector<wire::Task> tasks = {task(1, {5}, 2)}) {
  wire::Job result;
  result.weights = "the weights";
  result.threads = 3;
  result.tasks = std::move(tasks);
  return result;
}

/// Everything up to Done.
std::vector<RunnerProcess::Event> all_events(RunnerProcess& process) {
  std::vector<RunnerProcess::Event> events;
  do {
    events.push_back(process.next());
  } while (!std::holds_alternative<wire::Done>(events.back()));
  return events;
}

/// The error that such a runner ends in.
TEST(RunnerProcess, StandsInAnEmptyFolderOfItsOwn) {
  const TemporaryFolder scratch(fs::temp_directory_path(), "driftaudit-test");
  const fs::path seen = scratch.path() / "seen";
  RunnerLaunch how = launch("");
  how.environment["PATH"] = ".:" + environment_value("PATH");
  // An empty folder in this list is the one where the runner stands: nothing is loaded from it.
  how.environment["LD_LIBRARY_PATH"] = ":";
  how.launcher = {"sh", "-c", "{ pwd; ls -A; echo $PATH; } > " + seen.string() + "; exec \"$0\""};
  {
    RunnerProcess process(how, job());
    all_events(process);
  }
  std::istringstream lines(read_file(seen));
  std::string folder;
  std::string path;
  std::getline(lines, folder);
  std::getline(lines, path);
  EXPECT_NE(folder, fs::current_path().string());
  EXPECT_FALSE(fs::exists(folder)) << "gone with the runner";
  EXPECT_EQ(path, environment_value("PATH"));
}

Error error_of(const RunnerLaunch& how) {
  RunnerProcess process(how, job());
  try {
    all_events(process);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kTrouble);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error;
  }
  ADD_FAILURE() << "no error";
  return trouble("none");
}

std::string message_of(const std::string& fake) { return error_of(launch(fake)).what(); }

TEST(RunnerProcess, GivesTheEventsInOrder) {
  RunnerProcess process(launch(""), job());
  const auto events = all_events(process);
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(std::get<wire::Hello>(events[0]).config, "the weights");
  EXPECT_EQ(std::get<wire::Hello>(events[0]).threads, 3U);
  EXPECT_EQ(std::get<wire::Step>(events[1]).step, 1U);
  EXPECT_EQ(std::get<wire::Step>(events[2]).logits, std::vector<float>(100000, 5.0F));
  EXPECT_EQ(std::get<wire::TaskEnd>(events[3]).seconds, 0.5);
  EXPECT_EQ(std::get<wire::Done>(events[4]).peak_memory_bytes, 4096U);
}

TEST(RunnerProcess, SkipsWhatWasPrintedBeforeTheMagic) {
  RunnerProcess process(launch("noise"), job());
  EXPECT_EQ(all_events(process).size(), 5U);
}

TEST(RunnerProcess, FeedsTokensAndEndsAFedTask) {
  wire::Task fed = task(1, {5}, 10);
  fed.fed = true;
  RunnerProcess process(launch(""), job({fed}));
  ASSERT_TRUE(std::holds_alternative<wire::Hello>(process.next()));
  EXPECT_EQ(std::get<wire::Step>(process.next()).token, 5);
  process.feed(42);
  EXPECT_EQ(std::get<wire::Step>(process.next()).token, 42);
  process.feed(-1);
  EXPECT_TRUE(std::holds_alternative<wire::TaskEnd>(process.next()));
  EXPECT_TRUE(std::holds_alternative<wire::Done>(process.next()));
}

TEST(RunnerProcess, AnswersQuestionsInTheMiddleOfAStep) {
  wire::Task traced = task(1, {5}, 1);
  traced.trace = {{1}, {}, {"second"}, {"first"}};
  RunnerProcess process(launch(""), job({traced}));
  expect_event<wire::Hello>(process.next(), "");
  EXPECT_EQ(expect_event<wire::Question>(process.next(), "").name, "first");
  const wire::TensorData input = contiguous_tensor({2}, {1.5F, -0.0F}, 12);
  for (std::uint32_t n = 1; n <= 2; ++n) {
    process.call({input});
    const auto result = expect_event<wire::Result>(process.next(), "");
    EXPECT_EQ(result.call, n);
    EXPECT_EQ(result.output.layout, input.layout);
    EXPECT_EQ(result.output.bytes, input.bytes);
  }
  process.end_calls();
  EXPECT_EQ(expect_event<wire::OperationRecord>(process.next(), "").name, "second");
  expect_event<wire::Step>(process.next(), "");
}

TEST(RunnerProcess, TellsWhenAnotherEventShouldHaveCome) {
  RunnerProcess process(launch(""), job());
  try {
    expect_event<wire::Result>(process.next(), "1.2.3");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kTrouble);
    EXPECT_THAT(error.what(), HasSubstr("1.2.3: the runner sent its frames out of order"));
  }
}

TEST(RunnerProcess, SendsCallsAheadOfTheirResults) {
  wire::Task calls;
  calls.mode = wire::Mode::kOperation;
  RunnerProcess process(launch(""), job({calls}));
  expect_event<wire::Hello>(process.next(), "");
  for (int n = 0; n < 40; ++n) {  // 40 MB each way
    process.call({contiguous_tensor({250000}, std::vector<float>(250000, static_cast<float>(n)))});
  }
  process.end_calls();
  for (int n = 0; n < 40; ++n) {
    const auto output = expect_event<wire::Result>(process.next(), "").output;
    ASSERT_EQ(float_elements(output).back(), static_cast<float>(n));
  }
  expect_event<wire::TaskEnd>(process.next(), "");
}

TEST(RunnerProcess, SendsAJobThatIsLargerThanAPipe) {
  RunnerProcess process(launch("noise"), job({task(1, std::vector<std::int32_t>(3000000, 8), 1)}));
  EXPECT_EQ(all_events(process).size(), 4U);
}

TEST(RunnerProcess, LetsTheRunnerWaitWhileNobodyTakesItsFrames) {
  RunnerProcess process(launch(""), job({task(1, {5}, 200)}));  // 80 MB of logits
  ::usleep(200000);
  EXPECT_EQ(all_events(process).size(), 203U);
}

TEST(RunnerProcess, StartsTheProgramThroughALauncher) {
  RunnerLaunch how = launch("");
  how.launcher = {"/usr/bin/env", "FAKE=failure"};
  EXPECT_THAT(error_of(how).what(), HasSubstr("no such file"));
}

TEST(RunnerProcess, QuotesTheFailureThatTheRunnerReports) {
  EXPECT_EQ(message_of("failure"), "1.2.3: the runner gave up: weights.bin: no such file");
}

TEST(RunnerProcess, SaysThatTheRunnerWasKilled) {
  EXPECT_THAT(message_of("killed"), AllOf(HasSubstr("1.2.3: "), HasSubstr("signal 9")));
}

TEST(RunnerProcess, SaysThatTheProcessorLacksAnInstruction) {
  const Error error = error_of(launch("illegal"));
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("an instruction that this processor lacks"), HasSubstr("signal 4")));
  EXPECT_THAT(error.hint(), HasSubstr("ATEN_CPU_CAPABILITY"));
}

TEST(RunnerProcess, QuotesTheEndOfStderrWhenTheRunnerEndsEarly) {
  const Error error = error_of(launch("ended"));
  EXPECT_THAT(error.what(), AllOf(HasSubstr("too early: exit status 127"),
                                  HasSubstr("libfoo.so.1: cannot open shared object file")));
  EXPECT_THAT(error.hint(), HasSubstr("builds doctor"));
}

TEST(RunnerProcess, QuotesTextFromStdoutWhenThereIsNothingElse) {
  EXPECT_THAT(message_of("silent end"), HasSubstr("docker: no such image"));
}

TEST(RunnerProcess, KeepsOnlyTheEndOfALongStderr) {
  const std::string message = message_of("chatty");
  EXPECT_THAT(message, HasSubstr("the end of it"));
  EXPECT_LT(message.size(), 1000U);
}

TEST(RunnerProcess, NoticesAStreamThatEndsWithinAFrame) {
  EXPECT_THAT(message_of("cut"), HasSubstr("in the middle of a frame"));
}

TEST(RunnerProcess, RefusesAHugeFrameWithoutWaitingForIt) {
  EXPECT_THAT(message_of("huge"), HasSubstr("a frame of 1152921504606846976 bytes"));
}

TEST(RunnerProcess, RefusesAnUnknownFrame) {
  EXPECT_THAT(message_of("unknown"), HasSubstr("unknown kind 77"));
}

TEST(RunnerProcess, RefusesAFrameThatIsNotWhatItSays) {
  EXPECT_THAT(message_of("lying"), HasSubstr("frame shorter than its contents"));
}

TEST(RunnerProcess, RefusesAnotherProtocol) {
  EXPECT_THAT(message_of("protocol"), HasSubstr("protocol 99"));
}

TEST(RunnerProcess, RefusesTooMuchTextBeforeTheMagic) {
  EXPECT_THAT(message_of("too much noise"), HasSubstr("of text before its first frame"));
}

TEST(RunnerProcess, NoticesARunnerThatHangs) {
  RunnerLaunch how = launch("hung");
  how.timeout_seconds = 0.3;
  EXPECT_THAT(error_of(how).what(),
              AllOf(HasSubstr("not a word for 0.3 s"), HasSubstr("about to hang")));
}

TEST(RunnerProcess, KillsARunnerThatClosesItsOutputAndGoesOn) {
  EXPECT_THAT(message_of("closed"), HasSubstr("closed its output"));
}

TEST(RunnerProcess, NamesAProgramThatIsMissing) {
  RunnerLaunch how = launch("");
  how.program = "/nowhere/runner";
  try {
    const RunnerProcess process(how, job());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/runner"));
  }
}

TEST(RunnerProcess, IsKilledByTheDestructor) {
  const auto begun = std::chrono::steady_clock::now();
  {
    RunnerProcess process(launch("hung"), job());
    process.next();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

TEST(RunnerProcess, EndsItsWaitWhenASignalComes) {
  EXPECT_EXIT(
      {
        RunnerProcess process(launch("hung"), job());
        process.next();
        std::raise(SIGTERM);
        try {
          process.next();
        } catch (const Error& error) {
          std::exit(static_cast<int>(error.status()));
        }
      },
      testing::ExitedWithCode(143), "");
}

}  // namespace
}  // namespace drift
