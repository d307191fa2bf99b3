#pragma once

#include <map>
#include <string>
#include <vector>

#include "driftaudit/process.hpp"

namespace drift {

/// python3's pip with these arguments, isolated (`-I`): neither PYTHONPATH nor a user's
/// site-packages nor the folder where the person stands lends it modules. The person's
/// configuration of pip applies: its files, mirrors and proxies, and `PIP_*`.
Command pip_command(const std::vector<std::string>& arguments);

/// The variables by which pip and its certificates are configured, with relative paths made
/// absolute: pip starts in a folder of its own, but what they name lies where the person stands.
std::map<std::string, std::string> with_absolute_pip_paths(
    std::map<std::string, std::string> environment);

}  // namespace drift
