#pragma once

#include <filesystem>
#include <string>

#include "driftaudit/model_config.hpp"
#include "driftaudit/output_head.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/weights.hpp"

namespace drift {

/// A canonical weights file in the cache.
struct CanonicalWeights {
  std::filesystem::path file;
  std::string digest;  ///< sha256
  CheckpointFacts facts;
};

/// The canonical weights of a checkpoint, made when the cache doesn't hold those of files with
/// these hashes. `config` was read from `config_file`; its `tied` becomes what `choice` and the
/// checkpoint say.
/// Errors as write_canonical_weights().
CanonicalWeights canonical_weights(const std::filesystem::path& source,
                                   const std::filesystem::path& config_file, ModelConfig& config,
                                   HeadChoice choice, Progress& progress);

}  // namespace drift
