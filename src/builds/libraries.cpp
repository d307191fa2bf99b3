#include "builds/libraries.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <optional>
#include <set>

#include "builds/elf.hpp"

namespace drift {
namespace {

namespace fs = std::filesystem;

/// The loader's default folders and those that /etc/ld.so.conf.d adds.
std::vector<fs::path> read_system_folders() {
  const std::string triplet = host_machine() + "-linux-gnu";
  std::vector<fs::path> folders;
  for (const char* parent : {"/usr/local/lib", "/lib", "/usr/lib", "/lib64", "/usr/lib64"}) {
    folders.push_back(fs::path(parent) / triplet);
    folders.emplace_back(parent);
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/etc/ld.so.conf.d", error)) {
    std::ifstream lines(entry.path());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("/")) {
        folders.emplace_back(line);
      }
    }
  }
  return folders;
}

const std::vector<fs::path>& system_folders() {
  static const std::vector<fs::path> folders = read_system_folders();
  return folders;
}

std::optional<fs::path> find_in(const std::vector<fs::path>& folders, const std::string& name) {
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (fs::is_regular_file(folder / name, error)) {
      return folder / name;
    }
  }
  return std::nullopt;
}

std::vector<fs::path> expanded_run_paths(const ElfFile& file, const fs::path& library) {
  std::vector<fs::path> folders;
  for (std::string path : file.run_paths) {
    for (const std::string_view origin : {"${ORIGIN}", "$ORIGIN"}) {
      if (const auto at = path.find(origin); at != std::string::npos) {
        path.replace(at, origin.size(), library.parent_path().string());
      }
    }
    if (path.starts_with("/")) {
      folders.push_back(fs::path(path).lexically_normal());
    }
  }
  return folders;
}

}  // namespace

bool is_needed_by(const fs::path& library, const std::string& name) {
  const std::vector<std::string> needed = read_elf(library).needed;
  return std::find(needed.begin(), needed.end(), name) != needed.end();
}

bool is_base_library(std::string_view name) {
  constexpr std::array<std::string_view, 11> kBase = {
      "libc.so.6",      "libm.so.6",      "libpthread.so.0", "libdl.so.2",
      "librt.so.1",     "libstdc++.so.6", "libgcc_s.so.1",   "libutil.so.1",
      "libresolv.so.2", "libmvec.so.1",   "linux-vdso.so.1"};
  return name.starts_with("ld-linux") || name.starts_with("ld64.so") ||
         std::find(kBase.begin(), kBase.end(), name) != kBase.end();
}

bool is_openmp_library(std::string_view name) {
  return name.starts_with("libgomp") || name.starts_with("libiomp") || name.starts_with("libomp");
}

LoadedLibraries loaded_libraries(const std::vector<fs::path>& roots,
                                 const std::vector<fs::path>& search_folders) {
  LoadedLibraries result;
  std::set<std::string> seen;
  std::set<fs::path> files;
  std::deque<fs::path> waiting(roots.begin(), roots.end());
  for (const fs::path& root : roots) {
    seen.insert(root.filename().string());
  }
  while (!waiting.empty()) {
    const fs::path library = waiting.front();
    waiting.pop_front();
    if (!files.insert(fs::canonical(library)).second) {
      continue;  // libc10.so and libc10.so.1.13 are one file in a distribution's package
    }
    result.of_build.push_back(library);
    const ElfFile file = read_elf(library);
    const std::vector<fs::path> run_paths = expanded_run_paths(file, library);
    for (const std::string& name : file.needed) {
      if (is_base_library(name) || !seen.insert(name).second) {
        continue;
      }
      auto found = find_in(run_paths, name);
      if (!found) {
        found = find_in(search_folders, name);
      }
      if (found) {
        waiting.push_back(*found);
      } else if (!find_in(system_folders(), name)) {
        result.missing.push_back({name, library.filename().string()});
      }
    }
  }
  return result;
}

}  // namespace drift
