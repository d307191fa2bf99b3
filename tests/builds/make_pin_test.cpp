#include <gtest/gtest.h>

#include "driftaudit/hash.hpp"
#include "driftaudit/process.hpp"

#include "builds/elf.hpp"
#include "builds/fake_torch.hpp"

namespace drift {
namespace {

using test::FakeTorch;
using test::FakeWorld;
using test::Files;
using test::write_zip;

ProcessResult make_pin(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"python3",   DRIFTAUDIT_SOURCE_FOLDER "/venvs/make_pin.py",
                                  "--python",  "3.9",
                                  "--machine", host_machine()};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_process({all, std::nullopt, {}});
}

TEST(MakePin, WritesThePinOfWhatPipFetches) {
  FakeWorld world;
  Pin expected = world.publish({});
  const fs::path wheel = world.wheels() / expected.wheel.file;
  Files files = FakeTorch{}.files();
  files["torch-1.10.1.dist-info/METADATA"] +=
      "Requires-Dist: typing-extensions\n"
      "Requires-Dist: nvidia-cuda-runtime-cu11 (==11.7.99) ; platform_system == \"Linux\"\n"
      "Requires-Dist: nvidia-cudnn-cu11 (==8.5.0.96) ; platform_system == \"Linux\"\n";
  write_zip(wheel, files);
  const fs::path out = world.root() / "torch-1.10.1.json";
  const ProcessResult result = make_pin(
      {"1.10.1", "--released", "2021-12-15", "--name", "january-2022", "--out", out.string()});
  ASSERT_TRUE(result.end.ok()) << result.err;
  const Pin pin = parse_pin(read_file(out), out.string());
  EXPECT_EQ(pin.name, "january-2022");
  EXPECT_EQ(pin.released, "2021-12-15");
  EXPECT_EQ(pin.git_commit, test::kCommit);
  EXPECT_EQ(pin.platform_tag, expected.platform_tag);
  EXPECT_EQ(pin.wheel.size, fs::file_size(wheel));
  EXPECT_EQ(pin.wheel.sha256, sha256_file(wheel));
  ASSERT_EQ(pin.extra_wheels.size(), 1U);
  EXPECT_EQ(pin.extra_wheels[0].package, "nvidia-cuda-runtime-cu11");
  EXPECT_EQ(pin.extra_wheels[0].sha256, expected.extra_wheels[0].sha256);
  EXPECT_EQ(pin.libraries_bytes, files["torch/lib/libtorch_cpu.so"].size() +
                                     files["torch/lib/libc10.so"].size() +
                                     files["torch/lib/libgomp-a34b3233.so.1"].size());
}

TEST(MakePin, FollowsTheExtrasOfTheToolkitPackage) {
  FakeWorld world;
  const Pin expected = world.publish({});
  Files files = FakeTorch{}.files();
  files["torch-1.10.1.dist-info/METADATA"] +=
      "Requires-Dist: cuda-toolkit[cublas,cudart]==13.2.2; platform_system == \"Linux\"\n";
  write_zip(world.wheels() / expected.wheel.file, files);
  write_zip(world.wheels() / "cuda_toolkit-13.2.2-py3-none-any.whl",
            {{"cuda_toolkit-13.2.2.dist-info/METADATA",
              "Metadata-Version: 2.1\nName: cuda-toolkit\nVersion: 13.2.2\n"
              "Requires-Dist: nvidia-cuda-runtime-cu11==11.7.99.*; extra == 'cudart'\n"
              "Requires-Dist: nvidia-cuda-cupti==1.0; extra == 'cupti'\n"},
             {"cuda_toolkit-13.2.2.dist-info/WHEEL", "Wheel-Version: 1.0\n"}});
  const fs::path out = world.root() / "torch-1.10.1.json";
  const ProcessResult result = make_pin({"1.10.1", "--out", out.string()});
  ASSERT_TRUE(result.end.ok()) << result.err;
  const Pin pin = parse_pin(read_file(out), out.string());
  ASSERT_EQ(pin.extra_wheels.size(), 1U);  // cupti is no extra that torch asked for
  EXPECT_EQ(pin.extra_wheels[0].version, "11.7.99");
}

TEST(MakePin, SaysWhenPipFindsNothing) {
  FakeWorld world;
  const ProcessResult result = make_pin({"9.9.9", "--out", (world.root() / "x").string()});
  EXPECT_FALSE(result.end.ok());
  EXPECT_NE(result.err.find("error: pip can't fetch torch==9.9.9"), std::string::npos);
  EXPECT_FALSE(fs::exists(world.root() / "x"));
}

}  // namespace
}  // namespace drift
