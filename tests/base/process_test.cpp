#include "driftaudit/process.hpp"

#include <array>
#include <chrono>
#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

#include "shared/process_ends.hpp"
#include "shared/scoped_environment.hpp"

namespace drift {
namespace {

TEST(RunProcess, KeepsBothStreamsAndTheStatus) {
  const ProcessResult result =
      run_process({{"sh", "-c", "echo out; echo err >&2; exit 3"}, {}, {}});
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.end.exit_code, 3);
  EXPECT_EQ(result.end.describe(), "exit status 3");
}

TEST(RunProcess, TellsASignalFromAStatus) {
  const ProcessResult result = run_process({{"sh", "-c", "kill -9 $$"}, {}, {}});
  EXPECT_EQ(result.end.signal, SIGKILL);
  EXPECT_FALSE(result.end.ok());
}

TEST(RunProcess, TakesMoreOutputThanAPipeHolds) {
  const ProcessResult result = run_process({{"sh", "-c", "head -c 1000000 /dev/zero"}, {}, {}});
  EXPECT_EQ(result.out.size(), 1000000U);
}

TEST(RunProcess, GivesOnlyTheEnvironmentThatItWasGiven) {
  const ProcessResult result =
      run_process({{"/usr/bin/env"}, std::map<std::string, std::string>{{"A", "1"}}, {}});
  EXPECT_EQ(result.out, "A=1\n");
}

TEST(RunProcess, RunsInTheFolderThatItWasGiven) {
  EXPECT_EQ(run_process({{"pwd"}, {}, "/usr"}).out, "/usr\n");
}

TEST(RunProcess, RunsInAnEmptyFolderOfItsOwnThatGoesWithIt) {
  const ProcessResult result = run_process({{"sh", "-c", "pwd; ls -A; touch left"}, {}, {}});
  const std::string folder = result.out.substr(0, result.out.find('\n'));
  EXPECT_EQ(result.out, folder + "\n") << "nothing is in it";
  EXPECT_NE(folder, fs::current_path().string());
  EXPECT_FALSE(fs::exists(folder));
}

/// Stands in a folder with a program of that name, which says so.
class Planted : public ::testing::Test {
 protected:
  Planted() {
    write_file(folder_.path() / "planted", "#!/bin/sh\necho planted\n");
    fs::permissions(folder_.path() / "planted", fs::perms::owner_all);
    fs::current_path(folder_.path());
  }
  ~Planted() override { fs::current_path(before_); }

  const fs::path before_ = fs::current_path();
  const TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-planted"};
};

TEST_F(Planted, IsNotFoundByRelativeFoldersOfPath) {
  for (const char* relative : {":", "::", ".:", "./", "../" /* and by its name */}) {
    const std::string path =
        relative + (relative[1] == '.' ? folder_.path().filename().string() : std::string()) + ":" +
        environment_value("PATH") + ":";
    const test::ScopedEnvironment scoped("PATH", path);
    EXPECT_EQ(find_program("planted"), std::nullopt) << path;
    EXPECT_TRUE(find_program("sh"));
    // Nor by what the child looks up itself.
    const ProcessResult result = run_process({{"sh", "-c", "planted; echo $PATH"}, {}, {}});
    EXPECT_EQ(result.out.substr(0, 1), "/") << result.out;
    EXPECT_EQ(result.out.find("::"), std::string::npos) << result.out;
  }
}

TEST_F(Planted, IsRunWhereItIsNamedByAPath) {
  EXPECT_EQ(run_process({{"./planted"}, {}, {}}).out, "planted\n");
}

TEST(RunProcess, NamesAProgramThatIsMissing) {
  try {
    run_process({{"no-such-program-here"}, {}, {}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kTrouble);
    EXPECT_NE(std::string(error.what()).find("no-such-program-here"), std::string::npos);
  }
}

TEST(FindProgram, PassesOverAFolderThatCannotBeRead) {
  // A file in the place of a folder gives the same kind of error as one without permission.
  ASSERT_EQ(::setenv("PATH", ("/etc/passwd:" + environment_value("PATH")).c_str(), 1), 0);
  EXPECT_TRUE(find_program("sh").has_value());
}

TEST(RunProcess, NamesAProgramThatCannotBeExecuted) {
  EXPECT_THROW(run_process({{"/etc/passwd"}, {}, {}}), Error);
}

/// The process whose number a child printed first.
pid_t printed_process(const ChildProcess& child) {
  std::array<char, 32> digits{};
  EXPECT_GT(::read(child.out(), digits.data(), digits.size() - 1), 0);
  return static_cast<pid_t>(std::stol(digits.data()));
}

TEST(ChildProcess, IsKilledWithItsWholeGroup) {
  pid_t grandchild = 0;
  {
    ChildProcess child({{"sh", "-c", "sleep 100 & echo $!; wait"}, {}, {}}, {});
    grandchild = printed_process(child);
    ASSERT_EQ(::kill(grandchild, 0), 0);
  }
  EXPECT_TRUE(test::process_ends(grandchild));
}

TEST(ChildProcess, IsGivenTheTimeToEndOtherGroups) {
  // Like a build tool: its own children are groups of their own, and it ends them when it is told.
  const std::string tool =
      "trap 'kill $!; wait; exit 5' TERM; "
      "setsid sh -c 'echo $$; exec sleep 100' & wait";
  ChildProcess child({{"sh", "-c", tool}, {}, {}}, {});
  const pid_t grandchild = printed_process(child);
  child.terminate(std::chrono::minutes(1));
  EXPECT_EQ(child.wait().exit_code, 5);
  EXPECT_NE(::kill(grandchild, 0), 0);
}

TEST(ChildProcess, IsKilledWhenItDoesNotEnd) {
  ChildProcess child({{"sh", "-c", "trap '' TERM; sleep 100 & echo $!; wait"}, {}, {}}, {});
  const pid_t grandchild = printed_process(child);
  child.terminate(std::chrono::milliseconds(100));
  EXPECT_EQ(child.wait().signal, SIGKILL);
  EXPECT_TRUE(test::process_ends(grandchild));
}

}  // namespace
}  // namespace drift
