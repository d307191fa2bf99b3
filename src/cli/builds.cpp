#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/doctor.hpp"
#include "driftaudit/pin.hpp"

#include "cli/command.hpp"

namespace drift {
namespace {

struct BuildsOptions {
  std::vector<std::string> sides;
  bool all = false;
  bool stale = false;
  bool offline = false;
  bool quiet = false;
};

const char* origin_name(BuildOrigin origin) {
  return origin == BuildOrigin::kPin ? "pin" : "wheel";
}

Status list_builds(const BuildsOptions& options) {
  const std::vector<InstalledBuild> installed = installed_builds();
  if (installed.empty() && !options.all) {
    fmt::print("no builds yet; add one: driftaudit builds add 1.13.1\n");
  }
  for (const InstalledBuild& build : installed) {
    fmt::print("{:<10} {:<14} {:<6} {:>9}  {:<9}  {}\n", build.version, build.name,
               origin_name(build.origin), format_bytes(build.bytes),
               build.has_runner ? "runner" : "no runner", build.folder.string());
  }
  if (!options.all) {
    return Status::kDone;
  }
  fmt::print("{}known pins (release, name, date, size of its wheels):\n",
             installed.empty() ? "" : "\n");
  for (const Pin& pin : load_pins()) {
    std::uint64_t bytes = 0;
    for (const PinnedWheel& wheel : pin.wheels()) {
      bytes += wheel.size;
    }
    fmt::print("{:<10} {:<14} {}  {:>9}\n", pin.version, pin.name, pin.released,
               format_bytes(bytes));
  }
  return Status::kDone;
}

Status add_builds(const BuildsOptions& options) {
  const auto progress = progress_for(options.quiet);
  for (const std::string& side : options.sides) {
    const Build build = open_build(side, {options.offline}, *progress);
    const Runner runner = open_runner(build, *progress);
    fmt::print("{}  torch {}  {}\n", build.label, build.version, runner.program.string());
  }
  return Status::kDone;
}

Status remove_builds(const BuildsOptions& options) {
  if (options.sides.empty() && !options.stale) {
    throw usage_error("builds remove: neither a side nor --stale is given",
                      "see driftaudit builds list");
  }
  drift::remove_builds(options.sides);  // the store's
  for (const std::string& side : options.sides) {
    fmt::print("{}: removed\n", side);
  }
  if (options.stale) {
    const StaleRemoval stale = remove_stale();
    fmt::print("{} stale runners and leftovers removed{}\n", stale.removed,
               stale.in_use == 0 ? "" : fmt::format(", {} in use kept", stale.in_use));
  }
  return Status::kDone;
}

/// Without sides: all builds of the cache.
Status examine_builds(const BuildsOptions& options) {
  const auto progress = progress_for(options.quiet);
  std::vector<std::string> sides = options.sides;
  if (sides.empty()) {
    for (const InstalledBuild& build : installed_builds()) {
      sides.push_back(build.folder.filename().string());
    }
  }
  std::vector<Finding> findings = examine_host();
  for (const std::string& side : sides) {
    const std::vector<Finding> more = examine_build(side, *progress);
    if (more.empty()) {
      fmt::print("{}: nothing wrong\n", side);
    }
    findings.insert(findings.end(), more.begin(), more.end());
  }
  for (const Finding& finding : findings) {
    fmt::print("{}: {}\n  mend: {}\n", finding.subject, finding.problem, finding.remedy);
  }
  if (findings.empty()) {
    fmt::print("all is well\n");
  }
  return findings.empty() ? Status::kDone : Status::kTrouble;
}

}  // namespace

void add_builds_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<BuildsOptions>();
  CLI::App* builds = app.add_subcommand("builds", "list, add, remove or examine libtorch builds");
  builds->require_subcommand(1);
  const auto add = [&](const char* name, const char* description,
                       Status (*run)(const BuildsOptions&)) {
    CLI::App* command = builds->add_subcommand(name, description);
    command->callback(
        [options, run, &action] { action = [options, run] { return run(*options); }; });
    return command;
  };
  CLI::App* list = add("list", "builds in the cache", list_builds);
  list->add_flag("--all", options->all, "also the releases that can be added");
  CLI::App* fetch = add("add", "fetch, unpack and compile the runner of each side", add_builds);
  fetch->add_option("SIDE", options->sides, "a release, a pin's name, a wheel file or a folder")
      ->required();
  fetch->add_flag("--offline", options->offline, "fetch nothing");
  CLI::App* remove = add("remove", "remove builds and their runners from the cache", remove_builds);
  remove->add_option("SIDE", options->sides, "as builds list names it");
  remove->add_flag("--stale", options->stale,
                   "runners of other sources or of lost builds, leftovers of killed processes");
  CLI::App* doctor =
      add("doctor", "what is wrong, and how to mend it (status 3 if anything is)", examine_builds);
  doctor->add_option("SIDE", options->sides, "default: every build in the cache");
  for (CLI::App* command : {fetch, doctor}) {
    command->add_flag("--quiet", options->quiet, "no progress");
  }
}

}  // namespace drift
