#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "driftaudit/attention.hpp"
#include "driftaudit/build.hpp"
#include "driftaudit/progress.hpp"

namespace drift {

/// What opening a build may do.
struct BuildOptions {
  bool offline = false;  ///< never fetch: an absent release is an error
};

/// The build that a person named: a release ("1.10.1"), a pin's name ("january-2022"), a wheel
/// file, or a folder as for inspect_build(). A release is fetched, verified and unpacked into the
/// cache when it isn't there yet; a wheel file is unpacked. No other process removes it while this
/// one lives. Safe to call from several processes at once. Errors (usage): unknown release, no such
/// folder; (trouble): no network, hash mismatch, disk full.
Build open_build(const std::string& side, const BuildOptions& options, Progress& progress);

/// What the attention of a side hangs on, without fetching, unpacking or running anything: of a
/// release its number, of a wheel file what its name says, of a folder its version and the
/// transformers in it. No torch where there is no such build: opening it will say so.
AttentionFacts attention_facts(const std::string& side);

/// Whether open_build() would find the side without fetching or unpacking anything: a release or a
/// wheel file that is in the cache, any folder.
bool is_installed(const std::string& side);

/// A runner compiled against one build.
struct Runner {
  std::filesystem::path program;
  std::filesystem::path log;  ///< the compiler's output
};

/// The build's runner, from the cache or compiled now; no other process removes it, either. The
/// cache's key is the build's libraries and headers, the runner's sources, the compiler and its
/// flags. Errors (trouble): no compiler, the compiler's own errors (first one quoted, the log
/// named); (usage): others may have written it.
Runner open_runner(const Build& build, Progress& progress);

/// An unpacked build in our cache.
struct InstalledBuild {
  std::string version;  ///< "1.10.1"
  std::string name;     ///< of its pin: "january-2022", or empty
  BuildOrigin origin = BuildOrigin::kPin;
  std::filesystem::path folder;
  std::uint64_t bytes = 0;
  bool has_runner = false;  ///< compiled from the present sources
};

/// What the cache holds, oldest release first. Builds that can't be read are left out: the doctor
/// names them.
std::vector<InstalledBuild> installed_builds();

/// Removes builds from the cache, and their runners. Of somebody else's folder, which must hold a
/// torch, only the runners and hashes go. All or nothing: an error comes before anything is
/// removed. Errors (usage): nothing of that name is there; (trouble): another process uses it.
void remove_builds(const std::vector<std::string>& sides);

/// Removes one, unless another process uses it.
void remove_unused_build(const std::string& side);

struct StaleRemoval {
  int removed = 0;
  int in_use = 0;  ///< runners that another process uses, and that are kept
};

/// Removes runners whose sources have changed or whose build is gone, and what killed processes
/// left behind.
StaleRemoval remove_stale();

}  // namespace drift
