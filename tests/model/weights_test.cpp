#include "driftaudit/weights.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint_fixtures.hpp"
#include "test_data.hpp"

namespace drift {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CanonicalWeights : public ::testing::Test {
 protected:
  CheckpointFacts facts(const std::vector<test::TestTensor>& tensors,
                        HeadChoice choice = HeadChoice::kConfig,
                        test::WriteCheckpoint write = write_safetensors) {
    const bool safetensors = write == &write_safetensors;
    fs::remove(source_ / "pytorch_model.bin");
    fs::remove(source_ / "model.safetensors");
    fs::create_directories(source_);
    test::write_checkpoint(
        write, source_ / (safetensors ? "model.safetensors" : "pytorch_model.bin"), tensors);
    return write_canonical_weights(source_, config_, target_, choice);
  }
  std::string convert(const std::vector<test::TestTensor>& tensors,
                      test::WriteCheckpoint write = write_safetensors) {
    return facts(tensors, HeadChoice::kConfig, write).dtype;
  }
  std::string error(const std::vector<test::TestTensor>& tensors) {
    std::string what = test::usage_error_of([&] { convert(tensors); });
    EXPECT_FALSE(fs::exists(target_)) << "a refused checkpoint leaves no file";
    return what;
  }
  weights::Header header() const {
    weights::Header header{};
    const std::string bytes = read_file(target_);
    std::memcpy(&header, bytes.data(), sizeof header);
    return header;
  }
  void set_value(const std::string& tensor, std::size_t element, float value) {
    std::memcpy(test::find(tensors_, tensor).bytes.data() + element * sizeof value, &value,
                sizeof value);
  }
  void add_head(float first_value) {
    test::TestTensor head = test::find(tensors_, "wte.weight");
    head.info.name = "lm_head.weight";
    std::memcpy(head.bytes.data(), &first_value, sizeof first_value);
    tensors_.push_back(head);
  }
  float embedding_value() { return test::fixture_value(0, 0); }

  TemporaryFolder folder_ = test::scratch_folder();
  fs::path source_ = folder_.path() / "model";
  fs::path target_ = folder_.path() / "weights";
  ModelConfig config_ = test::small_config();
  std::vector<test::TestTensor> tensors_ = test::gpt2_tensors(config_);
};

TEST_F(CanonicalWeights, LayOutEveryTensorWhereTheFormatSays) {
  EXPECT_EQ(convert(tensors_), "float32");
  const std::string bytes = read_file(target_);
  const weights::Header written = header();
  EXPECT_EQ(std::string(written.magic, 8), "DRIFTWTS");
  EXPECT_EQ(written.version, weights::kVersion);
  EXPECT_EQ(written.n_inner, 12U);
  EXPECT_EQ(written.n_layer, 2U);
  EXPECT_EQ(written.flags, weights::kTied | weights::kScaleAttention);
  EXPECT_EQ(written.layer_norm_epsilon, 1e-5);
  EXPECT_EQ(written.file_bytes, bytes.size());
  std::string expected = bytes.substr(0, sizeof written);
  const auto list = weights::tensor_list(written);
  ASSERT_EQ(list.size(), tensors_.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i].offset % 64, 0U);
    expected.resize(list[i].offset, '\0');
    expected += tensors_[i].bytes;
  }
  EXPECT_EQ(bytes, expected);
}

TEST_F(CanonicalWeights, AreTheSameBytesFromEveryFormatAndNaming) {
  convert(tensors_);
  const std::string expected = read_file(target_);
  for (const auto write : {write_safetensors, write_torch_zip, write_torch_legacy}) {
    auto renamed = tensors_;
    for (auto& tensor : renamed) {
      tensor.info.name = "transformer." + tensor.info.name;
    }
    convert(renamed, write);
    EXPECT_EQ(read_file(target_), expected);
  }
}

TEST_F(CanonicalWeights, RaiseHalfPrecisionExactly) {
  convert(tensors_);
  const std::string expected = read_file(target_);
  for (const Dtype dtype : {Dtype::kFloat16, Dtype::kBfloat16}) {
    auto halved = tensors_;
    for (auto& tensor : halved) {
      std::vector<float> values(tensor.bytes.size() / sizeof(float));
      std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
      std::vector<std::uint16_t> halves;
      halves.reserve(values.size());
      for (const float value : values) {
        halves.push_back(dtype == Dtype::kFloat16 ? float32_to_float16(value)
                                                  : float32_to_bfloat16(value));
      }
      tensor.info.dtype = dtype;
      tensor.bytes = test::bytes_of(halves);
    }
    EXPECT_EQ(convert(halved), dtype_name(dtype));
    EXPECT_EQ(read_file(target_), expected);
    halved[0] = tensors_[0];
    EXPECT_EQ(convert(halved), "mixed");
  }
}

