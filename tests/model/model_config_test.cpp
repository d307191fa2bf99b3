#include "driftaudit/model_config.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint_fixtures.hpp"
#include "test_data.hpp"

namespace drift {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class ReadModelConfig : public ::testing::Test {
 protected:
  ModelConfig read(const std::string& json) {
    write_file(file_, json);
    return read_model_config(file_);
  }
  std::string error(const std::string& json) {
    return test::usage_error_of([&] { read(json); });
  }
  /// The least that a config needs, with one more key.
  static std::string minimal(const std::string& more = "") {
    return R"({"n_embd":8,"n_head":2,"n_layer":3,"n_positions":16,"vocab_size":100)" +
           (more.empty() ? "" : "," + more) + "}";
  }

  TemporaryFolder folder_ = test::scratch_folder();
  fs::path file_ = folder_.path() / "config.json";
};

TEST_F(ReadModelConfig, TakesWhatHuggingFaceWritesForGpt2) {
  const ModelConfig config = read(R"({
    "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
    "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
    "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
    "n_inner": null, "n_layer": 12, "n_positions": 1024, "reorder_and_upcast_attn": false,
    "resid_pdrop": 0.1, "scale_attn_by_inverse_layer_idx": false, "scale_attn_weights": true,
    "summary_activation": null, "task_specific_params": {"text-generation": {"do_sample": true}},
    "vocab_size": 50257})");
  EXPECT_EQ(config.n_embd, 768U);
  EXPECT_EQ(config.n_head, 12U);
  EXPECT_EQ(config.n_layer, 12U);
  EXPECT_EQ(config.n_positions, 1024U);
  EXPECT_EQ(config.vocab_size, 50257U);
  EXPECT_EQ(config.n_inner, 3072U);
  EXPECT_EQ(config.layer_norm_epsilon, 1e-5);
  EXPECT_THAT(config.end_of_text, ElementsAre(50256));
  EXPECT_TRUE(config.tied && config.scale_attention && !config.scale_by_layer);
  EXPECT_EQ(config.parameters(), 124439808U);  // GPT-2 small's well-known 124 M
}

TEST_F(ReadModelConfig, TakesASwitchlessConfigWithGpt2sDefaults) {
  const ModelConfig config = read(minimal());
  EXPECT_EQ(config.n_inner, 32U);
  EXPECT_EQ(config.layer_norm_epsilon, 1e-5);
  EXPECT_THAT(config.end_of_text, IsEmpty()) << "GPT-2's own id lies outside this vocabulary";
  EXPECT_TRUE(config.tied && config.scale_attention && !config.scale_by_layer);
}

TEST_F(ReadModelConfig, TakesSwitches) {
  const ModelConfig config = read(minimal(
      R"("n_inner":20,"tie_word_embeddings":false,"scale_attn_weights":false,)"
      R"("scale_attn_by_inverse_layer_idx":true,"layer_norm_epsilon":0.5,"eos_token_id":99)"));
  EXPECT_EQ(config.n_inner, 20U);
  EXPECT_TRUE(!config.tied && !config.scale_attention && config.scale_by_layer);
  EXPECT_EQ(config.layer_norm_epsilon, 0.5);
  EXPECT_THAT(config.end_of_text, ElementsAre(99));
}

TEST_F(ReadModelConfig, AnAbsentEndOfTextIsGpt2sAndANullNone) {
  const std::string big =
      R"({"n_embd":8,"n_head":2,"n_layer":3,"n_positions":16,"vocab_size":50257)";
  EXPECT_THAT(read(big + "}").end_of_text, ElementsAre(50256));
  EXPECT_THAT(read(big + R"(,"eos_token_id":null})").end_of_text, IsEmpty());
}

TEST_F(ReadModelConfig, TakesWhatEndsATextAsGenerateDoes) {
  const auto ends = [&](const std::string& value) {
    return read(minimal("\"eos_token_id\":" + value)).end_of_text;
  };
  EXPECT_THAT(ends("100"), IsEmpty()) << "beyond the vocabulary: it never comes";
  EXPECT_THAT(ends("50256"), IsEmpty());
  EXPECT_THAT(ends("-1"), IsEmpty());
  EXPECT_THAT(ends("18446744073709551615"), IsEmpty());
  EXPECT_THAT(ends("[7, 3, 7, -1, 100]"), ElementsAre(7, 3));
  for (const char* bad :
       {"[]", "[7, \"3\"]", "7.0", "99999999999999999999", "true", "\"7\"", "{}", "[[7]]"}) {
    EXPECT_THAT(error(minimal("\"eos_token_id\":" + std::string(bad))),
                AllOf(HasSubstr("config.json"), HasSubstr("eos_token_id")))
        << bad;
  }
}

