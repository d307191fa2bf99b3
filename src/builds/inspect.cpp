#include "builds/inspect.hpp"

#include <algorithm>
#include <functional>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/hash.hpp"

#include "builds/cache.hpp"
#include "builds/elf.hpp"
#include "builds/facts.hpp"
#include "builds/records.hpp"

namespace drift {
namespace {

/// The header folders for -isystem. The compiler's own must not be among them: given again, they
/// come too early for the C++ library's #include_next.
std::vector<fs::path> include_folders_of(const BuildLayout& layout) {
  std::vector<fs::path> folders;
  if (layout.header_folder != "/usr/include" && layout.header_folder != "/usr/local/include") {
    folders.push_back(layout.header_folder);
  }
  const fs::path api = layout.header_folder / "torch" / "csrc" / "api" / "include";
  if (fs::is_directory(api)) {
    folders.push_back(api);
  }
  return folders;
}

std::vector<fs::path> runtime_folders_of(const BuildLayout& layout,
                                         const LoadedLibraries& libraries) {
  std::vector<fs::path> folders = {layout.library_folder};
  for (const fs::path& library : libraries.of_build) {
    if (std::find(folders.begin(), folders.end(), library.parent_path()) == folders.end()) {
      folders.push_back(library.parent_path());
    }
  }
  return folders;
}

using HashOf = std::function<std::string(const fs::path&)>;

/// All facts of the build; the hashes as `hash_of` says them.
Build read_build(const BuildLayout& layout, const HashOf& hash_of) {
  require_own_machine(layout);
  require_headers(layout);
  const LoadedLibraries libraries = libraries_of(layout);
  if (!libraries.missing.empty()) {
    const MissingLibrary& first = libraries.missing.front();
    throw trouble(fmt::format("{}: {} needs {}, which is neither there nor on this system",
                              layout.library_folder.string(), first.needed_by, first.name),
                  missing_library_remedy(first.name));
  }
  Build build;
  build.origin = layout.origin;
  build.library_folder = layout.library_folder;
  build.include_folders = include_folders_of(layout);
  build.runtime_folders = runtime_folders_of(layout, libraries);
  build.version = read_version(layout);
  build.git_commit = read_commit(layout);
  build.string_abi = read_string_abi(layout.library_folder / "libc10.so");
  build.cxx_standard = read_cxx_standard(layout.header_folder);
  std::string all;
  for (const fs::path& library : libraries.of_build) {
    const std::string sha256 = hash_of(library);
    if (build.libtorch_sha256.empty()) {  // the first of the list is libtorch_cpu
      build.libtorch_sha256 = sha256;
    }
    all += fmt::format("{}  {}\n", sha256, library.filename().string());
  }
  build.libraries_digest = sha256_hex(all);
  return build;
}

}  // namespace

void require_own_machine(const BuildLayout& layout) {
  const fs::path library = layout.library_folder / "libtorch_cpu.so";
  const std::string machine = read_elf(library).machine;
  if (machine != host_machine()) {
    throw trouble(fmt::format("{}: built for {}, and this machine is {}", library.string(), machine,
                              host_machine()),
                  fmt::format("use a build for {}", host_machine()));
  }
}

void require_headers(const BuildLayout& layout) {
  const fs::path header = layout.header_folder / "ATen" / "ATen.h";
  if (!fs::is_regular_file(header)) {
    throw trouble(fmt::format("{}: no such file; a runner is compiled against torch's headers",
                              header.string()),
                  layout.origin == BuildOrigin::kSystem
                      ? "apt-get install libtorch-dev"
                      : "reinstall torch there with its include folder");
  }
}

LoadedLibraries libraries_of(const BuildLayout& layout) {
  const fs::path c10 = layout.library_folder / "libc10.so";
  if (!fs::is_regular_file(c10)) {
    throw trouble(fmt::format("{}: no such file; libtorch_cpu.so needs it", c10.string()),
                  "reinstall torch there");
  }
  return loaded_libraries({layout.library_folder / "libtorch_cpu.so", c10}, layout.search_folders);
}

std::string missing_library_remedy(const std::string& name) {
  if (name == "libgomp.so.1") {
    return "apt-get install libgomp1";
  }
  if (name.starts_with("libcudart") || name.starts_with("libcupti")) {
    return "install the nvidia-cuda-runtime and nvidia-cuda-cupti wheels that torch's metadata "
           "names beside it";
  }
  return "reinstall torch there, or install the package that has this library";
}

Build inspect_build(const fs::path& folder) {
  Build build = read_build(find_layout(folder), library_sha256);
  build.label = folder.string();
  return build;
}

Build inspect_unpacked_build(const fs::path& folder, const std::string& label) {
  const UnpackedRecord record = checked_build_record(folder);
  Build build = read_build(find_layout(folder), [&](const fs::path& library) {
    const std::string relative = fs::relative(library, fs::canonical(folder)).string();
    const auto known = std::find_if(record.libraries.begin(), record.libraries.end(),
                                    [&](const FileRecord& r) { return r.path == relative; });
    return known == record.libraries.end() ? library_sha256(library) : known->sha256;
  });
  build.origin = record.origin;
  build.label = label;
  return build;
}

}  // namespace drift
