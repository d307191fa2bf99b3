#include <csignal>
#include <cstdlib>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/process.hpp"

#include "builds/cache.hpp"
#include "builds/fake_torch.hpp"
#include "builds/runner_cache.hpp"
#include "shared/process_ends.hpp"

namespace drift {
namespace {

using test::error_of;
using test::FakeWorld;
using ::testing::HasSubstr;

class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    for (const char* name : {"CXX", "CXXFLAGS", "LDFLAGS"}) {
      world_.environment().set(name, "");
    }
    world_.publish({});
    build_ = open_build("1.10.1", {}, *progress_);
  }

  Runner open() { return open_runner(build_, *progress_); }

  /// PATH holds only links to these programs.
  void only_programs(const std::vector<std::string>& names) {
    const fs::path bin = world_.root() / "few";
    make_folders(bin);
    for (const std::string& name : names) {
      fs::create_symlink(*find_program(name), bin / name);
    }
    world_.environment().set("PATH", bin.string());
  }

  FakeWorld world_;
  std::unique_ptr<Progress> progress_ = make_silent_progress();
  Build build_;
};

TEST_F(RunnerTest, CompilesOnceAgainstTheBuildsOwnHeadersAndLibraries) {
  const Runner runner = open();
  EXPECT_TRUE(fs::exists(runner.log));
  EXPECT_EQ(run_process({{runner.program.string()}, std::nullopt, {}}).out, "7 0\n");
  const auto time = fs::last_write_time(runner.program);
  EXPECT_EQ(open().program, runner.program);
  EXPECT_EQ(fs::last_write_time(runner.program), time);
  EXPECT_TRUE(installed_builds().at(0).has_runner);
  EXPECT_EQ(cached_runners().size(), 1U);
}

TEST_F(RunnerTest, CompilesAgainWhenTheProgramIsDamaged) {
  const fs::path program = open().program;
  const std::string whole = read_file(program);
  for (const auto& damage : std::vector<std::function<void()>>{
           [&] { write_file(program, ""); }, [&] { write_file(program, whole + "x"); },
           [&] { fs::permissions(program, fs::perms::owner_read); }, [&] { fs::remove(program); },
           [&] { fs::remove(program.parent_path() / "runner.json"); }}) {
    damage();
    EXPECT_FALSE(is_sound_runner(program.parent_path()));
    EXPECT_EQ(run_process({{open().program.string()}, std::nullopt, {}}).out, "7 0\n");
  }
}

TEST_F(RunnerTest, CompilesAgainWhenSourcesOrFlagsChange) {
  const fs::path first = open().program;
  write_file(world_.runner() / "main.cpp", read_file(world_.runner() / "main.cpp") + "// more\n");
  EXPECT_FALSE(installed_builds().at(0).has_runner);
  const fs::path second = open().program;
  EXPECT_NE(second, first);
  world_.environment().set("CXXFLAGS", "-DSOMETHING");
  EXPECT_NE(open().program, second);
  EXPECT_EQ(remove_stale().removed, 1);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_TRUE(fs::exists(second));
}

TEST_F(RunnerTest, CompilesAgainWhenTheLibrariesOrHeadersChange) {
  const fs::path folder = world_.root() / "env";
  test::write_files(folder, test::FakeTorch{}.files());
  test::write_files(folder, test::FakeTorch{}.extra_files());
  const auto program = [&] { return open_runner(inspect_build(folder), *progress_).program; };
  const fs::path first = program();
  EXPECT_EQ(program(), first);
  const fs::path header = folder / "torch/include/ATen/ATen.h";
  write_file(header, read_file(header) + "// changed\n");
  const fs::path second = program();
  EXPECT_NE(second, first);
  test::build_library(folder / "torch/lib/libgomp-a34b3233.so.1", {"GOMP_parallel", "more"});
  EXPECT_NE(program(), second);
  remove_builds({folder.string()});
  EXPECT_EQ(cached_runners().size(), 0U);
  EXPECT_TRUE(fs::exists(header));  // somebody else's folder stays as it is
}

