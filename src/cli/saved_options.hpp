#pragma once

#include "driftaudit/audit.hpp"

#include "cli/run_options.hpp"

namespace drift {

/// A saved side brings what it was asked. Fills the request's settings, prompts and text from it.
/// Errors (usage): an option on the command line that contradicts it, with both values.
void adopt_saved(const SavedSide& side, const RunOptions& options, const Model& model,
                 AuditRequest& request);

/// The model that a saved side ran. Errors (usage): it isn't where it was, `--model` or what is
/// there now has other weights.
Model open_saved_model(const SavedSide& side, const RunOptions& options, Progress& progress);

/// What the live side beside a saved one takes over where the command line says nothing for it:
/// threads and knobs. `live` is its index. Errors (usage): an option for the saved side.
RunOptions with_saved_conditions(const SavedSide& side, const RunOptions& options,
                                 std::size_t live);

}  // namespace drift
