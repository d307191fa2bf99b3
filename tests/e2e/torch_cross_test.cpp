#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "driftaudit/made_model.hpp"
#include "driftaudit/process.hpp"

#include "e2e/test_venvs.hpp"
#include "model/checkpoint_fixtures.hpp"
#include "model/test_data.hpp"
#include "model/torch_file.hpp"

namespace drift {
namespace {

/// torch itself on the other side: its files read by us, ours by it.
class TorchCrossCheck : public test::NeedsPython39 {
 protected:
  void run(std::vector<std::string> arguments) {
    const fs::path script = test::source_folder() / "tests/e2e/torch_cross_check.py";
    const fs::path python = january_venv(python_) / "bin/python";
    arguments.insert(arguments.begin(), {python.string(), script.string()});
    const ProcessResult result = run_process({arguments, python_environment(), {}});
    ASSERT_TRUE(result.end.ok()) << result.out << result.err;
  }

  TemporaryFolder folder_ = test::scratch_folder();
};

std::string bytes_from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

void expect_same(const std::vector<StoredTensor>& tensors, const nlohmann::ordered_json& expected) {
  ASSERT_EQ(tensors.size(), expected.size());
  for (const StoredTensor& tensor : tensors) {
    ASSERT_TRUE(expected.contains(tensor.name)) << tensor.name;
    const auto& wanted = expected[tensor.name];
    EXPECT_EQ(tensor.shape, wanted["shape"].get<std::vector<std::uint64_t>>()) << tensor.name;
    EXPECT_EQ(dtype_name(tensor.dtype), wanted["dtype"].get<std::string>()) << tensor.name;
    if (!wanted["float32"].is_null()) {
      EXPECT_EQ(test::bytes_of(test::elements_of(tensor)),
                bytes_from_hex(wanted["float32"].get<std::string>()))
          << tensor.name;
    }
  }
}

TEST_F(TorchCrossCheck, WhatTorchWritesIsReadExactly) {
  run({"write", folder_.path().string()});
  const auto expected = nlohmann::ordered_json::parse(read_file(folder_.path() / "expected.json"));
  for (const char* format : {"zip", "legacy"}) {
    for (const char* protocol : {"2", "3", "4"}) {
      const std::string name = std::string(format) + "-" + protocol + ".bin";
      SCOPED_TRACE(name);
      expect_same(read_torch_file(folder_.path() / name), expected);
    }
  }
}

TEST_F(TorchCrossCheck, TorchReadsWhatIsMade) {
  const auto progress = make_silent_progress();
  for (const auto format : {CheckpointFormat::kTorchZip, CheckpointFormat::kTorchLegacy}) {
    const fs::path model = folder_.path() / std::to_string(static_cast<int>(format));
    make_model(model, {.format = format}, *progress);
    const fs::path out = folder_.path() / "read";
    run({"read", (model / "pytorch_model.bin").string(), out.string()});
    std::string expected;
    for (const StoredTensor& tensor : read_torch_file(model / "pytorch_model.bin")) {
      expected += test::bytes_of(test::elements_of(tensor));
    }
    EXPECT_EQ(read_file(out), expected);
  }
}

}  // namespace
}  // namespace drift
