#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "driftaudit/build.hpp"
#include "driftaudit/pin.hpp"
#include "driftaudit/progress.hpp"

namespace drift {

/// Asks for the free bytes at a folder; tests give their own.
using FreeBytes = std::function<std::uint64_t(const std::filesystem::path&)>;

/// Name of a build's folder in builds/: the version and the wheels' hashes.
std::string unpacked_name(const std::string& version, const std::vector<std::string>& sha256s);

/// Where a pin's build is, or will be, unpacked.
std::filesystem::path unpacked_folder(const Pin& pin);

/// Whether a build has been unpacked there.
bool is_unpacked(const std::filesystem::path& folder);

/// Fetches and unpacks a pin's build unless it is there. Errors as for open_build().
void add_pin(const Pin& pin, const FreeBytes& free_bytes, Progress& progress);

/// Unpacks a wheel file unless that is done; the folder. CUDA runtime and CUPTI wheels are taken
/// from beside it, or, for a pinned wheel and unless `offline`, fetched.
std::filesystem::path add_wheel(const std::filesystem::path& file, bool offline,
                                const FreeBytes& free_bytes, Progress& progress);

/// A leading `~/` replaced by HOME.
std::filesystem::path expand_home(const std::string& path);

/// The folder of the unpacked build that `side` names (a release, a pin's name, a wheel file), or
/// an empty path when `side` is a folder. Errors (usage): neither.
std::filesystem::path unpacked_folder_of_side(const std::string& side);

}  // namespace drift
