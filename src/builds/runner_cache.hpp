#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driftaudit/error.hpp"

namespace drift {

/// The programs that compile a runner.
struct Toolchain {
  std::filesystem::path cmake;
  std::filesystem::path compiler;
  std::string compiler_version;  ///< first line of its --version
  std::string generator;         ///< of CMake: "Ninja" or "Unix Makefiles"
};

/// `CXX`, else c++, g++ or clang++ of PATH. Errors (trouble): no compiler, CMake, or Ninja or make.
Toolchain find_toolchain();

/// What runner.json beside a compiled runner says.
struct RunnerRecord {
  std::filesystem::path folder;          ///< in runners/
  std::filesystem::path library_folder;  ///< of the build it was compiled against
  std::string sources_sha256;
  std::string compiler;
};

/// All runners of the cache: the folders that have such a name. Damaged ones have empty fields.
std::vector<RunnerRecord> cached_runners();

/// Digest over the runner's present sources.
std::string runner_sources_sha256();

/// Whether a runner of the build below `folder`, compiled from the present sources, is cached.
bool has_current_runner(const std::filesystem::path& folder);

/// Its sources have changed, or its build is gone, or its record is damaged.
bool is_stale(const RunnerRecord& runner);

/// Whether the program in a folder of runners/ is there, executable, and the one that was compiled.
/// Errors (usage): it, or a folder on the way to it, is somebody else's, or others may write to it.
bool is_sound_runner(const std::filesystem::path& folder);

/// The runners of builds at or below `folder`.
std::vector<RunnerRecord> runners_below(const std::filesystem::path& folder);

/// Error for a compilation that failed: the first error line of the output, the log named.
Error compile_failure(const std::string& label, const std::string& output,
                      const std::filesystem::path& log);

}  // namespace drift
