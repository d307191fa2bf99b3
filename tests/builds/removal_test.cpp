// What is removed, and what isn't: only what is ours, and never what is in use.
#include <csignal>
#include <functional>
#include <iterator>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/doctor.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/process.hpp"

#include "builds/cache.hpp"
#include "builds/fake_torch.hpp"
#include "builds/runner_cache.hpp"
#include "builds/store.hpp"

namespace drift {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

class RemovalTest : public ::testing::Test {
 protected:
  RemovalTest() {
    for (const char* name : {"CXX", "CXXFLAGS", "LDFLAGS", "SUDO_UID"}) {
      world_.environment().set(name, "");
    }
    world_.publish({});
  }

  Build build(const std::string& side = "1.10.1") { return open_build(side, {}, *progress_); }
  Runner runner(const std::string& side = "1.10.1") { return open_runner(build(side), *progress_); }
  /// A venv of somebody's with the same torch.
  fs::path somebodys_venv(const std::string& name) {
    const fs::path folder = world_.root() / name;
    test::write_files(folder, test::FakeTorch{}.files());
    test::write_files(folder, test::FakeTorch{}.extra_files());
    return folder;
  }
  /// Runners are then those of other sources.
  void make_stale() { write_file(world_.runner() / "more.hpp", ""); }

