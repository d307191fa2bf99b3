#include "e2e/test_venvs.hpp"

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/runner_process.hpp"

namespace drift {
namespace {

fs::path requirements(const std::string& name) {
  return fs::path(DRIFTAUDIT_SOURCE_FOLDER) / "tests/e2e/requirements" / name;
}

}  // namespace

fs::path january_venv(const fs::path& python) {
  return test::test_venv(python, "january",
                         {requirements("january-torch.txt"), requirements("january.txt")});
}

fs::path december_venv(const fs::path& python) {
  return test::test_venv(python, "december",
                         {requirements("december-torch.txt"), requirements("december.txt")});
}

fs::path last_4_venv(const fs::path& python) {
  return test::test_venv(python, "last-4",
                         {requirements("last-4-torch.txt"), requirements("last-4.txt")});
}

fs::path version_5_venv(const fs::path& python) {
  return test::test_venv(python, "version-5",
                         {requirements("version-5-torch.txt"), requirements("version-5.txt")});
}

void make_stand_ins(const fs::path& folder) {
  const auto compiler = find_program("cc");
  if (!compiler) {
    throw trouble("no C compiler in PATH");
  }
  for (const char* name :
       {"libcublas.so.12", "libcublasLt.so.12", "libcudnn.so.9", "libcufft.so.11", "libcufile.so.0",
        "libcurand.so.10", "libcusolver.so.11", "libcusparse.so.12", "libcusparseLt.so.0",
        "libnccl.so.2",
        // Of CUDA 13, where the name is another.
        "libcublas.so.13", "libcublasLt.so.13", "libcufft.so.12", "libcusolver.so.12",
        "libnvrtc.so.13", "libnvshmem_host.so.3"}) {
    const ProcessResult result =
        run_process({{compiler->string(), "-shared", "-nostdlib", "-x", "c", "/dev/null",
                      std::string("-Wl,-soname,") + name, "-o", (folder / name).string()},
                     std::nullopt,
                     {}});
    if (!result.end.ok()) {
      throw trouble(result.err);
    }
  }
}

fs::path swapped_packages(const fs::path& python) {
  return test::test_packages(python, "swapped", {requirements("swapped.txt")});
}

std::map<std::string, std::string> test_runner_environment() {
  // Threads that spin while they wait take the cores from each other on a busy machine.
  return runner_environment(current_environment(), {{"OMP_WAIT_POLICY", "passive"}}).variables;
}

std::map<std::string, std::string> python_environment() {
  auto variables = test_runner_environment();
  variables["PYTHONNOUSERSITE"] = "1";
  variables["PYTHONDONTWRITEBYTECODE"] = "1";
  variables["TRANSFORMERS_OFFLINE"] = "1";
  return variables;
}

}  // namespace drift
