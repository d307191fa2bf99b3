#include "model/test_venv.hpp"

#include <stdexcept>
#include <vector>

#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/process.hpp"

namespace drift::test {
namespace {

std::string output_of(const std::vector<std::string>& arguments) {
  const ProcessResult result = run_process({arguments, std::nullopt, {}});
  if (!result.end.ok()) {
    throw std::runtime_error(arguments[0] + ": " + result.end.describe() + "\n" + result.out +
                             result.err);
  }
  return result.out;
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
      return program;
    }
    any = any ? any : program;
  }
  return any;
}

fs::path venv_python(const fs::path& python3, const std::string& name,
                     const fs::path& requirements) {
  const std::string version =
      output_of({python3.string(), "-c", "import sys; print(sys.version, sys.executable)"});
  const fs::path parent = cache_folder() / "test-venvs";
  const fs::path folder =
      parent / (name + "-" + sha256_hex(version + read_file(requirements)).substr(0, 16));
  make_folders(parent);
  const FileLock lock(folder.string() + ".lock");
  if (!fs::exists(folder)) {
    TemporaryFolder made(parent, "making-" + name);
    output_of({python3.string(), "-m", "venv", (made.path() / "venv").string()});
    output_of({(made.path() / "venv/bin/python").string(), "-m", "pip", "install", "--quiet",
               "--no-deps", "--require-hashes", "-r", requirements.string()});
    made.move_to(folder);
  }
  return folder / "venv/bin/python";
}

}  // namespace drift::test
