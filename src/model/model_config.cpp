#include "driftaudit/model_config.hpp"

#include <optional>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"

#include "model/strict_json.hpp"

namespace drift {
namespace {

using Json = nlohmann::json;

// Beyond any GPT-2, and small enough that no product of sizes overflows.
constexpr std::uint32_t kMaxWidth = 1U << 17;
constexpr std::uint32_t kMaxLayers = 4096;
constexpr std::uint32_t kMaxPositions = 1U << 20;
constexpr std::uint32_t kMaxVocabulary = 1U << 22;

/// Typed access to the keys of one config.json; a null counts as absent, as it does in
/// transformers.
class Keys {
 public:
  explicit Keys(const fs::path& file)
      : where_(file.string()), json_(parse_strict_json(read_file(file, 1U << 20), where_)) {
    if (!json_.is_object()) {
      fail("is not a JSON object");
    }
  }

  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const {
    throw usage_error(fmt::format("{}: {}", where_, what), hint);
  }

  bool has(const char* key) const { return json_.contains(key); }

  const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  std::optional<std::uint32_t> size(const char* key, std::uint32_t most) const {
    const Json* value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() == 0 ||
        value->get<std::uint64_t>() > most) {
      fail(fmt::format("\"{}\" is {}, not a whole number from 1 to {}", key, value->dump(), most));
    }
    return value->get<std::uint32_t>();
  }

  std::uint32_t needed_size(const char* key, std::uint32_t most) const {
    const auto value = size(key, most);
    if (!value) {
      fail(fmt::format("\"{}\" is missing", key), "this needs the config.json of a GPT-2 model");
    }
    return *value;
  }

  bool flag(const char* key, bool otherwise) const {
    const Json* value = find(key);
    if (value != nullptr && !value->is_boolean()) {
      fail(fmt::format("\"{}\" is {}, neither true nor false", key, value->dump()));
    }
    return value == nullptr ? otherwise : value->get<bool>();
  }

  /// A switch that changes the forward pass into one that isn't written here.
  void must_be_off(const char* key) const {
    if (flag(key, false)) {
      fail(fmt::format("\"{}\" is true, which the forward pass doesn't do", key));
    }
  }

 private:
  std::string where_;
  Json json_;
};

void check_family(const Keys& keys) {
  const Json* type = keys.find("model_type");
  if (type != nullptr && *type != "gpt2") {
    keys.fail(fmt::format("\"model_type\" is {}; only \"gpt2\" can be run", type->dump()));
  }
  if (type == nullptr && keys.find("n_embd") == nullptr) {
    keys.fail("neither \"model_type\" nor \"n_embd\" is there: not the config of a GPT-2");
  }
  const Json* activation = keys.find("activation_function");
  if (activation != nullptr && *activation != "gelu_new") {
    keys.fail(fmt::format("\"activation_function\" is {}; the forward pass knows only \"gelu_new\"",
                          activation->dump()));
  }
  keys.must_be_off("reorder_and_upcast_attn");
  keys.must_be_off("add_cross_attention");
}

double read_epsilon(const Keys& keys, double otherwise) {
  const Json* value = keys.find("layer_norm_epsilon");
  if (value == nullptr) {
    return otherwise;
  }
  if (!value->is_number() || !(value->get<double>() > 0) || value->get<double>() > 1) {
    keys.fail(fmt::format("\"layer_norm_epsilon\" is {}, not a number above 0 and up to 1",
                          value->dump()));
  }
  return value->get<double>();
}

/// A null says that there is none; without the key transformers takes GPT-2's own.
std::int32_t read_end_of_text(const Keys& keys, std::uint32_t vocab_size) {
  constexpr std::int32_t kGpt2EndOfText = 50256;
  const Json* value = keys.find("eos_token_id");
  if (value == nullptr) {
    const bool absent = !keys.has("eos_token_id");
    return absent && vocab_size > std::uint32_t{kGpt2EndOfText} ? kGpt2EndOfText : -1;
  }
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() >= vocab_size) {
    keys.fail(fmt::format("\"eos_token_id\" is {}, not an id of a vocabulary of {}", value->dump(),
                          vocab_size));
  }
  return value->get<std::int32_t>();
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
  const Keys keys(file);
  check_family(keys);
  ModelConfig config;
  config.n_embd = keys.needed_size("n_embd", kMaxWidth);
  config.n_head = keys.needed_size("n_head", kMaxWidth);
  config.n_layer = keys.needed_size("n_layer", kMaxLayers);
  config.n_positions = keys.needed_size("n_positions", kMaxPositions);
  config.vocab_size = keys.needed_size("vocab_size", kMaxVocabulary);
  config.n_inner = keys.size("n_inner", 4 * kMaxWidth).value_or(4 * config.n_embd);
  if (config.n_embd % config.n_head != 0) {
    keys.fail(fmt::format("\"n_embd\" is {}, which \"n_head\" {} doesn't divide", config.n_embd,
                          config.n_head));
  }
  config.layer_norm_epsilon = read_epsilon(keys, config.layer_norm_epsilon);
  config.end_of_text = read_end_of_text(keys, config.vocab_size);
  config.tied = keys.flag("tie_word_embeddings", true);
  config.scale_attention = keys.flag("scale_attn_weights", true);
  config.scale_by_layer = keys.flag("scale_attn_by_inverse_layer_idx", false);
  return config;
}

}  // namespace drift
