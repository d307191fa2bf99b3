#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace drift {

/// A needed library that is nowhere.
struct MissingLibrary {
  std::string name;
  std::string needed_by;
};

/// What the loader will load for some libraries, as far as it isn't the C and C++ runtime.
struct LoadedLibraries {
  std::vector<std::filesystem::path> of_build;  ///< the roots first, then what they need, in order
  std::vector<MissingLibrary> missing;
};

/// Follows DT_NEEDED from `roots`: through run paths, `search_folders`, then the system's own
/// folders. Libraries found in the system's folders and not in `search_folders` are left out.
LoadedLibraries loaded_libraries(const std::vector<std::filesystem::path>& roots,
                                 const std::vector<std::filesystem::path>& search_folders);

/// Whether the library itself needs `name`.
bool is_needed_by(const std::filesystem::path& library, const std::string& name);

/// libc, libm, libstdc++, libgcc_s, the loader and their like: always the host's own.
bool is_base_library(std::string_view name);

/// One of the libraries that implement OpenMP.
bool is_openmp_library(std::string_view name);

}  // namespace drift