TEST_F(ReadModelConfig, GenerationConfigAloneSaysWhatEndsAText) {
  const fs::path generation = folder_.path() / "generation_config.json";
  write_file(generation, R"({"eos_token_id":[5,6]})");
  EXPECT_THAT(read(minimal(R"("eos_token_id":9)")).end_of_text, ElementsAre(5, 6));
  write_file(generation, R"({"bos_token_id":1})");
  EXPECT_THAT(read(minimal(R"("eos_token_id":9)")).end_of_text, IsEmpty());
  write_file(generation, R"({"eos_token_id":"x"})");
  EXPECT_THAT(error(minimal()), HasSubstr("generation_config.json"));
}

TEST_F(ReadModelConfig, NotesWhatGenerateWouldDoBesides) {
  EXPECT_THAT(read(minimal()).notes, IsEmpty());
  EXPECT_THAT(
      read(minimal(R"("use_cache":true,"repetition_penalty":1.0,"bad_words_ids":null)")).notes,
      IsEmpty());
  EXPECT_THAT(read(minimal(R"("use_cache":false,"repetition_penalty":1.2,"num_beams":4)")).notes,
              UnorderedElementsAre(HasSubstr("--no-cache"), HasSubstr("\"repetition_penalty\" 1.2"),
                                   HasSubstr("\"num_beams\" 4")));
}

TEST_F(ReadModelConfig, TakesASizeUnderEitherName) {
  const ModelConfig config =
      read(R"({"model_type":"gpt2","hidden_size":8,"num_attention_heads":2,"num_hidden_layers":3,)"
           R"("max_position_embeddings":16,"vocab_size":100})");
  EXPECT_EQ(config.n_embd, 8U);
  EXPECT_EQ(config.n_head, 2U);
  EXPECT_EQ(config.n_layer, 3U);
  EXPECT_EQ(config.n_positions, 16U);
  EXPECT_EQ(read(minimal(R"("hidden_size":8,"num_attention_heads":2)")).n_head, 2U);
}

TEST_F(ReadModelConfig, RefusesTwoNamesOfOneSizeThatDisagree) {
  for (const auto& [own, other] :
       std::vector<std::pair<std::string, std::string>>{{"n_embd", "hidden_size"},
                                                        {"n_head", "num_attention_heads"},
                                                        {"n_layer", "num_hidden_layers"},
                                                        {"n_positions", "max_position_embeddings"},
                                                        {"n_positions", "n_ctx"}}) {
    EXPECT_THAT(
        error(minimal("\"" + other + "\":4")),
        AllOf(HasSubstr("\"" + own + "\" is "), HasSubstr("\"" + other + "\""), HasSubstr("is 4")));
  }
}

TEST_F(ReadModelConfig, TakesGpt2sOwnSizesWhereTransformersWould) {
  const ModelConfig config = read(R"({"model_type":"gpt2"})");
  EXPECT_EQ(config.parameters(), 124439808U);
  EXPECT_EQ(config.n_head, 12U);
}

TEST_F(ReadModelConfig, CountsAnUntiedHeadAmongTheParameters) {
  ModelConfig config = read(minimal());
  const std::uint64_t tied = config.parameters();
  config.tied = false;
  EXPECT_EQ(config.parameters(), tied + 800);
}