TEST_F(CanonicalWeights, LeaveMasksOut) {
  convert(tensors_);
  const std::string expected = read_file(target_);
  tensors_.push_back({{"h.0.attn.bias", Dtype::kBool, {1, 1, 2, 2}}, std::string("\1\0\1\1", 4)});
  tensors_.push_back(
      {{"h.1.attn.bias", Dtype::kFloat32, {1, 1, 2, 2}}, test::bytes_of<float>({1, 0, 1, 1})});
  tensors_.push_back(
      {{"transformer.h.1.attn.masked_bias", Dtype::kFloat32, {}}, test::bytes_of<float>({-1e4F})});
  EXPECT_EQ(convert(tensors_), "float32");
  EXPECT_EQ(read_file(target_), expected);
}

TEST_F(CanonicalWeights, TakeAMaskedValueThatHalfPrecisionRounded) {
  convert(tensors_);
  const std::string expected = read_file(target_);
  // bfloat16 has no -10000; -9984 is the nearest.
  tensors_.push_back({{"h.0.attn.masked_bias", Dtype::kBfloat16, {}},
                      test::bytes_of<std::uint16_t>({float32_to_bfloat16(-1e4F)})});
  convert(tensors_);
  EXPECT_EQ(read_file(target_), expected);
}

TEST_F(CanonicalWeights, RefuseAMaskThatIsNotCausal) {
  const auto refused = [&](const test::TestTensor& mask) {
    auto with = tensors_;
    with.push_back(mask);
    return error(with);
  };
  EXPECT_THAT(refused({{"h.0.attn.bias", Dtype::kUint8, {1, 1, 2, 2}}, std::string(4, '\1')}),
              AllOf(HasSubstr("\"h.0.attn.bias\" is not GPT-2's causal mask"),
                    HasSubstr("it is 1 at [0, 0, 0, 1]")));
  EXPECT_THAT(refused({{"h.0.attn.bias", Dtype::kBool, {1, 1, 2, 2}}, std::string("\1\0\0\1", 4)}),
              HasSubstr("it is 0 at [0, 0, 1, 0]"));
  EXPECT_THAT(refused({{"h.0.attn.bias", Dtype::kBool, {1, 1, 1, 2}}, std::string("\1\0", 2)}),
              HasSubstr("[1, 1, 1, 2]"));
  EXPECT_THAT(refused({{"h.0.attn.bias", Dtype::kInt16, {1, 1}}, std::string("\1\0", 2)}),
              HasSubstr("it is int16"));
  EXPECT_THAT(refused({{"h.0.attn.bias", Dtype::kBool, {1}}, std::string("\1", 1)}),
              HasSubstr("it has shape [1]"));
  EXPECT_THAT(refused({{"h.0.attn.masked_bias", Dtype::kFloat32, {}}, test::bytes_of<float>({-1})}),
              HasSubstr("it is -1"));
}

TEST_F(CanonicalWeights, AHeadEqualToTheEmbeddingIsTied) {
  add_head(embedding_value());
  convert(tensors_);
  EXPECT_TRUE(config_.tied);
  EXPECT_EQ(header().flags & weights::kTied, weights::kTied);
}

TEST_F(CanonicalWeights, AHeadOfItsOwnIsKeptWhereConfigSaysSo) {
  config_.tied = false;
  add_head(embedding_value() + 1);
  convert(tensors_, write_torch_zip);
  EXPECT_FALSE(config_.tied);
  EXPECT_EQ(header().flags & weights::kTied, 0U);
  EXPECT_EQ(weights::tensor_list(header()).back().name, "lm_head.weight");
  EXPECT_TRUE(read_file(target_).ends_with(tensors_.back().bytes));
}

TEST_F(CanonicalWeights, AHeadThatDiffersFromATiedEmbeddingIsCountedAndLeftOut) {
  convert(tensors_);
  const std::string tied = read_file(target_);
  add_head(embedding_value() + 1);
  const CheckpointFacts found = facts(tensors_);
  EXPECT_TRUE(config_.tied);
  EXPECT_EQ(read_file(target_), tied);
  EXPECT_EQ(found.head.differing, 1U);
  EXPECT_EQ(found.head.elements, 80U);
}

