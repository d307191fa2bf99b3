#include "builds/store.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "driftaudit/build_store.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/own_files.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/trusted_hash.hpp"

#include "builds/cache.hpp"
#include "builds/facts.hpp"
#include "builds/holds.hpp"
#include "builds/inspect.hpp"
#include "builds/records.hpp"
#include "builds/runner_cache.hpp"

namespace drift {
namespace {

bool is_wheel_name(const fs::path& path) { return path.extension() == ".whl"; }

/// Neither a release nor a file or folder.
Error unknown_side(const std::vector<Pin>& pins, const std::string& side) {
  if (side.find('/') != std::string::npos || side.ends_with(".whl")) {
    return usage_error(fmt::format("{}: no such file or folder", side));
  }
  return usage_error(fmt::format("{}: unknown release", side), unknown_release_hint(pins, side));
}

/// What is unpacked in the cache.
Build open_unpacked(const fs::path& folder, const std::string& label) {
  for (const char* library : {"libtorch_cpu.so", "libc10.so"}) {
    require_own_below(
        cache_folder(), folder / "torch" / "lib" / library,
        fmt::format("driftaudit builds remove {0} && driftaudit builds add {0}", label));
  }
  return inspect_unpacked_build(folder, label);
}

Build open_pin(const Pin& pin, const std::string& label, bool offline, Progress& progress) {
  const fs::path folder = unpacked_folder(pin);
  hold(folder.filename().string());
  if (!is_unpacked(folder)) {
    if (offline) {
      throw trouble(
          fmt::format("torch {}: not in the cache, and --offline forbids to fetch it", pin.version),
          fmt::format("driftaudit builds add {}", label));
    }
    add_pin(pin, free_disk_bytes, progress);
  }
  return open_unpacked(folder, label);
}

std::string pin_name(const std::vector<Pin>& pins, const fs::path& folder) {
  const auto pin = std::find_if(pins.begin(), pins.end(),
                                [&](const Pin& known) { return unpacked_folder(known) == folder; });
  return pin == pins.end() ? "" : pin->name;
}

}  // namespace

fs::path expand_home(const std::string& path) {
  const std::string home = environment_value("HOME");
  if (home.empty() || (path != "~" && !path.starts_with("~/"))) {
    return path;
  }
  return home + path.substr(1);
}

Build open_build(const std::string& side, const BuildOptions& options, Progress& progress) {
  const std::vector<Pin> pins = load_pins();
  if (const Pin* pin = find_pin(pins, side)) {
    return open_pin(*pin, side, options.offline, progress);
  }
  const fs::path path = expand_home(side);
  if (fs::is_directory(path)) {
    Build build = inspect_build(path);
    build.label = side;
    return build;
  }
  if (!fs::is_regular_file(path)) {
    throw unknown_side(pins, side);
  }
  if (!is_wheel_name(path)) {
    throw usage_error(fmt::format("{}: neither a wheel nor a folder", side),
                      "a side is a release, a pin's name, a wheel file or a folder");
  }
  const fs::path folder = add_wheel(path, options.offline, free_disk_bytes, progress);
  hold(folder.filename().string());
  return open_unpacked(folder, side);
}

AttentionFacts attention_facts(const std::string& side) {
  const std::vector<Pin> pins = load_pins();
  if (const Pin* pin = find_pin(pins, side)) {
    return {pin->version, ""};
  }
  const fs::path path = expand_home(side);
  if (fs::is_directory(path)) {
    try {
      const BuildLayout layout = find_layout(path);
      return {read_version(layout), read_transformers(layout)};
    } catch (const Error&) {
      return {};
    }
  }
  // "torch-2.4.1+cpu-cp39-cp39-linux_x86_64.whl"
  const std::string name = is_wheel_name(path) ? path.filename().string() : "";
  const std::size_t begin = name.find('-') + 1;
  return {begin == 0 ? "" : name.substr(begin, name.find('-', begin) - begin), ""};
}

bool is_installed(const std::string& side) {
  const std::vector<Pin> pins = load_pins();
  if (const Pin* pin = find_pin(pins, side)) {
    return is_unpacked(unpacked_folder(*pin));
  }
  if (fs::is_directory(expand_home(side))) {
    return true;
  }
  try {
    return !unpacked_folder_of_side(side).empty();
  } catch (const Error&) {
    return false;
  }
}

fs::path unpacked_folder_of_side(const std::string& side) {
  const std::vector<Pin> pins = load_pins();
  if (const Pin* pin = find_pin(pins, side)) {
    return unpacked_folder(*pin);
  }
  const fs::path path = expand_home(side);
  if (fs::is_directory(path)) {
    return {};
  }
  // A build from a wheel file is known by its folder's name or version, or by the file itself.
  const std::string sha256 =
      fs::is_regular_file(path) && is_wheel_name(path) ? trusted_sha256(path) : "";
  for (const InstalledBuild& build : installed_builds()) {
    const UnpackedRecord record = read_build_record(build.folder);
    if (build.version == side || build.folder.filename() == side ||
        (!sha256.empty() && record.wheels.at(0).sha256 == sha256)) {
      return build.folder;
    }
  }
  if (!sha256.empty()) {
    throw usage_error(fmt::format("{}: not in the cache", side), "driftaudit builds add " + side);
  }
  throw unknown_side(pins, side);
}

std::vector<InstalledBuild> installed_builds() {
  const std::vector<Pin> pins = load_pins();
  std::vector<InstalledBuild> builds;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(builds_folder(), error)) {
    if (!entry.path().filename().string().starts_with("torch-") || !is_own(entry.path())) {
      continue;
    }
    try {
      const UnpackedRecord record = read_build_record(entry.path());
      builds.push_back({record.version, pin_name(pins, entry.path()), record.origin, entry.path(),
                        record.bytes, false});
    } catch (const Error&) {
      continue;
    }
  }
  for (InstalledBuild& build : builds) {
    build.has_runner = has_current_runner(build.folder);
  }
  std::sort(builds.begin(), builds.end(), [](const InstalledBuild& a, const InstalledBuild& b) {
    return a.version != b.version ? release_before(a.version, b.version) : a.folder < b.folder;
  });
  return builds;
}

}  // namespace drift
