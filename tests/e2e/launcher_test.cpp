// The launcher at the root, with every tool that it calls replaced by one that writes down its
// arguments: what it installs, builds and hands over to.
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/file.hpp"
#include "driftaudit/process.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Launcher : public ::testing::Test {
 protected:
  Launcher() {
    fs::create_directories(root() / "bin");
    fs::copy(fs::path(DRIFTAUDIT_SOURCE_FOLDER) / "driftaudit", root() / "driftaudit");
    tool("g++", "");
    tool("pkg-config", "");
    tool("python3", "");
    tool("apt-get", "");
    tool("id", "echo 0");
    // All libraries are installed.
    tool("dpkg-query", "shift 3; for p; do echo installed $p; done");
    tool("cmake",
         "touch $ROOT/build/release/build.ninja; "
         "echo DRIFTAUDIT_TESTS:BOOL=${5#*=} > $ROOT/build/release/CMakeCache.txt");
    // Says "no work to do" once the program is there.
    tool(
        "ninja",
        "if [ -x $ROOT/build/release/src/cli/driftaudit ]; then echo no work to do; "
        "elif [ \"$3\" != -n ]; then mkdir -p $ROOT/build/release/src/cli; "
        "printf '#!/bin/sh\\necho ran \"$@\"; exit 7\\n' > $ROOT/build/release/src/cli/driftaudit; "
        "chmod +x $ROOT/build/release/src/cli/driftaudit; fi");
    tool("ctest", "echo ctest \"$@\"");
  }

  const fs::path& root() const { return folder_.path(); }

  void tool(const std::string& name, const std::string& body) {
    const fs::path path = root() / "bin" / name;
    write_file(path, "#!/bin/sh\necho \"" + name + " $*\" >> $ROOT/calls\n" + body + "\n");
    fs::permissions(path, fs::perms::owner_all);
  }

  ProcessResult launch(std::vector<std::string> arguments) {
    fs::remove(root() / "calls");
    arguments.insert(arguments.begin(), (root() / "driftaudit").string());
    const std::map<std::string, std::string> environment = {
        {"PATH", (root() / "bin").string() + ":/usr/bin:/bin"}, {"ROOT", root().string()}};
    return run_process({arguments, environment, {}});
  }

  std::string calls() const { return read_file(root() / "calls"); }

 private:
  TemporaryFolder folder_{fs::temp_directory_path(), "driftaudit-launcher"};
};

TEST_F(Launcher, BuildsThenHandsOverArgumentsAndStatus) {
  const ProcessResult result = launch({"audit", "two words"});
  EXPECT_EQ(result.out, "ran audit two words\n");
  EXPECT_EQ(result.end.exit_code, 7);
  EXPECT_THAT(calls(), HasSubstr("--preset release"));
}

TEST_F(Launcher, DoesNothingTwice) {
  launch({"audit"});
  EXPECT_EQ(launch({"audit"}).out, "ran audit\n");
  EXPECT_THAT(calls(), Not(HasSubstr("cmake")));
  EXPECT_THAT(calls(), Not(HasSubstr("apt-get")));
}

TEST(LauncherBuild, HasNothingToDoWhenNothingChanged) {
  // What keeps the second start short: a finished build is seen to be finished.
  const fs::path build = fs::path(DRIFTAUDIT_PROGRAM).parent_path().parent_path().parent_path();
  if (!fs::exists(build / "build.ninja")) {
    GTEST_SKIP() << "this build isn't ninja's";
  }
  const ProcessResult result =
      run_process({{"ninja", "-C", build.string(), "-n", "driftaudit"}, {}, {}});
  EXPECT_THAT(result.out, HasSubstr("no work to do"));
}

TEST_F(Launcher, InstallsAsRootWhatIsMissing) {
  tool("dpkg-query", "shift 3; for p; do [ $p = libzip-dev ] || echo installed $p; done");
  launch({"audit"});
  EXPECT_THAT(calls(), HasSubstr("apt-get update\n"));
  EXPECT_THAT(calls(), HasSubstr("apt-get install -y libzip-dev\n"));
}

TEST_F(Launcher, PrintsTheExactLineWhereItMayNotInstall) {
  tool("id", "echo 1000");
  tool("dpkg-query", "shift 3; for p; do [ $p = libzip-dev ] || echo installed $p; done");
  const ProcessResult result = launch({"audit"});
  EXPECT_EQ(result.end.exit_code, 3);
  EXPECT_EQ(result.err,
            "error: missing system packages: libzip-dev\n"
            "hint: as root: apt-get update && apt-get install -y libzip-dev\n");
  EXPECT_THAT(calls(), Not(HasSubstr("apt-get")));
}

