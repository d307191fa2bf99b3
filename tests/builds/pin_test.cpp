#include "driftaudit/pin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

#include "builds/fetch.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPin = R"({
  "torch": "1.13.1",
  "name": "december-2022",
  "released": "2022-12-15",
  "git_commit": "49444c3e546bf240bed24a101e747422d1f8a0ee",
  "python_tag": "cp39",
  "platform_tag": "manylinux1_x86_64",
  "wheel": {
    "file": "torch-1.13.1-cp39-cp39-manylinux1_x86_64.whl",
    "size": 887425311,
    "sha256": "50ff5e76d70074f6653d191fe4f6a42fdbe0cf942fbe2a3af0b75eaa414ac038"
  },
  "extra_wheels": [
    {
      "package": "nvidia-cuda-runtime-cu11",
      "version": "11.7.99",
      "file": "nvidia_cuda_runtime_cu11-11.7.99-py3-none-manylinux1_x86_64.whl",
      "size": 849253,
      "sha256": "cc768314ae58d2641f07eac350f40f99dcb35719c4faff4bc458a7cd2b119e31"
    }
  ],
  "libraries_bytes": 554035912
})";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(const std::string& text) {
  try {
    parse_pin(text, "venvs/x.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    return error.what();
  }
  return "none";
}

TEST(ShippedPins, CoverTheReleasesInOrderWithTheTwoNames) {
  const std::vector<Pin> pins = load_pins(fs::path(DRIFTAUDIT_SOURCE_FOLDER) / "venvs");
  ASSERT_GE(pins.size(), 36U);
  EXPECT_EQ(pins[0].version, "1.10.0");
  EXPECT_EQ(pins[35].version, "2.15.0");
  for (std::size_t i = 1; i < pins.size(); ++i) {
    EXPECT_TRUE(release_before(pins[i - 1].version, pins[i].version));
    EXPECT_LE(pins[i - 1].released, pins[i].released);
  }
  ASSERT_NE(find_pin(pins, "january-2022"), nullptr);
  EXPECT_EQ(find_pin(pins, "january-2022")->version, "1.10.1");
  ASSERT_NE(find_pin(pins, "december-2022"), nullptr);
  EXPECT_EQ(find_pin(pins, "december-2022"), find_pin(pins, "1.13.1"));
  EXPECT_EQ(find_pin(pins, ""), nullptr);
  EXPECT_EQ(find_pin(pins, "2.0.0")->extra_wheels.size(), 2U);
}

TEST(ParsePin, ReadsEveryField) {
  const Pin pin = parse_pin(kPin, "venvs/x.json");
  EXPECT_EQ(pin.version, "1.13.1");
  EXPECT_EQ(pin.name, "december-2022");
  EXPECT_EQ(pin.wheel.size, 887425311U);
  EXPECT_EQ(pin.wheel.package, "torch");
  ASSERT_EQ(pin.extra_wheels.size(), 1U);
  EXPECT_EQ(pin.extra_wheels[0].version, "11.7.99");
  EXPECT_EQ(pin.wheels().size(), 2U);
}

TEST(ParsePin, NamesTheFileAndTheKeyThatIsWrong) {
  EXPECT_THAT(complaint("{"), HasSubstr("venvs/x.json: not JSON"));
  EXPECT_THAT(complaint("11e999\"nan\""), HasSubstr("venvs/x.json: holds a number"));
  EXPECT_THAT(complaint("[]"), HasSubstr("not an object"));
  EXPECT_THAT(complaint(with(kPin, "\"released\"", "\"relased\"")),
              HasSubstr("venvs/x.json: released is missing"));
  EXPECT_THAT(complaint(with(kPin, "\"libraries_bytes\"", "\"x\": 1, \"libraries_bytes\"")),
              HasSubstr("x is not a key"));
  EXPECT_THAT(complaint(with(kPin, "50ff5e76", "50FF5E76")), HasSubstr("wheel.sha256"));
  EXPECT_THAT(complaint(with(kPin, "887425311", "-1")), HasSubstr("wheel.size"));
  EXPECT_THAT(complaint(with(kPin, "849253", "\"849253\"")), HasSubstr("extra_wheels[0].size"));
  EXPECT_THAT(complaint(with(kPin, "\"11.7.99\"", "\"11.7.98\"")),
              HasSubstr("extra_wheels[0].file"));
  EXPECT_THAT(complaint(with(kPin, "cp39\"", "cp38\"")), HasSubstr("wheel.file"));
  EXPECT_THAT(complaint(with(kPin, "torch-1.13.1-cp39", "../torch-1.13.1-cp39")),
              HasSubstr("wheel.file"));
  EXPECT_THAT(complaint(with(kPin, "49444c3e", "")), HasSubstr("git_commit"));
}

