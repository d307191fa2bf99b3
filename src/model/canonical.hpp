#pragma once

#include <filesystem>
#include <string>

#include "driftaudit/model_config.hpp"
#include "driftaudit/progress.hpp"

namespace drift {

/// A canonical weights file in the cache.
struct CanonicalWeights {
  std::filesystem::path file;
  std::string digest;        ///< sha256
  std::string source_dtype;  ///< what the checkpoint stores
};

/// The canonical weights of a checkpoint, made when the cache doesn't hold those of files with
/// these hashes. `config` was read from `config_file`; its `tied` becomes what the checkpoint says.
/// Errors as write_canonical_weights().
CanonicalWeights canonical_weights(const std::filesystem::path& source,
                                   const std::filesystem::path& config_file, ModelConfig& config,
                                   Progress& progress);

}  // namespace drift
