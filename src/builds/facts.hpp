#pragma once

#include <filesystem>
#include <string>

#include "driftaudit/build.hpp"

#include "builds/layout.hpp"

namespace drift {

/// The version, from torch/version.py, build-version or torch/version.h; "unknown" when the build
/// says it nowhere.
std::string read_version(const BuildLayout& layout);

/// The commit, from torch/version.py or build-hash; empty when the build says it nowhere.
std::string read_commit(const BuildLayout& layout);

/// The version of transformers that is installed beside the build, from the name of its metadata
/// folder (the newest where an upgrade left several); empty where there is none.
std::string read_transformers(const BuildLayout& layout);

/// From the symbols of libc10.so: c10::Error's constructors take a std::string. Errors (trouble):
/// no such symbol.
StringAbi read_string_abi(const std::filesystem::path& libc10);

/// From the `__cplusplus` checks before an `#error` in the main headers; never under 17.
int read_cxx_standard(const std::filesystem::path& header_folder);

}  // namespace drift