TEST_F(Launcher, AsksOnATerminalAndInstallsOnlyOnAYes) {
  tool("id", "echo 1000");
  tool("dpkg-query", "shift 3; for p; do [ $p = libzip-dev ] || echo installed $p; done");
  tool("sudo", "");
  const auto answer = [&](const std::string& word) {
    fs::remove(root() / "calls");
    // script gives it a terminal; the pause lets the question come before the answer.
    const std::string line = "(sleep 1; echo " + word + "; sleep 1) | script -qec '" +
                             (root() / "driftaudit").string() + " audit' /dev/null";
    const std::map<std::string, std::string> environment = {
        {"PATH", (root() / "bin").string() + ":/usr/bin:/bin"}, {"ROOT", root().string()}};
    return run_process({{"sh", "-c", line}, environment, {}}).out;
  };
  EXPECT_THAT(answer("n"), HasSubstr("hint: as root: apt-get update"));
  EXPECT_THAT(calls(), Not(HasSubstr("sudo")));
  EXPECT_THAT(answer("y"), HasSubstr("driftaudit needs: libzip-dev."));
  EXPECT_THAT(calls(), HasSubstr("sudo apt-get install -y libzip-dev"));
}

TEST_F(Launcher, SaysWhenAptFails) {
  tool("dpkg-query", "exit 1");
  tool("apt-get", "exit 100");
  const ProcessResult result = launch({"audit"});
  EXPECT_EQ(result.end.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("error: apt-get could not install: libboost-dev libcli11-dev"));
}

TEST_F(Launcher, ShowsTheLogOfAConfigurationThatFails) {
  tool("cmake", "echo no such generator; exit 1");
  const ProcessResult result = launch({"audit"});
  EXPECT_EQ(result.end.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("no such generator"));
  EXPECT_THAT(result.err, HasSubstr("error: cmake could not configure"));
}

TEST_F(Launcher, ShowsTheLogOfABuildThatFails) {
  tool("ninja", "echo file.cpp:1: broken; exit 1");
  const ProcessResult result = launch({"audit"});
  EXPECT_EQ(result.end.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("file.cpp:1: broken"));
  EXPECT_THAT(result.err, HasSubstr("error: the build failed"));
}

TEST_F(Launcher, RunsNothingThatLiesWhereThePersonStands) {
  const fs::path here = root() / "here";
  const fs::path marks = root() / "marks";
  fs::create_directories(here / "pip");
  fs::create_directories(marks);
  fs::remove(root() / "bin" / "python3");  // the real one, which takes modules from its folder
  for (const char* name : {"pip.py", "pip/__main__.py", "pip/__init__.py", "json.py",
                           "ensurepip.py", "sitecustomize.py", "site.py"}) {
    const std::string mark = fs::path(name).filename().string();
    write_file(here / name, "open('" + (marks / mark).string() + "', 'w').close()\n");
  }
  for (const char* name :
       {"bash",  "sh",         "env",     "readlink",   "dirname", "g++",  "cmake",
        "ninja", "pkg-config", "python3", "dpkg-query", "sort",    "comm", "sed",
        "grep",  "flock",      "mkdir",   "touch",      "id",      "cat",  "apt-get",
        "sudo",  "ctest",      "nproc",   "rm"}) {
    write_file(here / name, "#!/bin/sh\n: > " + (marks / name).string() + "\n");
    fs::permissions(here / name, fs::perms::owner_all);
  }
  for (const char* name : {"CMakePresets.json", "CMakeUserPresets.json", "CMakeLists.txt",
                           "build.ninja", "setup.cfg", "pip.conf", "planted.pth"}) {
    write_file(here / name, "(planted)");
  }
  for (const char* path : {".:", ":", "here/..:../here:"}) {
    const std::map<std::string, std::string> environment = {
        {"PATH", path + (root() / "bin").string() + ":/usr/bin:/bin::."},
        {"ROOT", root().string()},
        {"PYTHONPATH", "."}};
    for (const char* command : {"audit", "test"}) {
      fs::remove_all(root() / "build");
      const ProcessResult result =
          run_process({{(root() / "driftaudit").string(), command}, environment, here});
      EXPECT_THAT(result.out, HasSubstr(command == std::string("audit") ? "ran audit" : "ctest"))
          << result.err;
      EXPECT_TRUE(fs::is_empty(marks)) << fs::directory_iterator(marks)->path();
    }
  }
  // What is handed over to still stands where the person does.
  tool("ninja", "echo no work to do");
  write_file(root() / "build/release/src/cli/driftaudit", "#!/bin/sh\npwd\n");
  fs::permissions(root() / "build/release/src/cli/driftaudit", fs::perms::owner_all);
  const std::map<std::string, std::string> environment = {
      {"PATH", (root() / "bin").string() + ":/usr/bin:/bin"}, {"ROOT", root().string()}};
  EXPECT_EQ(run_process({{(root() / "driftaudit").string(), "audit"}, environment, here}).out,
            here.string() + "\n");
}

TEST_F(Launcher, TestsAreConfiguredWhenTheyAreAskedFor) {
  launch({"audit"});
  const ProcessResult result = launch({"test", "-R", "Tokenizer"});
  EXPECT_THAT(calls(), HasSubstr("--preset release -DDRIFTAUDIT_TESTS=ON"));
  EXPECT_THAT(result.out, HasSubstr("-R Tokenizer"));
  EXPECT_EQ(result.end.exit_code, 0);
}

}  // namespace
}  // namespace drift
