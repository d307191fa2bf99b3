#include "cli/command.hpp"

namespace drift {

void add_builds_command(CLI::App&, Action&) {}

}  // namespace drift
