#include "driftaudit/model_config.hpp"

#include <utility>

#include <fmt/core.h>

#include "driftaudit/file.hpp"

#include "model/config_keys.hpp"
#include "model/generation_config.hpp"
#include "model/shown.hpp"

namespace drift {
namespace {

using Json = nlohmann::json;

// Beyond any GPT-2, and small enough that no product of sizes overflows.
constexpr std::uint32_t kMaxWidth = 1U << 17;
constexpr std::uint32_t kMaxLayers = 4096;
constexpr std::uint32_t kMaxPositions = 1U << 20;
constexpr std::uint32_t kMaxVocabulary = 1U << 22;

/// A size of the model, its other name in transformers' attribute_map, and GPT-2's own.
struct SizeKey {
  const char* name;
  const char* other_name;  ///< may be null
  std::uint32_t usual;
  std::uint32_t most;
};

constexpr SizeKey kEmbd = {"n_embd", "hidden_size", 768, kMaxWidth};
constexpr SizeKey kHead = {"n_head", "num_attention_heads", 12, kMaxWidth};
constexpr SizeKey kLayer = {"n_layer", "num_hidden_layers", 12, kMaxLayers};
constexpr SizeKey kPositions = {"n_positions", "max_position_embeddings", 1024, kMaxPositions};
constexpr SizeKey kVocabulary = {"vocab_size", nullptr, 50257, kMaxVocabulary};

void check_agree(const ConfigKeys& keys, const char* name, std::uint32_t value, const char* other,
                 std::uint32_t other_value) {
  if (value != other_value) {
    keys.fail(fmt::format("\"{}\" is {}, but \"{}\", which means the same, is {}", name, value,
                          other, other_value),
              "keep the one that the model was trained with");
  }
}

std::uint32_t read_size(const ConfigKeys& keys, const SizeKey& key) {
  const bool has_other = key.other_name != nullptr && keys.find(key.other_name) != nullptr;
  if (keys.find(key.name) == nullptr && !has_other) {
    if (keys.find("model_type") == nullptr) {
      keys.fail(fmt::format("\"{}\" is missing", key.name),
                "this needs the config.json of a GPT-2 model");
    }
    return key.usual;
  }
  const std::uint32_t value =
      keys.size(keys.find(key.name) != nullptr ? key.name : key.other_name, key.most);
  if (has_other) {
    check_agree(keys, key.name, value, key.other_name, keys.size(key.other_name, key.most));
  }
  return value;
}

/// GPT-2's first releases took the mask's size from "n_ctx"; today's ignore it.
void check_context(const ConfigKeys& keys, std::uint32_t n_positions) {
  if (keys.find_set("n_ctx") != nullptr) {
    check_agree(keys, "n_positions", n_positions, "n_ctx", keys.size("n_ctx", kMaxPositions));
  }
}

/// A switch that changes the forward pass into one that isn't written here.
void must_be_off(const ConfigKeys& keys, const char* key) {
  if (keys.find_set(key) != nullptr && keys.flag(key, false)) {
    keys.fail(fmt::format("\"{}\" is true, which the forward pass doesn't do", key));
  }
}

/// A setting that changes what transformers computes by being there at all.
void must_be_unset(const ConfigKeys& keys, const char* key) {
  const Json* value = keys.find_set(key);
  if (value != nullptr && !(value->is_structured() && value->empty())) {
    keys.fail(
        fmt::format("\"{}\" is {}, which the forward pass doesn't do", key, shown(value->dump())));
  }
}

void check_pruned_heads(const ConfigKeys& keys) {
  const Json* pruned = keys.find_set("pruned_heads");
  if (pruned == nullptr) {
    return;
  }
  if (!pruned->is_object()) {
    keys.fail(
        fmt::format("\"pruned_heads\" is {}, not an object of layers", shown(pruned->dump())));
  }
  for (const auto& [layer, heads] : pruned->items()) {
    if (!heads.is_array() || !heads.empty()) {
      keys.fail(
          fmt::format("\"pruned_heads\" is {}: models without some of their heads can't be run",
                      shown(pruned->dump())),
          "transformers prunes these heads up to its release 4, and no more from 5 on");
    }
  }
}

void check_layer_types(const ConfigKeys& keys) {
  const Json* types = keys.find_set("layer_types");
  if (types == nullptr) {
    return;
  }
  for (const Json& type : *types) {
    if (type != "full_attention") {
      keys.fail(
          fmt::format("\"layer_types\" names {}; the forward pass knows only "
                      "\"full_attention\"",
                      shown(type.dump())));
    }
  }
}

void check_family(const ConfigKeys& keys) {
  const Json* type = keys.find_set("model_type");
  if (type != nullptr && *type != "gpt2") {
    keys.fail(fmt::format("\"model_type\" is {}; only \"gpt2\" can be run", shown(type->dump())));
  }
  if (type == nullptr && keys.find("n_embd") == nullptr && keys.find("hidden_size") == nullptr) {
    keys.fail("neither \"model_type\" nor \"n_embd\" is there: not the config of a GPT-2");
  }
}

void check_computation(const ConfigKeys& keys) {
  const Json* activation = keys.find("activation_function");
  if (activation != nullptr && *activation != "gelu_new") {
    keys.fail(fmt::format("\"activation_function\" is {}; the forward pass knows only \"gelu_new\"",
                          shown(activation->dump())));
  }
  for (const char* key : {"reorder_and_upcast_attn", "add_cross_attention", "is_encoder_decoder"}) {
    must_be_off(keys, key);
  }
  for (const char* key :
       {"quantization_config", "compression_config", "sliding_window", "attention_chunk_size"}) {
    must_be_unset(keys, key);
  }
  check_layer_types(keys);
  check_pruned_heads(keys);
}

double read_epsilon(const ConfigKeys& keys, double otherwise) {
  const Json* value = keys.find("layer_norm_epsilon");
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_number() || !(value->get<double>() > 0) || value->get<double>() > 1) {
    keys.fail(fmt::format("\"layer_norm_epsilon\" is {}, not a number above 0 and up to 1",
                          shown(value->dump())));
  }
  return value->get<double>();
}

std::uint32_t read_inner(const ConfigKeys& keys, std::uint32_t n_embd) {
  const bool set = keys.find_set("n_inner") != nullptr;
  return set ? keys.size("n_inner", 4 * kMaxWidth) : 4 * n_embd;
}

}  // namespace

