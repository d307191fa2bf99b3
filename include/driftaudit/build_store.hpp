#pragma once

#include <filesystem>
#include <string>

#include "driftaudit/build.hpp"
#include "driftaudit/progress.hpp"

namespace drift {

/// What opening a build may do.
struct BuildOptions {
  bool offline = false;  ///< never fetch: an absent release is an error
};

/// The build that a person named: a release ("1.10.1"), a pin's name ("january-2022"), a wheel
/// file, or a folder as for inspect_build(). A release is fetched, verified and unpacked into the
/// cache when it isn't there yet; a wheel file is unpacked. Safe to call from several processes at
/// once. Errors (usage): unknown release, no such folder; (trouble): no network, hash mismatch,
/// disk full.
Build open_build(const std::string& side, const BuildOptions& options, Progress& progress);

/// A runner compiled against one build.
struct Runner {
  std::filesystem::path program;
  std::filesystem::path log;  ///< the compiler's output
};

/// The build's runner, from the cache or compiled now. The cache's key is the build's libraries and
/// headers, the runner's sources, the compiler and its flags. Errors (trouble): no compiler, the
/// compiler's own errors (first one quoted, the log named).
Runner open_runner(const Build& build, Progress& progress);

}  // namespace drift
