// What lies where the person stands isn't run: neither modules of Python nor tools nor libraries
// nor configurations, by whatever the program calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/process.hpp"

#include "builds/fake_torch.hpp"
#include "builds/pip.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PlantedFiles : public ::testing::Test {
 protected:
  PlantedFiles() {
    make_folders(here());
    make_folders(marks());
    for (const char* name : {"CXX", "CXXFLAGS", "LDFLAGS"}) {
      world_.environment().set(name, "");
    }
  }

  fs::path here() const { return world_.root() / "here"; }
  fs::path marks() const { return world_.root() / "marks"; }

  void plant_module(const std::string& name) {
    const std::string code = "open('" + (marks() / name).string() + "', 'w').close()\n";
    make_folders((here() / name).parent_path());
    write_file(here() / name, code);
  }

  void plant_program(const std::string& name) {
    write_file(here() / name, "#!/bin/sh\n: > " + (marks() / name).string() + "\nexit 1\n");
    fs::permissions(here() / name, fs::perms::owner_all);
  }

  void plant_everything() {
    for (const char* name :
         {"pip.py", "json.py", "encodings.py", "sitecustomize.py", "usercustomize.py", "site.py",
          "ssl.py", "tempfile.py", "setup.py", "pip/__main__.py", "pip/__init__.py"}) {
      plant_module(name);
    }
    write_file(here() / "planted.pth",
               "import os; open('" + (marks() / "pth").string() + "', 'w').close()\n");
    for (const char* name :
         {"cmake",    "ninja",   "make", "gmake",  "c++",     "g++",    "cc",
          "gcc",      "clang++", "ld",   "ar",     "as",      "ranlib", "cc1plus",
          "collect2", "sh",      "bash", "env",    "python3", "python", "pip3",
          "pyenv",    "c++filt", "ldd",  "runner", "ccache",  "uname",  "lsb_release"}) {
      plant_program(name);
    }
    for (const char* name :
         {"setup.cfg", "distutils.cfg", "pip.conf", "pip.ini", ".python-version", "pyproject.toml",
          "CMakeLists.txt", "CMakePresets.json", "CMakeUserPresets.json", "CMakeCache.txt",
          "build.ninja", "Makefile", "specs", "libc10.so", "libtorch_cpu.so", "libc.so.6"}) {
      write_file(here() / name, "(planted)\n[global]\nno-index = planted\n");
    }
  }

  /// The built program's `builds` command, started where things are planted.
  ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {DRIFTAUDIT_PROGRAM, "builds"});
    return run_process({arguments, std::nullopt, here()});
  }

  std::vector<std::string> marked() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(marks())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  test::FakeWorld world_;
};

TEST_F(PlantedFiles, AreNotRunByWhatFetchesCompilesAndExamines) {
  world_.publish({}, "january-2022");
  plant_everything();
  world_.environment().set("PATH", ".:" + environment_value("PATH") + "::.");
  for (const char* name : {"PYTHONPATH", "COMPILER_PATH"}) {
    world_.environment().set(name, ".");
  }
  const ProcessResult added = run({"add", "1.10.1"});
  EXPECT_EQ(added.end.exit_code, 0) << added.err;
  const ProcessResult examined = run({"doctor"});
  EXPECT_EQ(examined.end.exit_code, 0) << examined.out << examined.err;
  EXPECT_THAT(marked(), IsEmpty());
}

TEST_F(PlantedFiles, AreFoundByTheseMeansWhereNothingKeepsThemFromIt) {
  // That the marks would be seen: the same pip as everybody's.
  plant_module("pip.py");
  run_process({{"python3", "-m", "pip", "--version"}, std::nullopt, here()});
  EXPECT_THAT(marked(), ::testing::ElementsAre("pip.py"));
}

TEST_F(PlantedFiles, ArePassedOverByMakePin) {
  const Pin pin = world_.publish({});
  plant_module("pip.py");
  const ProcessResult result =
      run_process({{"python3", DRIFTAUDIT_SOURCE_FOLDER "/venvs/make_pin.py", "--python", "3.9",
                    "--scratch", ".", "--out", "pin.json", pin.version},
                   std::nullopt,
                   here()});
  EXPECT_THAT(result.err, ::testing::Not(HasSubstr("Traceback")));
  EXPECT_THAT(marked(), IsEmpty());
}

TEST_F(PlantedFiles, ThePersonsOwnConfigurationOfPipHoldsAndIsMeantFromThere) {
  world_.publish({});
  // Relative, as a person may have it: the index that the world has is unset.
  fs::rename(world_.wheels(), here() / "my wheels");
  fs::create_directory_symlink("my wheels", here() / "mirror");
  world_.environment().set("PIP_FIND_LINKS", "mirror");
  EXPECT_EQ(run({"add", "1.10.1"}).end.exit_code, 0);
  EXPECT_EQ(run({"remove", "1.10.1"}).end.exit_code, 0);
  write_file(here() / "my-pip.conf",
             "[global]\nfind-links = " + (here() / "mirror").string() + "\n");
  world_.environment().set("PIP_FIND_LINKS", "");
  EXPECT_EQ(run({"add", "1.10.1"}).end.exit_code, 3);
  world_.environment().set("PIP_CONFIG_FILE", "my-pip.conf");
  const ProcessResult added = run({"add", "1.10.1"});
  EXPECT_EQ(added.end.exit_code, 0) << added.err;
}

TEST_F(PlantedFiles, ACompilerNamedByAPathIsThatOfThePerson) {
  world_.publish({});
  const fs::path compiler = here() / "my-c++";
  write_file(compiler, "#!/bin/sh\n: > " + (marks() / "mine").string() + "\nexec c++ \"$@\"\n");
  fs::permissions(compiler, fs::perms::owner_all);
  world_.environment().set("CXX", "./my-c++");
  const ProcessResult added = run({"add", "1.10.1"});
  EXPECT_EQ(added.end.exit_code, 0) << added.err;
  EXPECT_THAT(marked(), ::testing::ElementsAre("mine"));
}

TEST(PipPaths, BecomeAbsoluteAndLeaveAddressesAlone) {
  const fs::path here = fs::current_path();
  fs::path name;
  for (const auto& entry : fs::directory_iterator(here)) {
    if (entry.path().filename().string().find(' ') == std::string::npos) {
      name = entry.path().filename();
    }
  }
  const auto made = with_absolute_pip_paths(
      {{"PIP_CERT", "certs/mine.pem"},
       {"PIP_CONFIG_FILE", "/dev/null"},
       {"PIP_LOG", "~/pip.log"},
       {"PIP_INDEX_URL", "https://mirror.example/simple"},
       {"PIP_FIND_LINKS", name.string() + "  https://mirror.example/wheels no-such-folder"},
       {"OTHER", "a/b"}});
  EXPECT_EQ(made.at("PIP_CERT"), (here / "certs/mine.pem").string());
  EXPECT_EQ(made.at("PIP_CONFIG_FILE"), "/dev/null");
  EXPECT_EQ(made.at("PIP_LOG"), "~/pip.log");
  EXPECT_EQ(made.at("PIP_INDEX_URL"), "https://mirror.example/simple");
  EXPECT_EQ(made.at("PIP_FIND_LINKS"),
            (here / name).string() + " https://mirror.example/wheels no-such-folder");
  EXPECT_EQ(made.at("OTHER"), "a/b");
}

}  // namespace
}  // namespace drift