TEST(LoadPins, RefusesANameGivenTwiceAndAFileOfAnotherRelease) {
  const TemporaryFolder folder(fs::temp_directory_path(), "pins");
  write_file(folder.path() / "torch-1.13.1.json", kPin);
  EXPECT_EQ(load_pins(folder.path()).size(), 1U);
  write_file(folder.path() / "torch-1.13.2.json", kPin);
  EXPECT_THROW(load_pins(folder.path()), Error);
  const std::string other = with(with(kPin, "1.13.1", "1.13.2"), "torch-1.13.1", "torch-1.13.2");
  write_file(folder.path() / "torch-1.13.2.json", other);
  try {
    load_pins(folder.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("december-2022"));
  }
}

TEST(ReleaseBefore, ComparesPartsAsNumbers) {
  EXPECT_TRUE(release_before("1.9.0", "1.10.0"));
  EXPECT_TRUE(release_before("2.9.1", "2.10.0"));
  EXPECT_FALSE(release_before("2.0.0", "1.13.1"));
  EXPECT_FALSE(release_before("2.0.0", "2.0.0"));
}

TEST(UnknownReleaseHint, NamesTheRangeTheNearestAndHowToWriteAPin) {
  std::vector<Pin> pins(3);
  pins[0].version = "1.10.0";
  pins[1].version = "1.12.0";
  pins[2].version = "2.0.0";
  EXPECT_THAT(unknown_release_hint(pins, "1.11.5"), HasSubstr("nearest: 1.10.0, 1.12.0)"));
  EXPECT_THAT(unknown_release_hint(pins, "9.0"), HasSubstr("nearest: 2.0.0)"));
  EXPECT_THAT(unknown_release_hint(pins, "march"), HasSubstr("from 1.10.0 to 2.0.0; "));
  EXPECT_THAT(unknown_release_hint(pins, "march"), HasSubstr("make_pin.py"));
}

ProcessResult pip_said(const std::string& text) { return {{1, 0}, "", text}; }

TEST(PipFailure, NamesWhatWentWrong) {
  const auto what = [](const std::string& text) {
    return std::string(pip_failure(pip_said(text), "torch 1.13.1").what());
  };
  EXPECT_THAT(what("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.\n"
                   "    torch==1.13.1 from file:///w:\n        Expected sha256 " +
                   std::string(64, 'a') + "\n             Got        " + std::string(64, 'b')),
              HasSubstr("torch==1.13.1: hash mismatch: sha256 aaaa"));
  EXPECT_THAT(what("ERROR: Could not install packages due to an OSError: [Errno 28] No space left "
                   "on device"),
              HasSubstr("torch 1.13.1: the disk is full"));
  EXPECT_THAT(what("/usr/bin/python3: No module named pip"), HasSubstr("no pip"));
  EXPECT_THAT(what("WARNING: Retrying (Retry(total=0)) after connection broken by "
                   "'NewConnectionError: Failed to establish a new connection'\nERROR: No matching "
                   "distribution found for torch==1.13.1"),
              HasSubstr("no network"));
  EXPECT_THAT(
      what("WARNING: Retrying (Retry(total=0)) after connection broken by "
           "'SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]\nERROR: "
           "No matching distribution found for torch==1.13.1"),
      HasSubstr("certificate"));
  EXPECT_THAT(what("WARNING: Retrying (Retry(total=0)) after connection broken by something new\n"
                   "ERROR: No matching distribution found for torch==1.13.1"),
              HasSubstr("no network"));
  EXPECT_THAT(what("ERROR: No matching distribution found for torch==1.13.1"),
              HasSubstr("no such wheel"));
  EXPECT_THAT(what("ERROR: something else\n"), HasSubstr("pip: something else (exit status 1)"));
}

}  // namespace
}  // namespace drift
