#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/build_store.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/remove_tree.hpp"

#include "builds/cache.hpp"
#include "builds/elf.hpp"
#include "builds/holds.hpp"
#include "builds/libraries.hpp"
#include "builds/records.hpp"
#include "builds/runner_cache.hpp"

namespace drift {
namespace {

using nlohmann::json;

std::string joined(const std::vector<fs::path>& paths) {
  std::string text;
  for (const fs::path& path : paths) {
    text += (text.empty() ? "" : ";") + path.string();
  }
  return text;
}

/// What CMake is told of the build and of the tools.
std::vector<std::string> definitions(const Build& build, const Toolchain& toolchain) {
  const fs::path& libraries = build.library_folder;
  return {
      "-DCMAKE_BUILD_TYPE=Release",
      "-DCMAKE_CXX_COMPILER=" + toolchain.compiler.string(),
      "-DDRIFT_TORCH_INCLUDES=" + joined(build.include_folders),
      "-DDRIFT_TORCH_LIBRARIES=" + joined({libraries / "libtorch_cpu.so", libraries / "libc10.so"}),
      "-DDRIFT_TORCH_RUNTIME_FOLDERS=" + joined(build.runtime_folders),
      fmt::format("-DDRIFT_CXX_STANDARD={}", build.cxx_standard),
      fmt::format("-DDRIFT_CXX11_ABI={}", build.string_abi == StringAbi::kNew ? 1 : 0)};
}

/// A digest of the headers that is cheap to take: the recorded one for builds that we unpacked,
/// else names, sizes and times.
std::string headers_digest(const Build& build) {
  if (build.origin == BuildOrigin::kPin || build.origin == BuildOrigin::kWheel) {
    return read_build_record(build.library_folder.parent_path().parent_path()).headers_sha256;
  }
  std::set<fs::path> roots(build.include_folders.begin(), build.include_folders.end());
  for (const fs::path& include : build.include_folders) {
    // A system's own include folder isn't listed, but torch/csrc/api/include below it is.
    if (include.string().ends_with("/torch/csrc/api/include")) {
      roots.insert(include.parent_path().parent_path().parent_path().parent_path());
    }
  }
  std::vector<std::string> lines;
  for (const fs::path& include : roots) {
    for (const char* part : {"ATen", "c10", "caffe2", "torch"}) {
      std::error_code error;
      for (const auto& entry : fs::recursive_directory_iterator(include / part, error)) {
        std::error_code ignored;
        if (entry.is_regular_file(ignored)) {
          lines.push_back(fmt::format("{} {} {}\n", entry.path().string(), entry.file_size(ignored),
                                      entry.last_write_time(ignored).time_since_epoch().count()));
        }
      }
    }
  }
  std::sort(lines.begin(), lines.end());
  Sha256 digest;
  for (const std::string& line : lines) {
    digest.update(line);
  }
  return digest.hex();
}

/// Everything that the compiled program depends on.
std::string runner_key(const Build& build, const Toolchain& toolchain,
                       const std::string& sources_sha256) {
  Sha256 digest;
  const auto add = [&](const std::string& text) { digest.update(text + "\n"); };
  add(build.libraries_digest);
  add(headers_digest(build));
  add(sources_sha256);
  add(toolchain.compiler_version);
  add(toolchain.generator);
  for (const std::string& definition : definitions(build, toolchain)) {
    add(definition);
  }
  for (const char* name : {"CXXFLAGS", "LDFLAGS", "CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"}) {
    add(environment_value(name));
  }
  return digest.hex().substr(0, 24);
}

/// Turns "[3/7]" and "[ 42%]" of Ninja's and make's output into progress.
class CompileProgress {
 public:
  CompileProgress(Progress& progress, std::string label)
      : progress_(progress), label_(std::move(label)) {}

  void read(std::string_view piece) {
    static const std::regex pattern("\\[ *([0-9]+)(?:/([0-9]+)|%)\\]");
    const std::string text(piece);
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) {
      const std::uint64_t total = (*at)[2].matched ? std::stoull((*at)[2].str()) : 100;
      if (total != total_) {
        total_ = total;
        progress_.start(label_, total_, Progress::Unit::kItems);
      }
      progress_.update(std::stoull((*at)[1].str()));
    }
  }

