#include "cli/command.hpp"

namespace drift {

void add_model_command(CLI::App&, Action&) {}

}  // namespace drift
