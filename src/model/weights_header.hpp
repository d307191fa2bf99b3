#pragma once

#include "driftaudit/model_config.hpp"

#include "runner/weights_format.hpp"

namespace drift {

/// The header of the canonical file of a model of these sizes and switches.
weights::Header header_of(const ModelConfig& config);

}  // namespace drift
