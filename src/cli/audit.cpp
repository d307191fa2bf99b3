#include "cli/command.hpp"

namespace drift {

void add_audit_command(CLI::App&, Action&) {}

}  // namespace drift
