#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace drift {

/// What the loader would read off a shared library or program.
struct ElfFile {
  std::string machine;                 ///< "x86_64", "aarch64", … or "machine 243"
  std::string build_id;                ///< hexadecimal; empty where the linker wrote none
  std::vector<std::string> needed;     ///< DT_NEEDED, in order
  std::vector<std::string> run_paths;  ///< DT_RUNPATH or DT_RPATH, split, `$ORIGIN` unexpanded
};

/// Errors (trouble): not an ELF file, or a damaged one.
ElfFile read_elf(const std::filesystem::path& path);

/// Mangled names of the defined dynamic symbols that begin with `prefix`.
std::vector<std::string> dynamic_symbols(const std::filesystem::path& path,
                                         std::string_view prefix);

/// The machine that this program runs on, named as in ElfFile.
std::string host_machine();

}  // namespace drift