TEST_F(CanonicalWeights, TheChoiceDecidesWhichHeadIsRun) {
  add_head(embedding_value() + 1);
  facts(tensors_, HeadChoice::kStored);
  EXPECT_FALSE(config_.tied);
  EXPECT_TRUE(read_file(target_).ends_with(tensors_.back().bytes));
  facts(tensors_, HeadChoice::kTied);  // config_ says untied by now
  EXPECT_TRUE(config_.tied);
  EXPECT_EQ(header().flags & weights::kTied, weights::kTied);
}

TEST_F(CanonicalWeights, AStoredHeadThatIsAskedForMustBeThere) {
  EXPECT_THAT(test::usage_error_of([&] { facts(tensors_, HeadChoice::kStored); }),
              AllOf(HasSubstr("lm_head.weight"), HasSubstr("--output-head stored")));
  config_.tied = false;
  facts(tensors_, HeadChoice::kTied);
  EXPECT_TRUE(config_.tied) << "no head is needed";
}

TEST_F(CanonicalWeights, AreTheSameBytesUnderEveryPrefix) {
  convert(tensors_);
  const std::string expected = read_file(target_);
  for (const std::string prefix :
       {"module.", "model.", "_orig_mod.", "module._orig_mod.transformer.", "model.transformer.",
        "_orig_mod.module.model.transformer.", "_fsdp_wrapped_module.transformer."}) {
    auto renamed = tensors_;
    for (auto& tensor : renamed) {
      tensor.info.name = prefix + tensor.info.name;
    }
    test::find(renamed, prefix + "h.1.ln_1.weight").info.name =
        prefix + "h.1._orig_mod.ln_1.weight";
    convert(renamed, write_torch_zip);
    EXPECT_EQ(read_file(target_), expected) << prefix;
  }
}

TEST_F(CanonicalWeights, NameThePrefixUnderWhichAMissingTensorWouldBe) {
  for (auto& tensor : tensors_) {
    tensor.info.name = "model.backbone." + tensor.info.name;
  }
  EXPECT_THAT(error(tensors_),
              AllOf(HasSubstr("tensor \"wte.weight\" is missing"),
                    HasSubstr("\"model.backbone.wte.weight\""), HasSubstr("\"backbone.\"")));
}

TEST_F(CanonicalWeights, LeaveTheHeadsOfOtherTasksOutByName) {
  convert(tensors_);
  const std::string expected = read_file(target_);
  for (const char* name : {"v_head.summary.weight", "v_head.summary.bias", "score.weight",
                           "multiple_choice_head.summary.bias"}) {
    tensors_.push_back({{name, Dtype::kInt8, {2}}, std::string(2, '\0')});
  }
  EXPECT_THAT(facts(tensors_).other_heads, ElementsAre("multiple_choice_head", "score", "v_head"));
  EXPECT_EQ(read_file(target_), expected);
  tensors_.push_back({{"h.0.v_head.weight", Dtype::kFloat32, {1}}, std::string(4, '\0')});
  EXPECT_THAT(test::usage_error_of([&] { convert(tensors_); }), HasSubstr("is no part of"));
}

TEST_F(CanonicalWeights, NameWeightsThatAreStoredTransposed) {
  test::find(tensors_, "h.0.attn.c_attn.weight").info.shape = {24, 8};
  EXPECT_THAT(error(tensors_),
              AllOf(HasSubstr("h.0.attn.c_attn.weight"), HasSubstr("stored transposed"),
                    HasSubstr("[24, 8]"), HasSubstr("[8, 24]")));
}

TEST_F(CanonicalWeights, SayThatNoBiasIsThere) {
  std::erase_if(tensors_, [](const auto& tensor) { return tensor.info.name.ends_with(".bias"); });
  EXPECT_THAT(error(tensors_), HasSubstr("\"h.0.ln_1.bias\" is missing, and so is every other"));
}

TEST_F(CanonicalWeights, SayThatTheEmbeddingMayStandUnderTheHeadsName) {
  add_head(0);
  tensors_.erase(tensors_.begin());
  EXPECT_THAT(error(tensors_), AllOf(HasSubstr("\"wte.weight\" is missing"),
                                     HasSubstr("\"lm_head.weight\" is there")));
}

TEST_F(CanonicalWeights, NameAGitLfsPointerWhateverItIsCalled) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 548118077\n";
  fs::create_directories(source_);
  for (const char* name :
       {"model.safetensors", "pytorch_model.bin", "weights.pt", "model.safetensors.index.json"}) {
    write_file(source_ / name, pointer);
    EXPECT_THAT(
        test::usage_error_of([&] { write_canonical_weights(source_ / name, config_, target_); }),
        AllOf(HasSubstr(name), HasSubstr("a Git LFS pointer")));
  }
}

