#pragma once

#include <string>
#include <vector>

#include "driftaudit/progress.hpp"

namespace drift {

/// Something that is wrong, and how to mend it.
struct Finding {
  std::string subject;  ///< a side, a folder, or "this machine"
  std::string problem;
  std::string remedy;
};

/// What is wrong with a build: another architecture, no headers, a missing library such as libgomp,
/// files that changed since they were unpacked (all are hashed anew), a stale runner. Empty:
/// nothing. Never fetches or compiles. Errors (usage): no such side.
std::vector<Finding> examine_build(const std::string& side, Progress& progress);

/// What is wrong around the builds: no compiler, CMake or pip, what killed processes left behind,
/// unreadable builds, runners without a build.
std::vector<Finding> examine_host();

}  // namespace drift