  test::FakeWorld world_;
  std::unique_ptr<Progress> progress_ = make_silent_progress();
};

TEST_F(RemovalTest, LeavesWhatOthersPutIntoScratch) {
  const fs::path scratch = cache_folder() / "scratch";
  const fs::path outside = world_.root() / "outside";
  for (const fs::path& folder :
       {scratch / "letters", scratch / "fetch-holiday-photos", scratch / "fetch-abcdeg", outside}) {
    make_folders(folder);
    write_file(folder / "file", "mine");  // the third has a name like ours, but no lock
  }
  fs::create_directory_symlink(outside, scratch / "fetch-abcdef");
  write_file(scratch / "fetch-abcdef.lock", "");
  make_folders(scratch / "fetch-aaaaaa" / "wheels");  // ours
  write_file(scratch / "fetch-aaaaaa.lock", "");
  build();
  EXPECT_EQ(remove_stale().removed, 0);
  EXPECT_FALSE(fs::exists(scratch / "fetch-aaaaaa"));
  EXPECT_TRUE(fs::exists(scratch / "letters" / "file"));
  EXPECT_TRUE(fs::exists(scratch / "fetch-holiday-photos" / "file"));
  EXPECT_TRUE(fs::exists(scratch / "fetch-abcdeg" / "file"));
  EXPECT_TRUE(fs::exists(scratch / "fetch-abcdef" / "file"));
}

TEST_F(RemovalTest, LeavesWhatOthersPutIntoRunners) {
  const fs::path runners = cache_folder() / "runners";
  const fs::path outside = world_.root() / "outside";
  make_folders(runners / "marathon");
  make_folders(outside);
  write_file(outside / "file", "mine");
  fs::create_directory_symlink(outside, runners / std::string(24, 'a'));
  make_folders(runners / std::string(24, 'b'));  // ours, and damaged
  EXPECT_EQ(remove_stale().removed, 1);
  EXPECT_TRUE(fs::exists(runners / "marathon"));
  EXPECT_TRUE(fs::exists(runners / std::string(24, 'a') / "file"));
}

TEST_F(RemovalTest, DoesNothingInAFolderThatIsntItsCache) {
  const fs::path home = world_.root() / "home";
  make_folders(home / "scratch" / "fetch-abcdef");
  make_folders(home / "runners" / "marathon");
  world_.environment().set("DRIFTAUDIT_CACHE", home.string());
  const std::vector<std::vector<std::string>> commands = {
      {"add", "1.10.1"}, {"remove", "--stale"}, {"list"}, {"doctor"}};
  for (const std::vector<std::string>& arguments : commands) {
    std::vector<std::string> all = {DRIFTAUDIT_PROGRAM, "builds"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProcessResult result = run_process({all, std::nullopt, {}});
    EXPECT_EQ(result.end.exit_code, 2) << arguments[0];
    EXPECT_THAT(result.err, AllOf(HasSubstr("error: DRIFTAUDIT_CACHE="), HasSubstr("\nhint: ")));
  }
  EXPECT_TRUE(fs::exists(home / "scratch" / "fetch-abcdef"));
  EXPECT_TRUE(fs::exists(home / "runners" / "marathon"));
  EXPECT_EQ(std::distance(fs::directory_iterator(home), {}), 2);
}

TEST_F(RemovalTest, DoesNotGoThroughALinkedScratchOrRunnersFolder) {
  for (const char* part : {"builds", "scratch", "runners"}) {
    const fs::path link = cache_folder() / part;
    const fs::path outside = world_.root() / "outside" / part;
    make_folders(outside / "fetch-abcdef");
    write_file(outside / "fetch-abcdef.lock", "");
    make_folders(outside / std::string(24, 'c'));
    fs::create_directory_symlink(outside, link);
    EXPECT_THAT(error_of([&] { runner(); }).what(), HasSubstr(part + std::string(": a symbolic")));
    if (part != std::string("builds")) {
      EXPECT_THAT(error_of([] { remove_stale(); }).what(), HasSubstr("a symbolic link"));
    }
    EXPECT_TRUE(fs::exists(outside / "fetch-abcdef"));
    EXPECT_TRUE(fs::exists(outside / std::string(24, 'c')));
    fs::remove(link);
  }
}

TEST_F(RemovalTest, OfAFolderAboveTheCacheRemovesNothing) {
  const fs::path program = runner().program;
  for (const fs::path& folder :
       {fs::path("/"), world_.root(), world_.cache(), world_.cache() / "builds"}) {
    const Error error = error_of([&] { remove_builds({folder.string()}); });
    EXPECT_EQ(error.status(), Status::kUsage) << folder;
    EXPECT_TRUE(fs::exists(program)) << folder;
  }
  EXPECT_EQ(installed_builds().size(), 1U);
}

TEST_F(RemovalTest, OfSomebodysFolderTouchesTheRunnersOfNoOther) {
  const fs::path outer = somebodys_venv("outer");
  const fs::path inner = somebodys_venv("outer/inner");
  const fs::path program = runner(inner.string()).program;
  runner(outer.string());
  EXPECT_EQ(cached_runners().size(), 2U);
  remove_builds({outer.string()});
  ASSERT_EQ(cached_runners().size(), 1U);
  EXPECT_TRUE(fs::exists(program));
}

TEST_F(RemovalTest, RefusesBeforeItRemovesAnything) {
  runner();
  const Error error = error_of([&] { remove_builds({"1.10.1", "/", "7.7"}); });
  EXPECT_EQ(error.status(), Status::kUsage);
  EXPECT_EQ(installed_builds().size(), 1U);
  EXPECT_EQ(cached_runners().size(), 1U);
  remove_builds({"1.10.1", "1.10.1"});  // twice is once
  EXPECT_TRUE(installed_builds().empty());
  EXPECT_TRUE(cached_runners().empty());
}

/// Another process that uses a side until the object goes.
class OtherProcess {
 public:
  explicit OtherProcess(const std::function<void()>& use) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    process_ = ::fork();
    if (process_ == 0) {
      use();
      [[maybe_unused]] const ssize_t n = ::write(ready[1], "x", 1);
      ::pause();
      ::_exit(0);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
  }
  ~OtherProcess() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

 private:
  pid_t process_ = -1;
};

TEST_F(RemovalTest, LeavesABuildThatAnotherProcessUses) {
  {
    const OtherProcess other([&] { build(); });
    const Error error = error_of([&] { remove_builds({"1.10.1"}); });
    EXPECT_EQ(error.status(), Status::kTrouble);
    EXPECT_THAT(error.what(), HasSubstr("1.10.1: in use by a running driftaudit"));
    EXPECT_FALSE(error.hint().empty());
    remove_unused_build("1.10.1");
    EXPECT_TRUE(is_installed("1.10.1"));
  }
  remove_unused_build("1.10.1");
  EXPECT_FALSE(is_installed("1.10.1"));
}

TEST_F(RemovalTest, LeavesARunnerThatAnotherProcessUses) {
  const fs::path venv = somebodys_venv("env");
  {
    const OtherProcess other([&] { runner(venv.string()); });
    EXPECT_THAT(error_of([&] { remove_builds({venv.string()}); }).what(), HasSubstr("in use"));
    make_stale();
    const StaleRemoval beside = remove_stale();
    EXPECT_EQ(beside.removed, 0);
    EXPECT_EQ(beside.in_use, 1);
    EXPECT_TRUE(is_sound_runner(cached_runners().at(0).folder));
  }
  EXPECT_EQ(remove_stale().removed, 1);
  EXPECT_TRUE(cached_runners().empty());
}

TEST_F(RemovalTest, WhatThisProcessUsesItMayRemove) {
  runner();
  remove_builds({"1.10.1"});
  EXPECT_FALSE(is_installed("1.10.1"));
  EXPECT_TRUE(cached_runners().empty());
}

TEST_F(RemovalTest, ARunnerThatOthersMayWriteIsNotRun) {
  ::chmod(cache_folder().c_str(), 0755);
  const fs::path program = runner().program;
  const fs::path folder = program.parent_path();
  ::chmod(folder.parent_path().c_str(), 0755);
  ::chmod(folder.c_str(), 0755);
  for (const fs::path& open : {program, folder / "runner.json", folder}) {
    struct stat info {};
    ASSERT_EQ(::stat(open.c_str(), &info), 0);
    for (const mode_t others : {S_IWGRP, S_IWOTH}) {
      ::chmod(open.c_str(), info.st_mode | others);
      const Error error = error_of([&] { runner(); });
      EXPECT_EQ(error.status(), Status::kUsage);
      EXPECT_THAT(error.what(), AllOf(HasSubstr(open.string()), HasSubstr("others may write")));
      EXPECT_THAT(error.hint(), HasSubstr("rm -r '" + folder.string() + "'"));
      EXPECT_FALSE(examine_build("1.10.1", *progress_).empty());
    }
    ::chmod(open.c_str(), info.st_mode);
  }
  EXPECT_EQ(runner().program, program);
}

TEST_F(RemovalTest, ARunnerOfSomebodyElseIsNotRun) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  const fs::path program = runner().program;
  ASSERT_EQ(::chown(program.c_str(), 12345, 12345), 0);
  EXPECT_THAT(error_of([&] { runner(); }).what(), HasSubstr("belongs to user 12345"));
}

TEST_F(RemovalTest, AnUmaskThatLetsOthersWriteMakesNothingOfOursWritable) {
  const mode_t before = ::umask(0);
  fs::remove_all(world_.cache());
  make_folders(world_.cache());
  runner();
  const Runner again = runner();
  ::umask(before);
  EXPECT_EQ(run_process({{again.program.string()}, std::nullopt, {}}).out, "7 0\n");
}

}  // namespace
}  // namespace drift
