#include "builds/store.hpp"

#include <csignal>
#include <elf.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/process.hpp"

#include "builds/cache.hpp"
#include "builds/elf.hpp"
#include "builds/fake_torch.hpp"
#include "builds/records.hpp"

namespace drift {
namespace {

using test::error_of;
using test::FakeWorld;
using test::has_half_build;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Calls something when a step whose label has `part` in it makes progress.
class ProgressHook final : public Progress {
 public:
  ProgressHook(std::string part, std::function<void()> act)
      : part_(std::move(part)), act_(std::move(act)) {}
  void start(std::string_view label, std::uint64_t, Unit) override { label_ = label; }
  void update(std::uint64_t) override {
    if (label_.find(part_) != std::string::npos) {
      act_();
    }
  }
  void finish() override {}
  void note(std::string_view) override {}

 private:
  std::string part_;
  std::function<void()> act_;
  std::string label_;
};

class StoreTest : public ::testing::Test {
 protected:
  Build open(const std::string& side, bool offline = false) {
    return open_build(side, {offline}, *progress_);
  }

  FakeWorld world_;
  std::unique_ptr<Progress> progress_ = make_silent_progress();
};

TEST_F(StoreTest, FetchesUnpacksAndRecordsARelease) {
  const Pin pin = world_.publish({}, "january-2022");
  const Build build = open("1.10.1");
  EXPECT_EQ(build.label, "1.10.1");
  EXPECT_EQ(build.origin, BuildOrigin::kPin);
  EXPECT_EQ(build.version, "1.10.1+cu102");
  EXPECT_EQ(build.runtime_folders.size(), 2U);
  EXPECT_EQ(build.libtorch_sha256, sha256_file(build.library_folder / "libtorch_cpu.so"));
  const fs::path folder = unpacked_folder(pin);
  EXPECT_TRUE(is_unpacked(folder));
  const UnpackedRecord record = read_build_record(folder);
  ASSERT_EQ(record.wheels.size(), 2U);
  EXPECT_EQ(record.wheels[0].sha256, pin.wheel.sha256);
  EXPECT_EQ(record.libraries.size(), 4U);
  // Neither the wheels nor anything else stays behind.
  for (const std::string& file : world_.cached_files()) {
    EXPECT_THAT(file, StartsWith("builds/" + folder.filename().string()));
  }
  EXPECT_FALSE(has_half_build(world_.cache()));
}

TEST_F(StoreTest, OpensWhatIsThereWithoutTheNetworkAndByItsName) {
  world_.publish({}, "january-2022");
  const Build first = open("1.10.1");
  fs::remove_all(world_.wheels());
  const Build again = open("january-2022", true);
  EXPECT_EQ(again.label, "january-2022");
  EXPECT_EQ(again.libraries_digest, first.libraries_digest);
}

TEST_F(StoreTest, KnowsWhatIsInstalled) {
  const Pin pin = world_.publish({}, "january-2022");
  const std::string wheel = (world_.wheels() / pin.wheel.file).string();
  EXPECT_FALSE(is_installed("1.10.1"));
  EXPECT_FALSE(is_installed(wheel));
  EXPECT_FALSE(is_installed("/missing"));
  open("1.10.1");
  EXPECT_TRUE(is_installed("1.10.1"));
  EXPECT_TRUE(is_installed("january-2022"));
  EXPECT_TRUE(is_installed(wheel)) << "the same build";
  EXPECT_TRUE(is_installed(world_.root().string())) << "a folder is where it is";
}

TEST_F(StoreTest, RefusesToFetchWhenOffline) {
  world_.publish({});
  const Error error = error_of([&] { open("1.10.1", true); });
  EXPECT_EQ(error.status(), Status::kTrouble);
  EXPECT_THAT(error.what(), HasSubstr("--offline"));
}

TEST_F(StoreTest, NamesUnknownReleasesAndMissingFiles) {
  world_.publish({});
  const Error release = error_of([&] { open("1.10.7"); });
  EXPECT_EQ(release.status(), Status::kUsage);
  EXPECT_THAT(release.what(), HasSubstr("1.10.7: unknown release"));
  EXPECT_THAT(release.hint(), HasSubstr("1.10.1"));
  EXPECT_THAT(error_of([&] { open("./nowhere"); }).what(), HasSubstr("no such file or folder"));
  write_file(world_.root() / "notes.txt", "x");
  EXPECT_THAT(error_of([&] { open((world_.root() / "notes.txt").string()); }).what(),
              HasSubstr("neither a wheel nor a folder"));
}

TEST_F(StoreTest, NamesAHashMismatchAndKeepsNothing) {
  Pin pin = world_.publish({});
  pin.wheel.sha256 = std::string(64, 'a');
  world_.write_pin(pin);
  const Error error = error_of([&] { open("1.10.1"); });
  EXPECT_EQ(error.status(), Status::kTrouble);
  EXPECT_THAT(error.what(), HasSubstr("hash mismatch: sha256 " + std::string(64, 'a')));
  EXPECT_TRUE(world_.cached_files().empty());
}

TEST_F(StoreTest, NamesAWheelThatPipDoesNotFind) {
  const Pin pin = world_.publish({});
  fs::remove(world_.wheels() / pin.wheel.file);
  EXPECT_THAT(error_of([&] { open("1.10.1"); }).what(), HasSubstr("pip finds no such wheel"));
  EXPECT_TRUE(world_.cached_files().empty());
}

TEST_F(StoreTest, NamesAnUnreachableIndex) {
  world_.publish({});
  fs::remove_all(world_.wheels());
  // Port 9 of the loopback interface: nothing listens there.
  world_.environment().set("PIP_NO_INDEX", "0");
  world_.environment().set("PIP_FIND_LINKS", "");
  world_.environment().set("PIP_INDEX_URL", "http://127.0.0.1:9/simple");
  world_.environment().set("PIP_RETRIES", "1");
  world_.environment().set("PIP_TRUSTED_HOST", "127.0.0.1");
  EXPECT_THAT(error_of([&] { open("1.10.1"); }).what(), HasSubstr("no network"));
}

TEST_F(StoreTest, NamesAPythonWithoutPip) {
  world_.publish({});
  world_.shadow_program("python3", "echo '/usr/bin/python3: No module named pip' >&2; exit 1");
  EXPECT_THAT(error_of([&] { open("1.10.1"); }).what(), HasSubstr("python3 has no pip"));
}

TEST_F(StoreTest, ChecksTheFreeDiskBeforeFetching) {
  const Pin pin = world_.publish({});
  world_.shadow_program("python3", "echo fetched anyway >&2; exit 1");
  const auto nearly_full = [](const fs::path&) { return std::uint64_t{1000}; };
  const Error error = error_of([&] { add_pin(pin, nearly_full, *progress_); });
  EXPECT_EQ(error.status(), Status::kTrouble);
  EXPECT_THAT(error.what(), HasSubstr("1.0 kB free"));
  EXPECT_THAT(error.what(), HasSubstr("needed"));
  EXPECT_TRUE(world_.cached_files().empty());
}

TEST_F(StoreTest, CountsTheWheelAndWhatIsUnpacked) {
  Pin pin = world_.publish({});
  pin.libraries_bytes = 1'000'000'000;
  const auto just_the_libraries = [&](const fs::path&) { return pin.libraries_bytes; };
  EXPECT_THAT(error_of([&] { add_pin(pin, just_the_libraries, *progress_); }).what(),
              HasSubstr("1.0 GB free, 1.1 GB needed"));
}

TEST_F(StoreTest, RefusesAWheelForAnotherMachineBeforeFetchingIt) {
  Pin pin = world_.publish({});
  pin.platform_tag = "manylinux1_riscv64";
  EXPECT_THAT(error_of([&] { add_pin(pin, free_disk_bytes, *progress_); }).what(),
              HasSubstr("manylinux1_riscv64"));
}

/// Runs in a child process and gives its wait status.
int in_child(const std::function<void()>& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      act();
    } catch (const std::exception&) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(StoreTest, LeavesNoHalfBuildWhenKilledWhileUnpacking) {
  const Pin pin = world_.publish({});
  const int status = in_child([] {
    ProgressHook kill_me("unpacking", [] { ::raise(SIGKILL); });
    open_build("1.10.1", {}, kill_me);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_FALSE(is_unpacked(unpacked_folder(pin)));
  EXPECT_FALSE(stale_scratch_folders().empty());
  EXPECT_TRUE(installed_builds().empty());
  EXPECT_EQ(open("1.10.1").version, "1.10.1+cu102");
  EXPECT_FALSE(has_half_build(world_.cache()));  // the leftovers are swept too
}

TEST_F(StoreTest, LeavesNoHalfBuildWhenKilledWhileFetching) {
  world_.publish({});
  const std::string path = environment_value("PATH");
  world_.shadow_program("python3", "sleep 600");
  const int status = in_child([] {
    ProgressHook kill_me("fetching", [] { ::raise(SIGKILL); });
    open_build("1.10.1", {}, kill_me);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(installed_builds().empty());
  world_.environment().set("PATH", path);
  EXPECT_EQ(open("1.10.1").version, "1.10.1+cu102");
  EXPECT_FALSE(has_half_build(world_.cache()));
}

TEST_F(StoreTest, LetsTwoProcessesAddTheSameBuildAtOnce) {
  world_.publish({});
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        open_build("1.10.1", {}, *make_silent_progress());
      } catch (const std::exception&) {
        ::_exit(1);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(installed_builds().size(), 1U);
  EXPECT_FALSE(has_half_build(world_.cache()));
}

TEST_F(StoreTest, DoesNotSweepTheFoldersOfLivingProcesses) {
  const ScratchFolder mine("fetch");
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const ScratchFolder theirs("fetch");
    [[maybe_unused]] const ssize_t n = ::write(ready[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(stale_scratch_folders().empty());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(stale_scratch_folders().size(), 1U);
  sweep_scratch_folders();
  EXPECT_TRUE(stale_scratch_folders().empty());
  EXPECT_TRUE(fs::exists(mine.path()));
}

TEST_F(StoreTest, RefusesALibraryThatChangedSinceItWasUnpacked) {
  world_.publish({});
  const fs::path library = open("1.10.1").library_folder / "libc10.so";
  std::string bytes = read_file(library);
  bytes.back() = static_cast<char>(bytes.back() + 1);
  write_file(library, bytes);
  const Error error = error_of([&] { open("1.10.1"); });
  EXPECT_THAT(error.what(), HasSubstr("torch/lib/libc10.so has changed"));
  EXPECT_THAT(error.hint(), HasSubstr("builds remove"));
  fs::remove(library);
  EXPECT_THAT(error_of([&] { open("1.10.1"); }).what(), HasSubstr("libc10.so is missing"));
}

TEST_F(StoreTest, HashesATouchedLibraryOnceAndRenewsItsRecord) {
  const Pin pin = world_.publish({});
  const fs::path library = open("1.10.1").library_folder / "libc10.so";
  fs::last_write_time(library, fs::last_write_time(library) + std::chrono::seconds(5));
  open("1.10.1");
  const UnpackedRecord record = read_build_record(unpacked_folder(pin));
  for (const FileRecord& known : record.libraries) {
    EXPECT_EQ(known.identity, library_identity(unpacked_folder(pin) / known.path));
  }
}

TEST_F(StoreTest, TellsWhatAttentionHangsOnWithoutFetching) {
  world_.publish({"2.0.7", false}, "a-name");
  for (const char* side : {"2.0.7", "a-name", "torch-2.0.7+cpu-cp39-cp39-linux_x86_64.whl"}) {
    EXPECT_THAT(attention_facts(side).torch, StartsWith("2.0.7")) << side;
    EXPECT_EQ(attention_facts(side).transformers, "") << side;
  }
  for (const char* side : {"9.9.9", "no/such/folder", world_.wheels().c_str()}) {
    EXPECT_EQ(attention_facts(side).torch, "") << side;
  }
  EXPECT_TRUE(installed_builds().empty());
}

TEST_F(StoreTest, UnpacksAWheelFileWithWhatLiesBesideIt) {
  const Pin pin = world_.publish({"2.0.7", false});
  fs::remove(world_.pins() / "torch-2.0.7.json");
  const std::string wheel = (world_.wheels() / pin.wheel.file).string();
  const Build build = open(wheel, true);
  EXPECT_EQ(build.label, wheel);
  EXPECT_EQ(build.origin, BuildOrigin::kWheel);
  EXPECT_EQ(build.version, "2.0.7+cu102");
  EXPECT_TRUE(fs::exists(wheel));
  ASSERT_EQ(installed_builds().size(), 1U);
  EXPECT_EQ(open(wheel, true).library_folder, build.library_folder);
}

TEST_F(StoreTest, FetchesWhatAPinnedWheelFileNeedsBesides) {
  const Pin pin = world_.publish({});
  const fs::path alone = world_.root() / "alone" / pin.wheel.file;
  make_folders(alone.parent_path());
  fs::copy_file(world_.wheels() / pin.wheel.file, alone);
  EXPECT_THAT(error_of([&] { open(alone.string(), true); }).what(),
              HasSubstr("nvidia_cuda_runtime_cu11"));
  open(alone.string());
  EXPECT_EQ(installed_builds().size(), 1U);
  EXPECT_EQ(open("1.10.1", true).origin, BuildOrigin::kWheel);  // the same build
}

TEST_F(StoreTest, RefusesAWheelWhoseLibrariesAreNowhere) {
  const Pin pin = world_.publish({});
  fs::remove(world_.pins() / "torch-1.10.1.json");
  fs::remove(world_.wheels() / pin.extra_wheels[0].file);
  const std::string wheel = (world_.wheels() / pin.wheel.file).string();
  EXPECT_THAT(error_of([&] { open(wheel); }).what(),
              HasSubstr(pin.wheel.file + "/torch/lib: libtorch_cpu.so needs libcudart.so.11"));
  EXPECT_TRUE(installed_builds().empty());
  EXPECT_FALSE(has_half_build(world_.cache()));
}

TEST_F(StoreTest, NamesTheArchitectureOfAForeignWheelFile) {
  test::Files files = test::FakeTorch{}.files();
  const bool here_arm = host_machine() == "aarch64";
  std::string& library = files["torch/lib/libtorch_cpu.so"];
  library[18] = static_cast<char>(here_arm ? EM_X86_64 : EM_AARCH64);  // e_machine
  library[19] = 0;
  const fs::path wheel = world_.root() / "torch-2.0.7-cp39-cp39-any.whl";
  test::write_zip(wheel, files);
  EXPECT_THAT(error_of([&] { open(wheel.string()); }).what(),
              HasSubstr(wheel.string() + ": built for " + (here_arm ? "x86_64" : "aarch64")));
  EXPECT_FALSE(has_half_build(world_.cache()));
  EXPECT_THAT(error_of([&] { remove_builds({wheel.string()}); }).what(),
              HasSubstr("not in the cache"));
}

TEST_F(StoreTest, ExpandsTheHomeFolder) {
  test::write_files(world_.root() / "env", test::FakeTorch{}.files());
  test::write_files(world_.root() / "env", test::FakeTorch{}.extra_files());
  world_.environment().set("HOME", world_.root().string());
  EXPECT_EQ(open("~/env").label, "~/env");
}

TEST_F(StoreTest, ListsAndRemovesBuilds) {
  world_.publish({"1.10.1", false}, "january-2022");
  world_.publish({"1.9.0", false});
  open("1.10.1");
  open("1.9.0");
  const auto builds = installed_builds();
  ASSERT_EQ(builds.size(), 2U);
  EXPECT_EQ(builds[0].version, "1.9.0");
  EXPECT_EQ(builds[1].name, "january-2022");
  EXPECT_GT(builds[1].bytes, 1000U);
  EXPECT_FALSE(builds[1].has_runner);
  remove_builds({"january-2022"});
  EXPECT_EQ(installed_builds().size(), 1U);
  EXPECT_FALSE(fs::exists(builds[1].folder));
  EXPECT_FALSE(has_half_build(world_.cache()));
  EXPECT_EQ(error_of([] { remove_builds({"january-2022"}); }).status(), Status::kUsage);
  EXPECT_EQ(error_of([] { remove_builds({"7.7"}); }).status(), Status::kUsage);
}

}  // namespace
}  // namespace drift
