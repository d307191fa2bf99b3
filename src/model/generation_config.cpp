#include "model/generation_config.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/core.h>

#include "driftaudit/file.hpp"

#include "model/shown.hpp"

namespace drift {
namespace {

using Json = nlohmann::json;

constexpr const char* kEndKey = "eos_token_id";
constexpr std::int32_t kGpt2EndOfText = 50256;

/// Adds an id that a text of this vocabulary may end in.
void add_id(const ConfigKeys& keys, const Json& id, std::uint32_t vocab_size,
            std::vector<std::int32_t>& ids) {
  if (!id.is_number_integer()) {
    keys.fail(fmt::format("\"{}\" is {}, neither a whole number nor a list of them", kEndKey,
                          shown(keys.find(kEndKey)->dump())));
  }
  const bool in_vocabulary = id.is_number_unsigned() && id.get<std::uint64_t>() < vocab_size;
  if (in_vocabulary && std::find(ids.begin(), ids.end(), id.get<std::int32_t>()) == ids.end()) {
    ids.push_back(id.get<std::int32_t>());
  }
}

std::vector<std::int32_t> read_end_of_text(const ConfigKeys& keys, std::uint32_t vocab_size) {
  const Json* value = keys.find_set(kEndKey);
  std::vector<std::int32_t> ids;
  if (value == nullptr) {
    return ids;
  }
  if (!value->is_array()) {
    add_id(keys, *value, vocab_size, ids);
    return ids;
  }
  if (value->empty()) {
    keys.fail(fmt::format("\"{}\" is an empty list, which generate() doesn't take", kEndKey),
              "write null where nothing ends a text");
  }
  for (const Json& id : *value) {
    add_id(keys, id, vocab_size, ids);
  }
  return ids;
}

/// A setting with which generate() would choose other tokens, and the value with which it wouldn't.
struct ForeignSetting {
  const char* key;
  double neutral;
};

constexpr ForeignSetting kForeignNumbers[] = {{"num_beams", 1},
                                              {"num_beam_groups", 1},
                                              {"penalty_alpha", 0},
                                              {"min_length", 0},
                                              {"min_new_tokens", 0},
                                              {"repetition_penalty", 1},
                                              {"guidance_scale", 1},
                                              {"no_repeat_ngram_size", 0},
                                              {"encoder_no_repeat_ngram_size", 0},
                                              {"top_p", 1},
                                              {"typical_p", 1},
                                              {"min_p", 0},
                                              {"epsilon_cutoff", 0},
                                              {"eta_cutoff", 0},
                                              {"encoder_repetition_penalty", 1}};

constexpr const char* kForeignLists[] = {
    "bad_words_ids",       "force_words_ids",       "constraints",
    "suppress_tokens",     "begin_suppress_tokens", "exponential_decay_length_penalty",
    "sequence_bias",       "forced_bos_token_id",   "forced_eos_token_id",
    "watermarking_config", "stop_strings",          "dola_layers"};

bool differs(const Json& value, double neutral) {
  return !value.is_number() || value.get<double>() != neutral;
}

std::vector<std::string> foreign_settings(const ConfigKeys& keys) {
  std::vector<std::string> asked;
  const auto add = [&](const char* key) {
    asked.push_back(fmt::format("\"{}\" {}", key, shown(keys.find(key)->dump())));
  };
  for (const ForeignSetting& setting : kForeignNumbers) {
    const Json* value = keys.find_set(setting.key);
    if (value != nullptr && differs(*value, setting.neutral)) {
      add(setting.key);
    }
  }
  for (const char* key : kForeignLists) {
    const Json* value = keys.find_set(key);
    if (value != nullptr && !(value->is_structured() && value->empty())) {
      add(key);
    }
  }
  const Json* cache = keys.find_set("use_cache");
  if (cache != nullptr && *cache == false) {
    asked.push_back("\"use_cache\" false, which is --no-cache here");
  }
  return asked;
}

}  // namespace

GenerationConfig read_generation_config(const ConfigKeys& config, const fs::path& folder,
                                        std::uint32_t vocab_size) {
  const fs::path file = folder / "generation_config.json";
  const bool of_its_own = fs::exists(file);
  const ConfigKeys keys = of_its_own ? ConfigKeys(file) : config;
  GenerationConfig generation;
  generation.end_of_text = read_end_of_text(keys, vocab_size);
  // What config.json leaves out is GPT-2's own; a generation_config.json without it has none.
  if (!of_its_own && keys.find(kEndKey) == nullptr && vocab_size > std::uint32_t{kGpt2EndOfText}) {
    generation.end_of_text = {kGpt2EndOfText};
  }
  const std::vector<std::string> asked = foreign_settings(keys);
  for (const std::string& setting : asked) {
    generation.notes.push_back(
        fmt::format("{} asks generate() for {}; here the options alone say how tokens are chosen",
                    (of_its_own ? file : folder / "config.json").string(), setting));
  }
  return generation;
}

}  // namespace drift