TEST_F(ReadModelConfig, RefusesByKeyAndValueWhatTheForwardPassDoesNotDo) {
  EXPECT_THAT(error(minimal(R"("activation_function":"relu")")),
              AllOf(HasSubstr("config.json"), HasSubstr("activation_function"), HasSubstr("relu")));
  EXPECT_THAT(error(minimal(R"("model_type":"llama")")),
              AllOf(HasSubstr("model_type"), HasSubstr("llama")));
  EXPECT_THAT(error(minimal(R"("reorder_and_upcast_attn":true)")),
              HasSubstr("reorder_and_upcast_attn"));
  EXPECT_THAT(error(minimal(R"("add_cross_attention":true)")), HasSubstr("add_cross_attention"));
  EXPECT_THAT(error(minimal(R"("is_encoder_decoder":true)")), HasSubstr("is_encoder_decoder"));
  EXPECT_THAT(error(minimal(R"("pruned_heads":{"0":[1]})")),
              AllOf(HasSubstr("pruned_heads"), HasSubstr(R"({"0":[1]})")));
  EXPECT_THAT(error(minimal(R"("quantization_config":{"load_in_8bit":true})")),
              AllOf(HasSubstr("quantization_config"), HasSubstr("load_in_8bit")));
  EXPECT_THAT(error(minimal(R"("sliding_window":64)")), HasSubstr("\"sliding_window\" is 64"));
  EXPECT_THAT(error(minimal(R"("layer_types":["sliding_attention"])")),
              HasSubstr("\"sliding_attention\""));
}

TEST_F(ReadModelConfig, TakesSwitchesThatChangeNothing) {
  read(minimal(R"("pruned_heads":{"0":[]},"quantization_config":null,"sliding_window":null,)"
               R"("layer_types":["full_attention"],"reorder_and_upcast_attn":null,"n_ctx":16)"));
}

TEST_F(ReadModelConfig, RefusesANullThatReleasesTakeDifferently) {
  for (const std::string key : {"tie_word_embeddings", "scale_attn_weights", "activation_function",
                                "layer_norm_epsilon", "hidden_size"}) {
    EXPECT_THAT(error(minimal("\"" + key + "\":null")), HasSubstr("\"" + key + "\" is null"));
  }
}

TEST_F(ReadModelConfig, NamesAGitLfsPointer) {
  EXPECT_THAT(error("version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 5\n"),
              HasSubstr("config.json: a Git LFS pointer"));
}

TEST_F(ReadModelConfig, RefusesSizesThatAreNone) {
  const auto with = [](const std::string& n_embd) {
    return R"({"model_type":"gpt2","n_head":2,"n_layer":3,"n_positions":16,)"
           R"("vocab_size":100,"n_embd":)" +
           n_embd + "}";
  };
  for (const char* bad : {"0", "-8", "8.0", "\"8\"", "true", "[8]", "1e3", "4294967304",
                          "99999999999999999999999", "131074"}) {
    EXPECT_THAT(error(with(bad)), HasSubstr("\"n_embd\"")) << bad;
  }
  EXPECT_THAT(error(with("1e999")), HasSubstr("too large"));
  EXPECT_THAT(error(with("null")), HasSubstr("\"n_embd\" is null"));
  EXPECT_THAT(error(R"({"n_embd":8})"), HasSubstr("\"n_head\" is missing"));
  EXPECT_THAT(error(with("9")), AllOf(HasSubstr("\"n_embd\" is 9"), HasSubstr("\"n_head\" 2")));
}

TEST_F(ReadModelConfig, RefusesOtherValuesOfTheWrongType) {
  EXPECT_THAT(error(minimal(R"("tie_word_embeddings":1)")), HasSubstr("tie_word_embeddings"));
  EXPECT_THAT(error(minimal(R"("layer_norm_epsilon":"small")")), HasSubstr("layer_norm_epsilon"));
  EXPECT_THAT(error(minimal(R"("layer_norm_epsilon":0)")), HasSubstr("layer_norm_epsilon"));
  EXPECT_THAT(error(minimal(R"("activation_function":7)")), HasSubstr("activation_function"));
}

TEST_F(ReadModelConfig, RefusesWhatIsNoConfig) {
  EXPECT_THAT(error("{}"), HasSubstr("not the config of a GPT-2"));
  EXPECT_THAT(error("[1]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error("{\"n_embd\": 8"), HasSubstr("not JSON at byte"));
  EXPECT_THAT(error(minimal(R"("n_embd":16)")), AllOf(HasSubstr("\"n_embd\""), HasSubstr("twice")));
  EXPECT_THAT(error(std::string(100, '[') + std::string(100, ']')), HasSubstr("nested"));
}

TEST_F(ReadModelConfig, ReadsTheShippedModelsConfig) {
  const ModelConfig config = read_model_config(test::mini_folder() / "config.json");
  EXPECT_EQ(config.vocab_size, 4096U);
  EXPECT_THAT(config.end_of_text, ElementsAre(0));
}

}  // namespace
}  // namespace drift
