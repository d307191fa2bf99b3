#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "driftaudit/build.hpp"

namespace drift {

/// Where the parts of a libtorch lie in a folder of one of the known kinds.
struct BuildLayout {
  BuildOrigin origin = BuildOrigin::kFolder;  ///< kFolder or kSystem
  std::filesystem::path library_folder;
  std::filesystem::path header_folder;                ///< holds ATen/ and c10/, if it exists
  std::vector<std::filesystem::path> search_folders;  ///< where its libraries may lie
  std::filesystem::path packages;                     ///< site-packages that it lies in, or empty
  std::filesystem::path version_script;               ///< torch/version.py, or empty
  std::filesystem::path version_text;                 ///< build-version of a libtorch zip, or empty
  std::filesystem::path commit_text;                  ///< its build-hash, or empty
};

/// Errors (usage): no such folder, no torch in there.
BuildLayout find_layout(const std::filesystem::path& folder);

}  // namespace drift