TEST_F(RunnerTest, QuotesTheFirstCompilerErrorAndKeepsTheLog) {
  write_file(world_.runner() / "main.cpp", "int main() { return unheard_of; }\nint 2;\n");
  const Error error = error_of([&] { open(); });
  EXPECT_EQ(error.status(), Status::kTrouble);
  EXPECT_THAT(error.what(), HasSubstr("1.10.1: its runner doesn't compile: "));
  EXPECT_THAT(error.what(), HasSubstr("unheard_of"));
  const std::string log = error.hint().substr(error.hint().find('/'));
  EXPECT_THAT(read_file(log), HasSubstr("unheard_of"));
  EXPECT_TRUE(cached_runners().empty());
  EXPECT_FALSE(test::has_half_build(world_.cache()));
}

TEST_F(RunnerTest, RefusesASecondOpenMpRuntime) {
  test::build_library(world_.root() / "libgomp.so.1", {"GOMP_other"});
  write_file(world_.runner() / "CMakeLists.txt", read_file(world_.runner() / "CMakeLists.txt") +
                                                     "target_link_libraries(runner PRIVATE " +
                                                     (world_.root() / "libgomp.so.1").string() +
                                                     ")\n");
  EXPECT_THAT(error_of([&] { open(); }).what(), HasSubstr("libgomp.so.1, a second OpenMP runtime"));
  EXPECT_TRUE(cached_runners().empty());
}

TEST_F(RunnerTest, SaysWhatToInstallWithoutCompilerOrCmake) {
  only_programs({"cmake"});
  EXPECT_THAT(error_of([&] { open(); }).what(), HasSubstr("no C++ compiler"));
  EXPECT_THAT(error_of([&] { open(); }).hint(), HasSubstr("apt-get install g++"));
  only_programs({});
  world_.environment().set("CXX", "no-such-compiler");
  EXPECT_THAT(error_of([&] { open(); }).what(), HasSubstr("CXX=no-such-compiler"));
}

TEST_F(RunnerTest, NeedsCmakeAndNinjaOrMake) {
  only_programs({"c++"});
  EXPECT_THAT(error_of([&] { open(); }).what(), HasSubstr("cmake is not in PATH"));
}

TEST_F(RunnerTest, LeavesNoCompilerBehindWhenInterrupted) {
  // Ninja runs each compiler in a process group of its own, out of reach of a signal to Ninja's.
  const fs::path compiler = world_.root() / "compiler";
  const fs::path started = world_.root() / "started";
  write_file(compiler, "#!/bin/sh\ncase \"$*\" in\n*main.cpp*) echo $$ > " + started.string() +
                           "; kill -TERM $DRIVER; exec sleep 100;;\n*) exec c++ \"$@\";;\nesac\n");
  fs::permissions(compiler, fs::perms::owner_all);
  world_.environment().set("CXX", compiler.string());
  const pid_t driver = ::fork();
  if (driver == 0) {
    install_interrupt_handlers();
    world_.environment().set("DRIVER", std::to_string(::getpid()));
    std::_Exit(static_cast<int>(error_of([&] { open(); }).status()));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(driver, &status, 0), driver);
  EXPECT_EQ(WEXITSTATUS(status), 143);
  const auto process = static_cast<pid_t>(std::stol(read_file(started)));
  EXPECT_TRUE(test::process_ends(process));
  ::kill(process, SIGKILL);
  EXPECT_FALSE(test::has_half_build(world_.cache()));
}

TEST_F(RunnerTest, GoesWithItsBuild) {
  open();
  remove_builds({"1.10.1"});
  EXPECT_TRUE(cached_runners().empty());
  EXPECT_TRUE(installed_builds().empty());
}

}  // namespace
}  // namespace drift
