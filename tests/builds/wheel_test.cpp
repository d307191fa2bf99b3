#include "builds/wheel.hpp"

#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/hash.hpp"

#include "builds/fake_torch.hpp"

namespace drift {
namespace {

using test::Files;
using test::write_zip;
using ::testing::Contains;
using ::testing::HasSubstr;

class WheelTest : public ::testing::Test {
 protected:
  fs::path wheel() const { return folder_.path() / "torch-1.0-cp39-cp39-any.whl"; }

  std::string complaint_about(const std::function<void()>& act) {
    try {
      act();
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kTrouble);
      return error.what();
    }
    return "none";
  }

  std::string complaint_on_reading() {
    return complaint_about([&] {
      const Wheel opened(wheel());
      for (const Wheel::Entry& entry : opened.entries()) {
        opened.read(entry, [](const char*, std::size_t) {});
      }
    });
  }

  void patch(const std::string& from, const std::string& to, std::size_t nth = 0) {
    std::string bytes = read_file(wheel());
    auto at = bytes.find(from);
    for (; nth > 0; --nth) {
      at = bytes.find(from, at + 1);
    }
    ASSERT_NE(at, std::string::npos);
    write_file(wheel(), bytes.replace(at, to.size(), to));
  }

  TemporaryFolder folder_{fs::temp_directory_path(), "wheel"};
};

TEST_F(WheelTest, RefusesNamesThatLeadOutOfTheFolder) {
  for (const char* name : {"../evil", "torch/../../evil", "/etc/evil", "torch\\..\\evil"}) {
    write_zip(wheel(), {{name, "x"}});
    EXPECT_THAT(complaint_on_reading(), HasSubstr("leads out of the wheel")) << name;
  }
  write_zip(wheel(), {{"torch/..evil/a..b", "x"}});
  EXPECT_EQ(complaint_on_reading(), "none");
}

TEST_F(WheelTest, RefusesSymbolicLinks) {
  write_zip(wheel(), {{"torch/lib/libc10.so", "/etc/passwd"}},
            {{"torch/lib/libc10.so", S_IFLNK | 0777}});
  EXPECT_THAT(complaint_on_reading(), HasSubstr("symbolic link"));
}

TEST_F(WheelTest, RefusesBytesThatDifferFromTheirChecksum) {
  write_zip(wheel(), {{"torch/version.py", "the bytes of the file"}});
  EXPECT_EQ(complaint_on_reading(), "none");
  patch("the bytes", "The bytes");
  EXPECT_THAT(complaint_on_reading(), HasSubstr("torch/version.py: "));
}

TEST_F(WheelTest, RefusesSizesThatLie) {
  const std::string bytes = "0123456789";
  write_zip(wheel(), {{"a", bytes}});
  // The sizes stand in the local header and again in the central directory.
  const std::string sizes("\x0a\0\0\0\x0a\0\0\0", 8);
  const std::string larger("\x0a\0\0\0\x0b\0\0\0", 8);
  patch(sizes, larger);
  patch(sizes, larger);
  EXPECT_NE(complaint_on_reading(), "none");
  write_zip(wheel(), {{"a", bytes}});
  const std::string smaller("\x0a\0\0\0\x05\0\0\0", 8);
  patch(sizes, smaller);
  patch(sizes, smaller);
  EXPECT_NE(complaint_on_reading(), "none");
}

TEST_F(WheelTest, RefusesTruncatedAndForeignFiles) {
  write_zip(wheel(), {{"a", std::string(5000, 'a')}});
  fs::resize_file(wheel(), 3000);
  EXPECT_THAT(complaint_on_reading(), HasSubstr("not a whole wheel"));
  write_file(wheel(), "not a zip");
  EXPECT_THAT(complaint_on_reading(), HasSubstr("not a whole wheel"));
}

TEST_F(WheelTest, UnpacksWhatARunnerNeedsAndNothingElse) {
  const test::FakeTorch torch;
  const Files files = torch.files();
  const fs::path extra = folder_.path() / "nvidia_cuda_runtime_cu11-11.7.99-py3-none-any.whl";
  write_zip(wheel(), files);
  write_zip(extra, torch.extra_files());
  std::vector<Wheel> wheels;
  wheels.emplace_back(wheel());
  wheels.emplace_back(extra);
  const fs::path out = folder_.path() / "out";
  const auto unpacked = unpack_runner_parts(wheels, out, *make_silent_progress());

  std::vector<std::string> names;
  std::uint64_t bytes = 0;
  for (const UnpackedFile& file : unpacked) {
    names.push_back(file.path);
    bytes += file.size;
    EXPECT_EQ(file.size, fs::file_size(out / file.path));
    EXPECT_EQ(file.sha256, sha256_file(out / file.path));
    EXPECT_EQ(file.library, file.path.find(".so") != std::string::npos);
  }
  EXPECT_THAT(names,
              ::testing::UnorderedElementsAre(
                  "torch/lib/libtorch_cpu.so", "torch/lib/libc10.so",
                  "torch/lib/libgomp-a34b3233.so.1", "nvidia/cuda_runtime/lib/libcudart.so.11",
                  "torch/include/ATen/ATen.h", "torch/include/torch/csrc/api/include/torch/all.h",
                  "torch/version.py", "torch-1.10.1.dist-info/METADATA"));
  EXPECT_EQ(runner_parts_bytes(wheels), bytes);
}

TEST_F(WheelTest, SaysWhenThereIsNoLibtorchInIt) {
  write_zip(wheel(), {{"torch/version.py", "x"}});
  std::vector<Wheel> wheels;
  wheels.emplace_back(wheel());
  EXPECT_THAT(complaint_about([&] {
                unpack_runner_parts(wheels, folder_.path() / "out", *make_silent_progress());
              }),
              HasSubstr("no torch/lib/libtorch_cpu.so in it"));
}

}  // namespace
}  // namespace drift
