#include <algorithm>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/trusted_hash.hpp"

#include "builds/cache.hpp"
#include "builds/elf.hpp"
#include "builds/fetch.hpp"
#include "builds/inspect.hpp"
#include "builds/records.hpp"
#include "builds/store.hpp"
#include "builds/wheel.hpp"

namespace drift {
namespace {

/// What torch's headers take, rounded up: 60 MB in 2.15.
constexpr std::uint64_t kHeaderBytes = 100'000'000;

/// Waits for another process that adds the same build, and says so.
FileLock lock_build(const std::string& name, Progress& progress) {
  if (auto lock = FileLock::try_lock(lock_file(name))) {
    return std::move(*lock);
  }
  progress.note(name + ": another driftaudit is adding it; waiting");
  return FileLock(lock_file(name));
}

std::string header_list(const std::vector<UnpackedFile>& files) {
  std::string list;
  for (const UnpackedFile& file : files) {
    if (!file.library) {
      list += file.sha256 + "  " + file.path + "\n";
    }
  }
  return list;
}

/// Unpacks the wheels into a scratch folder, records every hash, checks that the result is a build
/// for this machine, and only then moves it to its place.
void unpack_into_place(const std::vector<UnpackedRecord::Wheel>& sources,
                       const std::vector<fs::path>& wheel_files, BuildOrigin origin,
                       const std::string& version, const fs::path& target,
                       const FreeBytes& free_bytes, Progress& progress) {
  const ScratchFolder scratch("unpack");
  const fs::path folder = scratch.path() / "build";
  UnpackedRecord record{origin, version, sources, {}, "", 0};
  {
    std::vector<Wheel> wheels;
    for (const fs::path& file : wheel_files) {
      wheels.emplace_back(file);
    }
    const std::uint64_t bytes = runner_parts_bytes(wheels);
    require_free_disk(cache_folder(), bytes, free_bytes(cache_folder()));
    progress.start(fmt::format("torch {}: unpacking", version), bytes, Progress::Unit::kBytes);
    const std::vector<UnpackedFile> files = unpack_runner_parts(wheels, folder, progress);
    progress.finish();
    for (const UnpackedFile& file : files) {
      record.bytes += file.size;
      if (file.library) {
        record.libraries.push_back({file.path, library_identity(folder / file.path), file.sha256});
      }
    }
    const std::string list = header_list(files);
    record.headers_sha256 = sha256_hex(list);
    write_file(folder / kHeaderListFile, list, true);
  }
  write_build_record(folder, record);
  try {
    inspect_unpacked_build(folder, version);
  } catch (const Error& error) {  // the person knows the wheel, not our scratch folder
    std::string what = error.what();
    if (const auto at = what.find(folder.string()); at != std::string::npos) {
      what.replace(at, folder.string().size(), wheel_files.front().filename().string());
    }
    throw Error(error.status(), what, error.hint());
  }
  throw_if_interrupted();
  move_folder(folder, target);
}

std::vector<std::string> hashes_of(const std::vector<UnpackedRecord::Wheel>& wheels) {
  std::vector<std::string> hashes;
  for (const UnpackedRecord::Wheel& wheel : wheels) {
    hashes.push_back(wheel.sha256);
  }
  return hashes;
}

std::vector<UnpackedRecord::Wheel> sources_of(const std::vector<PinnedWheel>& wheels) {
  std::vector<UnpackedRecord::Wheel> sources;
  for (const PinnedWheel& wheel : wheels) {
    sources.push_back({wheel.file, wheel.size, wheel.sha256});
  }
  return sources;
}

/// "2.1.0" of torch-2.1.0-cp39-cp39-linux_x86_64.whl.
std::string version_in_name(const fs::path& wheel) {
  std::smatch match;
  const std::string name = wheel.filename().string();
  if (!std::regex_match(name, match, std::regex("torch-([^-/]+)-.*\\.whl"))) {
    throw usage_error(fmt::format("{}: not named like a wheel of torch", wheel.string()),
                      "a wheel is named torch-VERSION-PYTHON-ABI-PLATFORM.whl");
  }
  return match[1].str();
}

/// The versions that the wheel's metadata demands of each package: "nvidia-cuda-cupti-cu12" →
/// "12.1.105".
std::map<std::string, std::string> required_versions(const Wheel& wheel) {
  std::string metadata;
  for (const Wheel::Entry& entry : wheel.entries()) {
    if (entry.name.ends_with(".dist-info/METADATA") && entry.size < (1 << 24)) {
      wheel.read(entry, [&](const char* bytes, std::size_t n) { metadata.append(bytes, n); });
    }
  }
  std::map<std::string, std::string> versions;
  const std::regex pattern("Requires-Dist: ([A-Za-z0-9._-]+) *\\(?==([0-9.]+)\\)?.*");
  std::istringstream lines(metadata);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (std::regex_match(line, match, pattern)) {
      versions[match[1].str()] = match[2].str();
    }
  }
  return versions;
}

/// CUDA runtime and CUPTI wheels in the same folder, of the versions that the metadata demands
/// where it names one.
std::vector<fs::path> extra_wheels_beside(const fs::path& file) {
  const auto required = required_versions(Wheel(file));
  const std::regex pattern("(nvidia_cuda_(?:runtime|cupti)[a-z0-9_]*)-([0-9.]+)-.*\\.whl");
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::absolute(file).parent_path())) {
    std::smatch match;
    const std::string name = entry.path().filename().string();
    if (!std::regex_match(name, match, pattern)) {
      continue;
    }
    std::string package = match[1].str();
    std::replace(package.begin(), package.end(), '_', '-');
    const auto version = required.find(package);
    if (version == required.end() || version->second == match[2].str()) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// What a local wheel is unpacked together with.
struct WheelSet {
  std::vector<fs::path> files;  ///< on disk, torch's first
  std::vector<UnpackedRecord::Wheel> sources;
  std::vector<PinnedWheel> to_fetch;
  std::string python_tag;
};

/// For a wheel that has a pin, the pin's extra wheels, from beside it or to be fetched; for others
/// what lies beside it.
WheelSet wheels_with(const fs::path& file) {
  const auto source = [](const fs::path& path) {
    return UnpackedRecord::Wheel{path.filename().string(), fs::file_size(path),
                                 trusted_sha256(path)};
  };
  WheelSet set{{file}, {source(file)}, {}, ""};
  const std::vector<Pin> pins = load_pins();
  const auto pin = std::find_if(pins.begin(), pins.end(), [&](const Pin& known) {
    return known.wheel.sha256 == set.sources.front().sha256;
  });
  if (pin == pins.end()) {
    for (const fs::path& extra : extra_wheels_beside(file)) {
      set.files.push_back(extra);
      set.sources.push_back(source(extra));
    }
    return set;
  }
  set.sources = sources_of(pin->wheels());
  set.python_tag = pin->python_tag;
  for (const PinnedWheel& extra : pin->extra_wheels) {
    const fs::path beside = fs::absolute(file).parent_path() / extra.file;
    if (fs::is_regular_file(beside) && trusted_sha256(beside) == extra.sha256) {
      set.files.push_back(beside);
    } else {
      set.to_fetch.push_back(extra);
    }
  }
  return set;
}

}  // namespace

