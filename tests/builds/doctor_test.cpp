#include "driftaudit/doctor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/process.hpp"

#include "builds/cache.hpp"
#include "builds/fake_torch.hpp"
#include "builds/holds.hpp"
#include "builds/store.hpp"

namespace drift {
namespace {

using test::FakeWorld;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

auto finding(const std::string& problem, const std::string& remedy) {
  return AllOf(Field(&Finding::problem, HasSubstr(problem)),
               Field(&Finding::remedy, HasSubstr(remedy)));
}

class DoctorTest : public ::testing::Test {
 protected:
  DoctorTest() {
    pin_ = world_.publish({}, "january-2022");
    open_build("1.10.1", {}, *progress_);
  }

  std::vector<Finding> examine(const std::string& side = "january-2022") {
    return examine_build(side, *progress_);
  }

  /// Runs the built program's `builds` command.
  ProcessResult run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {DRIFTAUDIT_PROGRAM, "builds"});
    return run_process({arguments, std::nullopt, {}});
  }

  FakeWorld world_;
  std::unique_ptr<Progress> progress_ = make_silent_progress();
  Pin pin_;
};

TEST_F(DoctorTest, FindsNothingWrongWithAWholeBuild) { EXPECT_THAT(examine(), IsEmpty()); }

TEST_F(DoctorTest, HashesEverythingAnew) {
  const fs::path torch = unpacked_folder(pin_) / "torch";
  // Behind the same size and time: only hashing finds it.
  const fs::path library = torch / "lib/libc10.so";
  const auto time = fs::last_write_time(library);
  std::FILE* file = std::fopen(library.c_str(), "r+b");
  ASSERT_NE(file, nullptr);
  std::fseek(file, -1, SEEK_END);
  std::fputc('!', file);
  std::fclose(file);
  fs::last_write_time(library, time);
  write_file(torch / "include/ATen/ATen.h", "// another\n");
  fs::remove(torch / "version.py");
  EXPECT_THAT(examine(),
              ElementsAre(finding("torch/lib/libc10.so has changed", "builds remove january-2022"),
                          finding("torch/include/ATen/ATen.h has changed", "builds add"),
                          finding("torch/version.py is missing", "builds add")));
}

TEST_F(DoctorTest, NamesAMissingOpenMpRuntimeAndMissingHeaders) {
  const fs::path folder = world_.root() / "env";
  test::write_files(folder, test::FakeTorch{}.files());
  test::write_files(folder, test::FakeTorch{}.extra_files());
  EXPECT_THAT(examine(folder.string()), IsEmpty());
  fs::remove(folder / "torch/lib/libgomp-a34b3233.so.1");
  fs::remove_all(folder / "torch/include");
  EXPECT_THAT(examine(folder.string()),
              ElementsAre(finding("ATen.h: no such file", "reinstall torch"),
                          finding("needs libgomp-a34b3233.so.1", "reinstall torch")));
}

TEST_F(DoctorTest, NamesAStaleRunner) {
  const Build build = open_build("1.10.1", {}, *progress_);
  open_runner(build, *progress_);
  EXPECT_THAT(examine(), IsEmpty());
  write_file(world_.runner() / "more.hpp", "");
  EXPECT_THAT(examine(), ElementsAre(finding("a stale runner", "builds remove --stale")));
}

TEST_F(DoctorTest, SaysThatABuildIsNotThere) {
  remove_builds({"1.10.1"});
  EXPECT_THAT(examine(), ElementsAre(finding("not in the cache", "builds add january-2022")));
  EXPECT_THROW(examine("7.7"), Error);
}

TEST_F(DoctorTest, NamesWhatTheMachineLacksAndWhatWasLeftBehind) {
  EXPECT_THAT(examine_host(), IsEmpty());
  make_folders(world_.cache() / "scratch" / "fetch-abcdef");
  make_folders(world_.cache() / "builds" / "torch-9.9.9-0123");
  EXPECT_THAT(examine_host(), ElementsAre(finding("fetch-abcdef: left behind", "remove --stale"),
                                          finding("build.json can't be read", "builds remove")));
  EXPECT_EQ(remove_stale().removed, 1);
  world_.environment().set("PATH", (world_.root() / "bin").string());
  EXPECT_THAT(examine_host(),
              AllOf(Contains(finding("no C++ compiler", "apt-get install g++")),
                    Contains(finding("python3 is not in PATH", "apt-get install python3"))));
}

TEST_F(DoctorTest, ExitsWithThreeWhenSomethingIsWrong) {
  const ProcessResult well = run({"doctor", "1.10.1"});
  EXPECT_EQ(well.end.exit_code, 0) << well.out << well.err;
  EXPECT_THAT(well.out, HasSubstr("all is well"));
  fs::remove(unpacked_folder(pin_) / "torch/version.py");
  const ProcessResult wrong = run({"doctor"});
  EXPECT_EQ(wrong.end.exit_code, 3);
  EXPECT_THAT(wrong.out, HasSubstr("torch/version.py is missing\n  mend: driftaudit builds"));
}

TEST_F(DoctorTest, ListsAddsAndRemovesFromTheCommandLine) {
  EXPECT_THAT(run({"list"}).out, AllOf(HasSubstr("january-2022"), HasSubstr("no runner")));
  world_.publish({"1.13.1", false}, "december-2022");
  EXPECT_THAT(run({"list", "--all"}).out, HasSubstr("1.13.1"));
  const ProcessResult added = run({"add", "january-2022", "1.13.1"});
  EXPECT_EQ(added.end.exit_code, 0) << added.err;
  EXPECT_EQ(installed_builds().size(), 2U);
  EXPECT_TRUE(installed_builds()[0].has_runner);
  EXPECT_EQ(run({"remove", "1.10.1", "december-2022"}).end.exit_code, 3) << "in use here";
  give_up(unpacked_folder(pin_).filename().string());
  EXPECT_EQ(run({"remove", "1.10.1", "december-2022"}).end.exit_code, 0);
  EXPECT_TRUE(installed_builds().empty());
  EXPECT_EQ(run({"remove"}).end.exit_code, 2);
  EXPECT_EQ(run({"remove", "1.10.1"}).end.exit_code, 2);
  const ProcessResult unknown = run({"add", "0.1"});
  EXPECT_EQ(unknown.end.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("error: 0.1: unknown release\nhint: "));
}

}  // namespace
}  // namespace drift
