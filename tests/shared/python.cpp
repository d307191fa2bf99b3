#include "shared/python.hpp"

#include <cstdlib>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/process.hpp"

namespace drift::test {
namespace {

using Arguments = std::vector<std::string>;

std::string digest_of(const fs::path& python, const std::vector<fs::path>& requirements) {
  std::string all = python.string();
  for (const fs::path& file : requirements) {
    all += read_file(file);
  }
  return sha256_hex(all).substr(0, 12);
}

void run(const Arguments& arguments) {
  const ProcessResult result = run_process({arguments, std::nullopt, {}});
  if (!result.end.ok()) {
    std::string command;
    for (const std::string& argument : arguments) {
      command += argument + " ";
    }
    throw trouble(fmt::format("{}\n{}{}", command, result.out, result.err));
  }
}

void pip_install(const fs::path& python, const fs::path& file, const Arguments& more) {
  Arguments arguments = {python.string(),
                         "-m",
                         "pip",
                         "install",
                         "--quiet",
                         "--no-cache-dir",
                         "--no-deps",
                         "--disable-pip-version-check",
                         "-r",
                         file.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  run(arguments);
}

/// The folder `make` fills, unless a run before this one did.
template <class Make>
fs::path made_once(const std::string& name, const Make& make) {
  const fs::path parent = cache_folder() / "test-venvs";
  make_folders(parent);
  const fs::path target = parent / name;
  const FileLock lock(parent / (name + ".lock"));
  if (!fs::exists(target)) {
    TemporaryFolder folder(parent, name);
    make(folder.path());
    folder.move_to(target);
  }
  return target;
}

/// The newest 3.`minor` among pyenv's versions.
std::optional<fs::path> pyenv_python3(int minor) {
  const std::string root = environment_value("PYENV_ROOT");
  const fs::path versions =
      (root.empty() ? fs::path(environment_value("HOME")) / ".pyenv" : fs::path(root)) / "versions";
  std::optional<fs::path> best;
  int best_patch = -1;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(versions, error)) {
    const std::string name = entry.path().filename().string();
    const fs::path python = entry.path() / fmt::format("bin/python3.{}", minor);
    const std::string beginning = fmt::format("3.{}.", minor);
    const int patch =
        name.rfind(beginning, 0) == 0 ? std::atoi(name.c_str() + beginning.size()) : -1;
    if (patch > best_patch && fs::exists(python)) {
      best = python;
      best_patch = patch;
    }
  }
  return best;
}

}  // namespace

std::optional<fs::path> find_python3() {
  std::optional<fs::path> any;
  for (const char* name : {"python3", "python3.13", "python3.12", "python3.11", "python3.10",
                           "python3.9", "python3.8"}) {
    const auto program = find_program(name);
    if (!program) {
      continue;
    }
    const auto check = [&](const char* code) {
      return run_process({{program->string(), "-c", code}, std::nullopt, {}}).end.ok();
    };
    if (!check("import sys; assert sys.version_info >= (3, 8)")) {
      continue;
    }
    if (check("import venv, ensurepip")) {
      return fs::canonical(*program);  // its name tells versions apart, in test_venv()
    }
    any = any ? any : fs::canonical(*program);
  }
  return any;
}

std::optional<fs::path> find_python39() {
  const std::string named = environment_value("DRIFTAUDIT_PYTHON39");
  if (!named.empty()) {
    return fs::path(named);
  }
  if (const auto python = pyenv_python3(9)) {
    return python;
  }
  return find_program("python3.9");
}

std::optional<fs::path> find_python311() {
  const std::string named = environment_value("DRIFTAUDIT_PYTHON311");
  if (!named.empty()) {
    return fs::path(named);
  }
  constexpr int kNewest = 13;
  constexpr int kOldest = 11;
  for (int minor = kNewest; minor >= kOldest; --minor) {
    if (const auto python = pyenv_python3(minor)) {
      return python;
    }
  }
  for (int minor = kNewest; minor >= kOldest; --minor) {
    if (const auto python = find_program(fmt::format("python3.{}", minor))) {
      return python;
    }
  }
  return std::nullopt;
}

fs::path test_venv(const fs::path& python, const std::string& name,
                   const std::vector<fs::path>& requirements) {
  return made_once(name + "-" + digest_of(python, requirements), [&](const fs::path& folder) {
    run({python.string(), "-m", "venv", folder.string()});
    for (const fs::path& file : requirements) {
      pip_install(folder / "bin/python", file, {});
    }
  });
}

fs::path test_packages(const fs::path& python, const std::string& name,
                       const std::vector<fs::path>& requirements) {
  return made_once(name + "-" + digest_of(python, requirements), [&](const fs::path& folder) {
    for (const fs::path& file : requirements) {
      pip_install(python, file, {"--target", folder.string()});
    }
  });
}

void NeedsPython39::SetUp() {
  if (const auto python = find_python39()) {
    python_ = *python;
    return;
  }
  const char* const reason = "no Python 3.9: set DRIFTAUDIT_PYTHON39 to one";
  if (!environment_value("CI").empty()) {
    FAIL() << reason;
  }
  GTEST_SKIP() << reason;
}

}  // namespace drift::test