std::uint64_t ModelConfig::parameters() const {
  const std::uint64_t embd = n_embd;
  const std::uint64_t inner = n_inner;
  const std::uint64_t attention = embd * 3 * embd + 3 * embd + embd * embd + embd;
  const std::uint64_t mlp = embd * inner + inner + inner * embd + embd;
  const std::uint64_t norms = 4 * embd;
  const std::uint64_t head = tied ? 0 : vocab_size * embd;
  return (std::uint64_t{vocab_size} + n_positions) * embd + n_layer * (attention + mlp + norms) +
         2 * embd + head;
}

ModelConfig read_model_config(const fs::path& file) {
  const ConfigKeys keys(file);
  check_family(keys);
  check_computation(keys);
  ModelConfig config;
  config.n_embd = read_size(keys, kEmbd);
  config.n_head = read_size(keys, kHead);
  config.n_layer = read_size(keys, kLayer);
  config.n_positions = read_size(keys, kPositions);
  config.vocab_size = read_size(keys, kVocabulary);
  config.n_inner = read_inner(keys, config.n_embd);
  check_context(keys, config.n_positions);
  if (config.n_embd % config.n_head != 0) {
    keys.fail(fmt::format("\"n_embd\" is {}, which \"n_head\" {} doesn't divide", config.n_embd,
                          config.n_head));
  }
  config.layer_norm_epsilon = read_epsilon(keys, config.layer_norm_epsilon);
  config.tied = keys.flag("tie_word_embeddings", true);
  config.scale_attention = keys.flag("scale_attn_weights", true);
  config.scale_by_layer = keys.flag("scale_attn_by_inverse_layer_idx", false);
  GenerationConfig generation = read_generation_config(keys, file.parent_path(), config.vocab_size);
  config.end_of_text = std::move(generation.end_of_text);
  config.notes = std::move(generation.notes);
  return config;
}

}  // namespace drift
