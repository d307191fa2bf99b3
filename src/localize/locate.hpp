#pragma once

#include "driftaudit/localize.hpp"

namespace drift {

/// The forward pass that is localized.
struct Located {
  Report report;  ///< of a short audit: both sides' builds, and the prompt's runs up to the step
  std::uint32_t prompt = 1;
  std::uint32_t step = 1;
  wire::Task task;  ///< A's context, for both sides
};

/// Finds prompt and step as LocalizeRequest says. Errors: as run_localize().
Located locate(const LocalizeRequest& request, const Model& model, Progress& progress);

}  // namespace drift
