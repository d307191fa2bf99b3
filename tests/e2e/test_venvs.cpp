#include "e2e/test_venvs.hpp"

#include "driftaudit/file.hpp"
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
