#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace drift {

/// How std::string is laid out in a libtorch: `_GLIBCXX_USE_CXX11_ABI` 0 or 1.
enum class StringAbi { kOld, kNew };

/// Where a libtorch came from.
enum class BuildOrigin {
  kPin,     ///< a release that we fetched, by its pin
  kWheel,   ///< a local wheel file that we unpacked
  kFolder,  ///< somebody else's folder: a venv, a conda environment, an unpacked libtorch zip
  kSystem,  ///< a distribution's package (libtorch-dev)
};

/// One libtorch on disk, with the facts read off its own files.
struct Build {
  std::string label;  ///< as the person named it: "1.10.1", "january-2022", "~/venv"
  BuildOrigin origin = BuildOrigin::kFolder;
  std::filesystem::path library_folder;                ///< holds libtorch_cpu.so and libc10.so
  std::vector<std::filesystem::path> include_folders;  ///< for -isystem, in order
  std::vector<std::filesystem::path> runtime_folders;  ///< library_folder and what it needs besides
  std::string version;                                 ///< "1.10.1+cu102"
  std::string git_commit;  ///< 40 hexadecimal digits, or empty where the build doesn't say
  StringAbi string_abi = StringAbi::kOld;
  int cxx_standard = 17;         ///< the least that its headers take, but never under 17
  std::string libtorch_sha256;   ///< of libtorch_cpu.so
  std::string libraries_digest;  ///< over the hashes of all libraries that a runner loads
};

/// Reads a build's facts off its folder: a venv or conda environment, a site-packages/torch, an
/// unpacked libtorch zip, a prefix such as /usr that has libtorch-dev. Hashes are taken from the
/// cache's records where size, mtime, inode and build-id still hold. `label` is `folder` as given.
/// Errors (usage): no torch in there; (trouble) another architecture, no headers.
Build inspect_build(const std::filesystem::path& folder);

}  // namespace drift
