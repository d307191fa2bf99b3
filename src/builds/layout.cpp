#include "builds/layout.hpp"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

#include "builds/elf.hpp"

namespace drift {
namespace {

namespace fs = std::filesystem;

bool has_libtorch(const fs::path& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "libtorch_cpu.so", error);
}

/// Folders `parent`/X whose name begins with `start`, sorted.
std::vector<fs::path> folders_in(const fs::path& parent, const std::string& start = "") {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(parent, error)) {
    std::error_code ignored;
    if (entry.is_directory(ignored) && entry.path().filename().string().starts_with(start)) {
      folders.push_back(entry.path());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

/// A site-packages/torch; `prefix` is the environment that it belongs to, or empty.
BuildLayout package_layout(const fs::path& torch, const fs::path& prefix) {
  BuildLayout layout;
  layout.library_folder = torch / "lib";
  layout.header_folder = torch / "include";
  layout.packages = torch.parent_path();
  layout.version_script = torch / "version.py";
  layout.search_folders = {torch / "lib", torch.parent_path() / "torch.libs"};
  for (const fs::path& vendor : folders_in(torch.parent_path() / "nvidia")) {
    layout.search_folders.push_back(vendor / "lib");
  }
  if (!prefix.empty()) {
    layout.search_folders.push_back(prefix / "lib");
  }
  return layout;
}

std::optional<fs::path> site_packages_torch(const fs::path& environment) {
  for (const char* library : {"lib", "lib64"}) {
    for (const fs::path& python : folders_in(environment / library, "python3")) {
      for (const char* packages : {"site-packages", "dist-packages"}) {
        if (has_libtorch(python / packages / "torch" / "lib")) {
          return python / packages / "torch";
        }
      }
    }
  }
  return std::nullopt;
}

BuildLayout zip_layout(const fs::path& folder) {
  BuildLayout layout;
  layout.library_folder = folder / "lib";
  layout.header_folder = folder / "include";
  layout.version_text = folder / "build-version";
  layout.commit_text = folder / "build-hash";
  layout.search_folders = {folder / "lib"};
  return layout;
}

BuildLayout system_layout(const fs::path& prefix, const fs::path& library_folder) {
  BuildLayout layout;
  layout.origin = BuildOrigin::kSystem;
  layout.library_folder = library_folder;
  layout.header_folder = prefix / "include";
  layout.search_folders = {library_folder, prefix / "lib"};
  // Libraries that are behind Debian's alternatives, the BLAS above all, lie in folders below.
  for (const char* below : {"blas", "lapack"}) {
    if (fs::is_directory(library_folder / below)) {
      layout.search_folders.push_back(library_folder / below);
    }
  }
  return layout;
}

}  // namespace

BuildLayout find_layout(const fs::path& given) {
  std::error_code error;
  if (!fs::is_directory(given, error)) {
    throw usage_error(fmt::format("{}: no such folder", given.string()));
  }
  const fs::path folder = fs::canonical(given);
  if (const auto torch = site_packages_torch(folder)) {
    return package_layout(*torch, folder);
  }
  if (has_libtorch(folder / "torch" / "lib")) {
    return package_layout(folder / "torch", "");
  }
  if (has_libtorch(folder / "lib") && fs::exists(folder / "version.py")) {
    return package_layout(folder, "");
  }
  for (const fs::path& zip : {folder, folder / "libtorch"}) {
    if (has_libtorch(zip / "lib") && fs::exists(zip / "build-version")) {
      return zip_layout(zip);
    }
  }
  for (const fs::path& library :
       {folder / "lib" / (host_machine() + "-linux-gnu"), folder / "lib64", folder / "lib"}) {
    if (has_libtorch(library)) {
      return system_layout(folder, library);
    }
  }
  throw usage_error(fmt::format("{}: no torch in there", given.string()),
                    "name a venv, a conda environment, an unpacked libtorch, or a prefix that has "
                    "libtorch-dev; a release such as 1.13.1 is fetched");
}

}  // namespace drift
