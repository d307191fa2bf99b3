#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/own_files.hpp"
#include "driftaudit/trusted_hash.hpp"

#include "builds/cache.hpp"
#include "builds/holds.hpp"
#include "builds/inspect.hpp"
#include "builds/layout.hpp"
#include "builds/libraries.hpp"
#include "builds/records.hpp"
#include "builds/runner_cache.hpp"
#include "builds/store.hpp"

namespace drift {
namespace {

/// A folder of the cache that nobody uses, and that nobody can come to use before it is gone.
struct Unused {
  fs::path folder;
  FileLock making;
  FileLock using_it;
};

/// Nothing where it is in use, or being made.
std::optional<Unused> lock_folder(const fs::path& folder, const std::string& lock) {
  auto making = FileLock::try_lock(lock_file(lock));
  auto unused = making ? lock_unused(lock) : std::nullopt;
  if (!unused) {
    return std::nullopt;
  }
  return Unused{folder, std::move(*making), std::move(*unused)};
}

std::optional<Unused> lock_runner(const RunnerRecord& runner) {
  return lock_folder(runner.folder, "runner-" + runner.folder.filename().string());
}

/// Moves the folder out of the way in one step, then deletes it; false where it is gone, or has
/// become something that isn't ours.
bool remove_folder(const Unused& unused) {
  if (!is_own(unused.folder)) {
    return false;
  }
  const ScratchFolder scratch("remove");
  move_folder(unused.folder, scratch.path() / "folder");
  return true;
}

/// What goes with the sides of one command, locked before any of it goes.
class Removal {
 public:
  void add(const std::string& side) {
    const fs::path unpacked = unpacked_folder_of_side(side);
    if (unpacked.empty()) {
      add_traces(side);
      return;
    }
    if (!fs::exists(unpacked)) {
      throw usage_error(fmt::format("{}: not in the cache", side), "driftaudit builds list");
    }
    for (const RunnerRecord& runner : runners_below(fs::canonical(unpacked))) {
      take(side, runner.folder, "runner-" + runner.folder.filename().string());
    }
    take(side, unpacked, unpacked.filename().string());
  }

  void run() {
    for (const Unused& unused : folders_) {
      remove_folder(unused);
    }
    for (const fs::path& library : libraries_) {
      forget_sha256(library);
    }
  }

 private:
  /// Of somebody else's build. Only that of the folder itself: "/usr" may hold one, and lie above
  /// many.
  void add_traces(const std::string& side) {
    const BuildLayout layout = find_layout(expand_home(side));
    const fs::path library_folder = fs::canonical(layout.library_folder);
    bool any = false;
    for (const RunnerRecord& runner : cached_runners()) {
      if (runner.library_folder == library_folder) {
        take(side, runner.folder, "runner-" + runner.folder.filename().string());
        any = true;
      }
    }
    for (const fs::path& library : libraries_of(layout).of_build) {
      any = any || recorded_sha256(library, build_id_of(library)).has_value();
      libraries_.push_back(library);
    }
    if (!any) {
      throw usage_error(fmt::format("{}: the cache holds nothing of it", side));
    }
  }

  void take(const std::string& side, const fs::path& folder, const std::string& lock) {
    if (std::any_of(folders_.begin(), folders_.end(),
                    [&](const Unused& unused) { return unused.folder == folder; })) {
      return;  // two names of one build
    }
    auto unused = lock_folder(folder, lock);
    if (!unused) {
      throw trouble(fmt::format("{}: in use by a running driftaudit; nothing is removed", side),
                    "wait for it to end, or stop it");
    }
    folders_.push_back(std::move(*unused));
  }

  std::vector<Unused> folders_;
  std::vector<fs::path> libraries_;
};

}  // namespace

void remove_builds(const std::vector<std::string>& sides) {
  Removal removal;
  for (const std::string& side : sides) {
    removal.add(side);
  }
  removal.run();
}

void remove_unused_build(const std::string& side) {
  try {
    remove_builds({side});
  } catch (const Error& error) {
    if (error.status() != Status::kTrouble || !is_installed(side)) {
      throw;
    }
  }
}

StaleRemoval remove_stale() {
  StaleRemoval result{static_cast<int>(stale_scratch_folders().size()), 0};
  sweep_scratch_folders();
  for (const RunnerRecord& runner : cached_runners()) {
    if (!is_stale(runner)) {
      continue;
    }
    if (const auto unused = lock_runner(runner)) {
      result.removed += remove_folder(*unused) ? 1 : 0;
    } else {
      ++result.in_use;
    }
  }
  return result;
}

}  // namespace drift
