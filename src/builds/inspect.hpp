#pragma once

#include <filesystem>
#include <string>

#include "driftaudit/build.hpp"

#include "builds/layout.hpp"
#include "builds/libraries.hpp"

namespace drift {

/// Errors (trouble): libtorch_cpu.so is for another machine.
void require_own_machine(const BuildLayout& layout);

/// Errors (trouble): ATen/ATen.h isn't there.
void require_headers(const BuildLayout& layout);

/// The libraries that a runner of this build loads. Errors (trouble): no libc10.so.
LoadedLibraries libraries_of(const BuildLayout& layout);

/// What to do about a library that is nowhere.
std::string missing_library_remedy(const std::string& name);

/// inspect_build() of a folder in builds/ of our cache: hashes come from its build.json.
Build inspect_unpacked_build(const std::filesystem::path& folder, const std::string& label);

}  // namespace drift