 private:
  Progress& progress_;
  std::string label_;
  std::uint64_t total_ = 0;
};

/// An OpenMP runtime of the runner's own beside the build's would give it two thread pools, and
/// other bits.
void require_one_openmp(const Build& build, const fs::path& program) {
  const auto of_build =
      loaded_libraries({build.library_folder / "libtorch_cpu.so"}, build.runtime_folders).of_build;
  for (const std::string& name : read_elf(program).needed) {
    const bool known = std::any_of(of_build.begin(), of_build.end(), [&](const fs::path& library) {
      return library.filename() == name || is_needed_by(library, name);
    });
    if (is_openmp_library(name) && !known) {
      throw trouble(fmt::format("{}: the compiled runner brings in {}, a second OpenMP runtime",
                                build.label, name),
                    "unset CXXFLAGS and LDFLAGS, and run again");
    }
  }
}

void compile(const Build& build, const Toolchain& toolchain, const fs::path& folder,
             const fs::path& failure_log, Progress& progress) {
  const std::string label = fmt::format("torch {}: compiling its runner", build.version);
  std::string log;
  CompileProgress steps(progress, label);
  const auto run = [&](std::vector<std::string> arguments) {
    const ProcessResult result =
        run_process({std::move(arguments), std::nullopt, {}}, [&](std::string_view piece) {
          log += piece;
          steps.read(piece);
        });
    if (!result.end.ok()) {
      make_folders(failure_log.parent_path());
      write_file(failure_log, log, true);
      throw compile_failure(build.label, log, failure_log);
    }
  };
  progress.start(label, 0, Progress::Unit::kItems);
  const std::string objects = (folder / "objects").string();
  std::vector<std::string> configure = {
      toolchain.cmake.string(), "-S", runner_source_folder().string(), "-B", objects, "-G",
      toolchain.generator};
  const auto defined = definitions(build, toolchain);
  configure.insert(configure.end(), defined.begin(), defined.end());
  run(std::move(configure));
  const unsigned jobs = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
  run({toolchain.cmake.string(), "--build", objects, "--target", "runner", "--parallel",
       std::to_string(jobs)});
  progress.finish();
  require_one_openmp(build, folder / "objects" / "runner");
  fs::rename(folder / "objects" / "runner", folder / "runner");
  // The linker goes by the umask, but nobody else may write what is run.
  fs::permissions(folder / "runner", fs::perms::group_write | fs::perms::others_write,
                  fs::perm_options::remove);
  remove_tree(folder / "objects");
  write_file(folder / "build.log", log, true);
}

}  // namespace

Error compile_failure(const std::string& label, const std::string& output, const fs::path& log) {
  std::istringstream lines(output);
  std::string first = "the compiler gave up";
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error: ") != std::string::npos || line.find("Error at ") != std::string::npos ||
        line.find("undefined reference") != std::string::npos) {
      first = line.substr(line.find_first_not_of(' '));
      break;
    }
  }
  return trouble(fmt::format("{}: its runner doesn't compile: {}", label, first),
                 fmt::format("the whole log: {}", log.string()));
}

Runner open_runner(const Build& build, Progress& progress) {
  const Toolchain toolchain = find_toolchain();
  const std::string sources = runner_sources_sha256();
  const std::string key = runner_key(build, toolchain, sources);
  const fs::path target = runners_folder() / key;
  const Runner runner{target / "runner", target / "build.log"};
  hold("runner-" + key);
  if (is_sound_runner(target)) {
    return runner;
  }
  const FileLock lock(lock_file("runner-" + key));
  if (is_sound_runner(target)) {
    return runner;
  }
  remove_tree(target);  // a damaged one
  const ScratchFolder scratch("compile");
  const fs::path folder = scratch.path() / "runner";
  make_folders(folder);
  compile(build, toolchain, folder, logs_folder() / ("runner-" + key + ".log"), progress);
  const json record = {{"label", build.label},
                       {"library_folder", fs::canonical(build.library_folder).string()},
                       {"sources_sha256", sources},
                       {"program_sha256", sha256_file(folder / "runner")},
                       {"compiler", toolchain.compiler_version}};
  write_file(folder / "runner.json", record.dump(2) + "\n", true);
  move_folder(folder, target);
  return runner;
}

}  // namespace drift
