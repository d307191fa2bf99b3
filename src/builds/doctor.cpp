#include "driftaudit/doctor.hpp"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/trusted_hash.hpp"

#include "builds/cache.hpp"
#include "builds/facts.hpp"
#include "builds/inspect.hpp"
#include "builds/pip.hpp"
#include "builds/records.hpp"
#include "builds/runner_cache.hpp"
#include "builds/store.hpp"

namespace drift {
namespace {

/// Collects what checks throw, so that one fault doesn't hide the next.
class Findings {
 public:
  explicit Findings(std::string subject) : subject_(std::move(subject)) {}

  void add(const std::string& problem, const std::string& remedy) {
    found_.push_back({subject_, problem, remedy});
  }
  void check(const std::function<void()>& look) {
    try {
      look();
    } catch (const Error& error) {
      if (error.is_interruption()) {
        throw;
      }
      add(error.what(), error.hint());
    }
  }
  std::vector<Finding> take() { return std::move(found_); }

 private:
  std::string subject_;
  std::vector<Finding> found_;
};

void check_layout(const BuildLayout& layout, Findings& findings) {
  findings.check([&] { require_own_machine(layout); });
  findings.check([&] { require_headers(layout); });
  findings.check([&] {
    for (const MissingLibrary& missing : libraries_of(layout).missing) {
      findings.add(fmt::format("{} needs {}, which is neither there nor on this system",
                               missing.needed_by, missing.name),
                   missing_library_remedy(missing.name));
    }
  });
  findings.check([&] { read_string_abi(layout.library_folder / "libc10.so"); });
}

/// Somebody else's files may change; the records of the old ones must go.
void check_records(const BuildLayout& layout, Findings& findings) {
  findings.check([&] {
    for (const fs::path& library : libraries_of(layout).of_build) {
      const auto before = recorded_sha256(library, build_id_of(library));
      forget_sha256(library);
      if (before && *before != library_sha256(library)) {
        findings.add(fmt::format("{} has changed, though not its size, time, inode and build-id",
                                 library.string()),
                     "its record is renewed; was the disk's fault repaired there?");
      }
    }
  });
}

void check_runners(const fs::path& folder, Findings& findings) {
  const fs::path real = fs::weakly_canonical(folder);
  for (const RunnerRecord& runner : runners_below(real)) {
    if (is_stale(runner)) {
      findings.add(
          fmt::format("{}: a stale runner, compiled from other sources", runner.folder.string()),
          "driftaudit builds remove --stale");
      continue;
    }
    findings.check([&] {
      if (!is_sound_runner(runner.folder)) {
        findings.add(fmt::format("{}: its program is missing or damaged", runner.folder.string()),
                     fmt::format("rm -r {}", runner.folder.string()));
      }
    });
  }
}

}  // namespace

std::vector<Finding> examine_build(const std::string& side, Progress& progress) {
  Findings findings(side);
  const fs::path unpacked = unpacked_folder_of_side(side);
  progress.start(side + ": hashing its files", 0, Progress::Unit::kItems);
  if (unpacked.empty()) {
    const fs::path folder = expand_home(side);
    const BuildLayout layout = find_layout(folder);
    check_layout(layout, findings);
    check_records(layout, findings);
    check_runners(folder, findings);
  } else if (!is_unpacked(unpacked)) {
    findings.add("not in the cache", "driftaudit builds add " + side);
  } else {
    const std::string anew =
        fmt::format("driftaudit builds remove {0} && driftaudit builds add {0}", side);
    findings.check([&] {
      for (const std::string& line : changed_files(unpacked)) {
        findings.add(line, anew);
      }
    });
    findings.check([&] { check_layout(find_layout(unpacked), findings); });
    check_runners(unpacked, findings);
  }
  progress.finish();
  return findings.take();
}

std::vector<Finding> examine_host() {
  Findings findings("this machine");
  findings.check([] { find_toolchain(); });
  findings.check([&] {
    if (!find_program("python3")) {
      findings.add("python3 is not in PATH; its pip fetches the wheels",
                   "apt-get install python3 python3-pip");
    } else if (!run_process(pip_command({"--version"})).end.ok()) {
      findings.add("python3 has no pip, which fetches the wheels", "apt-get install python3-pip");
    }
  });
  for (const fs::path& folder : stale_scratch_folders()) {
    findings.add(fmt::format("{}: left behind by a killed process ({})", folder.string(),
                             format_bytes(folder_bytes(folder))),
                 "driftaudit builds remove --stale");
  }
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(builds_folder(), error)) {
    findings.check([&] { read_build_record(entry.path()); });
  }
  for (const RunnerRecord& runner : cached_runners()) {
    if (runner.library_folder.empty() || !fs::exists(runner.library_folder)) {
      findings.add(fmt::format("{}: a runner whose build is gone", runner.folder.string()),
                   "driftaudit builds remove --stale");
    }
  }
  return findings.take();
}

}  // namespace drift
