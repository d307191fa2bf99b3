#pragma once

#include <memory>

#include "cli/command.hpp"
#include "cli/output_options.hpp"
#include "cli/run_options.hpp"

namespace drift {

/// What a command with an `output` (and perhaps a `run`) among its options does once its line is
/// parsed: settles these, then is ready to run.
template <class Options>
void set_action(CLI::App& command, const std::shared_ptr<Options>& options, Action& action,
                Status (*run)(const Options&)) {
  command.callback([options, &command, &action, run] {
    if constexpr (requires { options->run; }) {
      note_given(command, options->run);
    }
    settle_outputs(command, options->output);
    action = [options, run] { return run(*options); };
  });
}

}  // namespace drift