TEST_F(CanonicalWeights, AnUntiedConfigNeedsAHead) {
  config_.tied = false;
  EXPECT_THAT(error(tensors_), AllOf(HasSubstr("lm_head.weight"), HasSubstr("missing")));
}

TEST_F(CanonicalWeights, RefuseAMissingTensor) {
  tensors_.erase(tensors_.begin() + 5);
  EXPECT_THAT(error(tensors_), HasSubstr("tensor \"h.0.attn.c_attn.bias\" is missing"));
}

TEST_F(CanonicalWeights, RefuseASurplusTensor) {
  tensors_.push_back({{"h.2.ln_1.weight", Dtype::kFloat32, {8}}, std::string(32, '\0')});
  EXPECT_THAT(error(tensors_), HasSubstr("tensor \"h.2.ln_1.weight\" is no part of"));
}

TEST_F(CanonicalWeights, RefuseAWrongShape) {
  test::find(tensors_, "h.1.mlp.c_fc.weight").info.shape = {12, 8};
  EXPECT_THAT(error(tensors_),
              AllOf(HasSubstr("model.safetensors"), HasSubstr("tensor \"h.1.mlp.c_fc.weight\""),
                    HasSubstr("[12, 8]"), HasSubstr("[8, 12]")));
}

TEST_F(CanonicalWeights, RefuseAnotherModelsWeights) {
  config_.vocab_size = 11;
  EXPECT_THAT(error(tensors_),
              AllOf(HasSubstr("wte.weight"), HasSubstr("[10, 8]"), HasSubstr("[11, 8]")));
}

TEST_F(CanonicalWeights, RefuseANameWithAndWithoutPrefix) {
  tensors_.push_back(tensors_[0]);
  tensors_.back().info.name = "transformer.wte.weight";
  EXPECT_THAT(error(tensors_), HasSubstr("wte.weight"));
}

TEST_F(CanonicalWeights, NameTensorAndPlaceOfANaN) {
  set_value("h.1.attn.c_proj.weight", 8 * 3 + 5, std::nanf(""));
  EXPECT_THAT(error(tensors_), HasSubstr("tensor \"h.1.attn.c_proj.weight\" is NaN at [3, 5]"));
}

TEST_F(CanonicalWeights, NameTensorAndPlaceOfAnInfinity) {
  set_value("ln_f.bias", 7, -std::numeric_limits<float>::infinity());
  EXPECT_THAT(error(tensors_), HasSubstr("tensor \"ln_f.bias\" is infinite at [7]"));
}

TEST_F(CanonicalWeights, RefuseDoublesAndIntegers) {
  for (const Dtype dtype : {Dtype::kFloat64, Dtype::kInt64}) {
    auto& tensor = test::find(tensors_, "ln_f.weight");
    tensor.info.dtype = dtype;
    tensor.bytes.resize(64);
    EXPECT_THAT(error(tensors_), AllOf(HasSubstr("\"ln_f.weight\""), HasSubstr(dtype_name(dtype))));
  }
}

TEST_F(CanonicalWeights, ARefusedCheckpointLeavesTheOldFile) {
  convert(tensors_);
  const std::string before = read_file(target_);
  set_value("ln_f.bias", 0, std::nanf(""));
  EXPECT_THROW(convert(tensors_), Error);
  EXPECT_EQ(read_file(target_), before);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 2);
}

TEST_F(CanonicalWeights, ComeFromAFileAsWellAsFromItsFolder) {
  convert(tensors_);
  const std::string expected = read_file(target_);
  write_canonical_weights(source_ / "model.safetensors", config_, target_);
  EXPECT_EQ(read_file(target_), expected);
}

TEST_F(CanonicalWeights, AFolderWithoutWeightsIsAnError) {
  fs::create_directories(source_);
  EXPECT_THAT(test::usage_error_of([&] { write_canonical_weights(source_, config_, target_); }),
              HasSubstr("holds no model.safetensors"));
}

TEST_F(CanonicalWeights, ComeFromTheShippedModel) {
  ModelConfig config = read_model_config(test::mini_folder() / "config.json");
  EXPECT_EQ(write_canonical_weights(test::mini_folder(), config, target_).dtype, "float16");
  EXPECT_TRUE(config.tied);
}

}  // namespace
}  // namespace drift
