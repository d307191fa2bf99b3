#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driftaudit/hub.hpp"
#include "driftaudit/model_config.hpp"
#include "driftaudit/output_head.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/tokenizer.hpp"

namespace drift {

/// A model, ready to be run.
struct Model {
  std::string name;  ///< "mini", "gpt2", or the path as given
  std::string why;   ///< how `auto` came to it: "the hub is out of reach", …; else empty
  std::filesystem::path source;   ///< the folder or file that it was read from
  std::filesystem::path weights;  ///< canonical weights file, in the cache
  std::string digest;             ///< sha256 of the canonical weights file
  std::string source_dtype;       ///< "float16": what the checkpoint stores
  StoredHead head;          ///< what it stores of an output head; config.tied says what is run
  bool head_asked = false;  ///< whether the head was chosen by an option
  std::vector<std::string> other_heads;  ///< what it stores besides, and is left out: "v_head"
  /// What makes its answers other ones than those of some release of transformers.
  std::vector<std::string> warnings;
  ModelConfig config;
  Tokenizer tokenizer;
};

struct ModelOptions {
  bool offline = false;
  HeadChoice head = HeadChoice::kConfig;
  HubModel gpt2 = gpt2_on_hub();  ///< what `gpt2` means; tests put a small one
};

/// Opens `auto`, `mini`, `gpt2`, a folder (config.json, weights, tokenizer files) or a weights file
/// in such a folder. `auto` is gpt2 if it is cached or its hub answers within seconds, else mini.
/// The canonical weights file is made once and kept in the cache, keyed by the source files'
/// hashes; while the files' sizes, times and inodes stay, a later start hashes nothing. Processes
/// that open a model at the same time wait for one another. Errors (usage): no such model, bad
/// files; (trouble): no network, hash mismatch, disk.
Model open_model(const std::string& name, const ModelOptions& options, Progress& progress);

/// The choices that a help text or an error lists.
inline constexpr const char* kModelChoices =
    "auto, mini, gpt2, a model's folder, or a weights file";

/// gpt2's folder in the cache (or in HF_HOME's), fetched from the hub when it isn't there yet,
/// resumed when it is there in part, and verified. Errors (trouble): no network, hash mismatch.
std::filesystem::path fetch_gpt2(const ModelOptions& options, Progress& progress);

}  // namespace drift
