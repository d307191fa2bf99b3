#include "driftaudit/made_model.hpp"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/hash.hpp"
#include "driftaudit/tokenizer.hpp"
#include "driftaudit/weights.hpp"

#include "checkpoint_fixtures.hpp"
#include "test_data.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MadeModel : public ::testing::Test {
 protected:
  fs::path make(const std::string& name, const MadeModelOptions& options) {
    const auto progress = make_silent_progress();
    make_model(folder_.path() / name, options, *progress);
    return folder_.path() / name;
  }
  std::string canonical(const fs::path& model) {
    ModelConfig config = read_model_config(model / "config.json");
    write_canonical_weights(model, config, folder_.path() / "weights");
    return read_file(folder_.path() / "weights");
  }

  TemporaryFolder folder_ = test::scratch_folder();
};

TEST_F(MadeModel, HasTheSameBytesOnEveryMachine) {
  const fs::path safetensors = make("a", {.format = CheckpointFormat::kSafetensors});
  const fs::path zip = make("b", {.format = CheckpointFormat::kTorchZip});
  const fs::path legacy = make("c", {.format = CheckpointFormat::kTorchLegacy});
  EXPECT_EQ(sha256_file(safetensors / "model.safetensors"),
            "9714c5cba71ce159525733700ab8bef0159c2f680b59ffc51f786a02d1517837");
  EXPECT_EQ(sha256_file(zip / "pytorch_model.bin"),
            "8214d4b342d1c1696bfd0ae886e305266f5024a1050d6a4bec4b3b70dca066fe");
  EXPECT_EQ(sha256_file(legacy / "pytorch_model.bin"),
            "91fde8b072ff63de3764cd1b0b4fbb8dc5e515304aa91ab94603bcde0e3452ec");
}

TEST_F(MadeModel, HoldsTheSameWeightsInEveryFormat) {
  const std::string expected = canonical(make("a", {.format = CheckpointFormat::kSafetensors}));
  EXPECT_EQ(canonical(make("b", {.format = CheckpointFormat::kTorchZip})), expected);
  EXPECT_EQ(canonical(make("c", {.format = CheckpointFormat::kTorchLegacy})), expected);
}

TEST_F(MadeModel, DependsOnItsSeed) {
  EXPECT_NE(canonical(make("a", {.seed = 1})), canonical(make("b", {.seed = 2})));
}

TEST_F(MadeModel, IsReadableInHalfPrecision) {
  for (const auto& [dtype, name] : std::map<MadeDtype, std::string>{
           {MadeDtype::kFloat16, "float16"}, {MadeDtype::kBfloat16, "bfloat16"}}) {
    for (const auto format : {CheckpointFormat::kSafetensors, CheckpointFormat::kTorchZip}) {
      const fs::path model =
          make(name + std::to_string(static_cast<int>(format)), {.format = format, .dtype = dtype});
      ModelConfig config = read_model_config(model / "config.json");
      EXPECT_EQ(write_canonical_weights(model, config, folder_.path() / "weights").dtype, name);
    }
  }
}

TEST_F(MadeModel, CarriesATokenizerOfItsVocabulary) {
  const fs::path model = make("a", {});
  EXPECT_EQ(Tokenizer::from_folder(model).size(),
            read_model_config(model / "config.json").vocab_size);
}

TEST_F(MadeModel, RefusesAFolderThatHoldsSomething) {
  make("a", {});
  EXPECT_THAT(test::usage_error_of([&] { make("a", {}); }), HasSubstr("is there already"));
}

TEST_F(MadeModel, TakesAnEmptyFolderAndLeavesNothingElse) {
  fs::create_directory(folder_.path() / "a");
  make("a", {});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path() / "a"), {}), 4);
}

TEST_F(MadeModel, Gpt2SmallHasGpt2SmallsSizesAndVocabulary) {
  const fs::path model =
      make("a", {.preset = MadePreset::kGpt2Small, .dtype = MadeDtype::kFloat16});
  const ModelConfig config = read_model_config(model / "config.json");
  EXPECT_EQ(config.parameters(), 124439808U);
  EXPECT_THAT(config.end_of_text, ElementsAre(50256));
  EXPECT_EQ(Tokenizer::from_folder(model).size(), 50257U);
  EXPECT_GT(fs::file_size(model / "model.safetensors"), 2 * config.parameters());
}

}  // namespace
}  // namespace drift
