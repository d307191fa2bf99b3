#pragma once

#include <filesystem>

namespace drift {

/// Where what we fetch and build is kept: `DRIFTAUDIT_CACHE`, else `$XDG_CACHE_HOME/driftaudit`,
/// else `~/.cache/driftaudit`. Not created. Errors (usage): none of the three is set, or a
/// relative path is.
std::filesystem::path cache_folder();

/// Where the shipped data (venvs/, prompts/, models/, the runner's sources) lies:
/// `DRIFTAUDIT_DATA`, else ../share/driftaudit beside an installed program, else the source tree
/// that it was built from. Errors (usage): the folder doesn't exist.
std::filesystem::path data_folder();

/// The runner's sources: `runner/` of an installation, `src/runner/` of a source tree.
std::filesystem::path runner_source_folder();

}  // namespace drift
