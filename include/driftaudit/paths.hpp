#pragma once

#include <filesystem>
#include <string>

namespace drift {

/// The file in a cache that says that it is one.
inline constexpr const char* kCacheMark = ".driftaudit-cache";

/// Where what we fetch and build is kept: `DRIFTAUDIT_CACHE`, else `$XDG_CACHE_HOME/driftaudit`,
/// else `~/.cache/driftaudit`. Made, for its owner alone, and marked with kCacheMark where that can
/// be done; an empty folder is marked, too, and so is one without the mark at the two places that
/// bear our name: older versions made it. Errors (usage): none of the three is set, or a relative
/// path is; the folder isn't empty and has no mark; it is somebody else's, or others may write to
/// it.
std::filesystem::path cache_folder();

/// A folder directly in the cache; not created. Errors (usage): a symbolic link stands there, or a
/// folder that is somebody else's or that others may write to.
std::filesystem::path cache_part(const std::string& name);

/// Where the shipped data (venvs/, prompts/, models/, the runner's sources) lies:
/// `DRIFTAUDIT_DATA`, else ../share/driftaudit beside an installed program, else the source tree
/// that it was built from. Errors (usage): the folder doesn't exist.
std::filesystem::path data_folder();

/// The runner's sources: `runner/` of an installation, `src/runner/` of a source tree.
std::filesystem::path runner_source_folder();

}  // namespace drift