std::string unpacked_name(const std::string& version, const std::vector<std::string>& sha256s) {
  std::string all;
  for (const std::string& sha256 : sha256s) {
    all += sha256;
  }
  const std::string key = sha256s.size() == 1 ? sha256s.front() : sha256_hex(all);
  return fmt::format("torch-{}-{}", version, key.substr(0, 12));
}

fs::path unpacked_folder(const Pin& pin) {
  return builds_folder() / unpacked_name(pin.version, hashes_of(sources_of(pin.wheels())));
}

bool is_unpacked(const fs::path& folder) { return fs::exists(folder / kBuildRecordFile); }

void add_pin(const Pin& pin, const FreeBytes& free_bytes, Progress& progress) {
  const fs::path target = unpacked_folder(pin);
  const FileLock lock = lock_build(target.filename().string(), progress);
  if (is_unpacked(target)) {
    return;
  }
  if (pin.platform_tag.find(host_machine()) == std::string::npos) {
    throw trouble(fmt::format("torch {}: its wheel is for {}, and this machine is {}", pin.version,
                              pin.platform_tag, host_machine()),
                  fmt::format("name a folder with a libtorch for {}", host_machine()));
  }
  sweep_scratch_folders();
  const std::vector<PinnedWheel> wheels = pin.wheels();
  const std::uint64_t fetched = fetch_bytes(wheels);
  const std::uint64_t needed = std::max(fetched, fetched / 2 + pin.libraries_bytes + kHeaderBytes);
  require_free_disk(cache_folder(), needed, free_bytes(cache_folder()));
  const ScratchFolder scratch("fetch");
  const auto files = fetch_wheels(wheels, pin.python_tag, scratch.path(), progress);
  unpack_into_place(sources_of(wheels), files, BuildOrigin::kPin, pin.version, target, free_bytes,
                    progress);
}

fs::path add_wheel(const fs::path& file, bool offline, const FreeBytes& free_bytes,
                   Progress& progress) {
  const std::string version = version_in_name(file);
  const WheelSet set = wheels_with(file);
  const fs::path target = builds_folder() / unpacked_name(version, hashes_of(set.sources));
  const FileLock lock = lock_build(target.filename().string(), progress);
  if (is_unpacked(target)) {
    return target;
  }
  sweep_scratch_folders();
  std::vector<fs::path> files = set.files;
  std::optional<ScratchFolder> scratch;
  if (!set.to_fetch.empty()) {
    if (offline) {
      throw trouble(fmt::format("{}: it needs {}, which is not beside it, and --offline forbids to "
                                "fetch it",
                                file.string(), set.to_fetch.front().file),
                    "put that wheel beside it");
    }
    require_free_disk(cache_folder(), fetch_bytes(set.to_fetch), free_bytes(cache_folder()));
    scratch.emplace("fetch");
    const auto fetched = fetch_wheels(set.to_fetch, set.python_tag, scratch->path(), progress);
    files.insert(files.end(), fetched.begin(), fetched.end());
  }
  unpack_into_place(set.sources, files, BuildOrigin::kWheel, version, target, free_bytes, progress);
  return target;
}

}  // namespace drift
