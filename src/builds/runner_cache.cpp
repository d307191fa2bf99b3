#include "builds/runner_cache.hpp"

#include <algorithm>
#include <sstream>
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/build_store.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/own_files.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/process.hpp"

#include "base/json_record.hpp"
#include "builds/cache.hpp"

namespace drift {
namespace {

using nlohmann::json;

constexpr const char* kInstallHint = "apt-get install g++ cmake make";

std::string first_line_of(const Command& command) {
  std::istringstream lines(run_process(command).out);
  std::string line;
  std::getline(lines, line);
  return line;
}

fs::path find_compiler() {
  const std::string own = environment_value("CXX");
  if (!own.empty()) {
    const auto found = own.find('/') == std::string::npos ? find_program(own) : fs::absolute(own);
    if (!found || !fs::exists(*found)) {
      throw trouble(fmt::format("CXX={}: no such compiler", own),
                    "CXX names one program, without options");
    }
    return *found;
  }
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (const auto found = find_program(name)) {
      return *found;
    }
  }
  throw trouble("no C++ compiler in PATH; a runner has to be compiled for each build",
                kInstallHint);
}

RunnerRecord read_runner_record(const fs::path& folder) {
  const auto record = from_json_record(folder / "runner.json", [&](const json& document) {
    return RunnerRecord{folder, document.at("library_folder").get<std::string>(),
                        document.at("sources_sha256").get<std::string>(),
                        document.at("compiler").get<std::string>()};
  });
  return record.value_or(RunnerRecord{folder, "", "", ""});
}

bool is_below(const fs::path& path, const fs::path& folder) {
  const auto [end, at] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

}  // namespace

Toolchain find_toolchain() {
  Toolchain toolchain;
  toolchain.compiler = find_compiler();
  const auto cmake = find_program("cmake");
  if (!cmake) {
    throw trouble("cmake is not in PATH; a runner has to be compiled for each build", kInstallHint);
  }
  toolchain.cmake = *cmake;
  if (find_program("ninja")) {
    toolchain.generator = "Ninja";
  } else if (find_program("make")) {
    toolchain.generator = "Unix Makefiles";
  } else {
    throw trouble("neither ninja nor make is in PATH; a runner has to be compiled for each build",
                  kInstallHint);
  }
  toolchain.compiler_version =
      first_line_of({{toolchain.compiler.string(), "--version"}, std::nullopt, {}});
  return toolchain;
}

std::vector<RunnerRecord> cached_runners() {
  std::vector<RunnerRecord> runners;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(runners_folder(), error)) {
    std::error_code none;
    if (is_key(entry.path().filename().string()) && fs::is_directory(entry.symlink_status(none))) {
      runners.push_back(read_runner_record(entry.path()));
    }
  }
  std::sort(runners.begin(), runners.end(),
            [](const RunnerRecord& a, const RunnerRecord& b) { return a.folder < b.folder; });
  return runners;
}

std::string runner_sources_sha256() {
  const fs::path sources = runner_source_folder();
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(sources, error)) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  if (error || files.empty()) {
    throw usage_error(fmt::format("{}: no sources of the runner there", sources.string()),
                      "set DRIFTAUDIT_DATA to the folder of the sources or of an installation");
  }
  std::sort(files.begin(), files.end());
  Sha256 digest;
  for (const fs::path& file : files) {
    const std::string text = read_file(file, 1 << 24);
    digest.update(fmt::format("{} {}\n", fs::relative(file, sources).string(), text.size()));
    digest.update(text);
  }
  return digest.hex();
}

bool is_stale(const RunnerRecord& runner) {
  return runner.library_folder.empty() || !fs::exists(runner.library_folder) ||
         runner.sources_sha256 != runner_sources_sha256();
}

bool is_sound_runner(const fs::path& folder) {
  const fs::path program = folder / "runner";
  const std::string remedy =
      fmt::format("rm -r '{}'; the next run compiles it anew", folder.string());
  require_own_below(cache_folder(), program, remedy);
  require_own_below(cache_folder(), folder / "runner.json", remedy);
  if (::access(program.c_str(), R_OK | X_OK) != 0) {
    return false;
  }
  const auto sound = from_json_record(folder / "runner.json", [&](const json& document) {
    return document.at("program_sha256") == sha256_file(program);
  });
  return sound.value_or(false);
}

bool has_current_runner(const fs::path& folder) {
  const fs::path real = fs::weakly_canonical(folder);
  const std::vector<RunnerRecord> runners = runners_below(real);
  return std::any_of(runners.begin(), runners.end(),
                     [](const RunnerRecord& runner) { return !is_stale(runner); });
}

std::vector<RunnerRecord> runners_below(const fs::path& folder) {
  std::vector<RunnerRecord> runners = cached_runners();
  runners.erase(std::remove_if(runners.begin(), runners.end(),
                               [&](const RunnerRecord& runner) {
                                 return runner.library_folder.empty() ||
                                        !is_below(runner.library_folder, folder);
                               }),
                runners.end());
  return runners;
}

}  // namespace drift
