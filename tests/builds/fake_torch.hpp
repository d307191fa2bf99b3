#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/pin.hpp"
#include "driftaudit/progress.hpp"

#include "shared/scoped_environment.hpp"

namespace drift::test {

/// The error that `act` ends in; a failure of the test when it ends otherwise.
Error error_of(const std::function<void()>& act);

/// A shared library whose only content are functions of the given (mangled) names.
void build_library(const fs::path& path, const std::vector<std::string>& functions,
                   const std::vector<fs::path>& linked = {}, const std::string& run_path = "");

/// Files by name; the order is that of the names.
using Files = std::map<std::string, std::string>;

/// Writes a zip archive; `unix_modes` sets the mode of single entries.
void write_zip(const fs::path& path, const Files& files,
               const std::map<std::string, std::uint32_t>& unix_modes = {});

/// Writes files below a folder.
void write_files(const fs::path& folder, const Files& files);

/// A tiny torch for this machine: libtorch_cpu needs libc10, its own libgomp and, in a wheel of its
/// own, libcudart.
struct FakeTorch {
  std::string version = "1.10.1";
  bool new_string_abi = false;

  Files files() const;        ///< of the torch wheel
  Files extra_files() const;  ///< of the CUDA runtime wheel
};

inline constexpr const char* kCommit = "302ee7bfb604ebef384602c56e3853efed262030";

/// An empty cache, data of its own and a folder of wheels that pip takes for the only index.
class FakeWorld {
 public:
  FakeWorld();

  fs::path root() const { return folder_.path(); }
  fs::path cache() const { return root() / "cache"; }
  fs::path wheels() const { return root() / "wheels"; }
  fs::path pins() const { return root() / "data" / "venvs"; }
  fs::path runner() const { return root() / "data" / "runner"; }
  ScopedEnvironment& environment() { return environment_; }

  /// Writes the wheels and the pin; `name` may be empty.
  Pin publish(const FakeTorch& torch, const std::string& name = "");
  void write_pin(const Pin& pin);
  /// Puts a program of that name first in PATH.
  void shadow_program(const std::string& name, const std::string& shell_script);

  /// Everything in the cache that isn't a lock, relative; for looking for leftovers.
  std::vector<std::string> cached_files() const;

 private:
  TemporaryFolder folder_;
  ScopedEnvironment environment_;
};

/// Whether the cache's builds/ holds anything that lacks its record, or scratch/ anything at all.
bool has_half_build(const fs::path& cache);

}  // namespace drift::test
