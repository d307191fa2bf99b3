#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace drift {

/// A Python 3.9 from DRIFTAUDIT_PYTHON39, else of pyenv, else python3.9 in PATH: the newest for
/// which both seed releases of torch have wheels.
std::optional<std::filesystem::path> find_python39();

/// Makes a virtual environment under the cache folder, or finds it there from an earlier run, and
/// gives its folder. `requirements`: files in tests/e2e/requirements, installed one after the other
/// without looking for dependencies.
std::filesystem::path test_venv(const std::filesystem::path& python, const std::string& name,
                                const std::vector<std::string>& requirements);

/// The study's two environments: torch 1.10.1 with transformers 4.15.0, 1.13.1 with 4.25.1.
std::filesystem::path january_venv(const std::filesystem::path& python);
std::filesystem::path december_venv(const std::filesystem::path& python);

/// The same for a folder of packages that goes on PYTHONPATH.
std::filesystem::path test_packages(const std::filesystem::path& python, const std::string& name,
                                    const std::vector<std::string>& requirements);

/// The variables that a runner gets in these tests.
std::map<std::string, std::string> test_runner_environment();

/// The same for a Python of these, and nothing of the user's.
std::map<std::string, std::string> python_environment();

/// A test that needs a Python 3.9: skipped without one, but failed where `CI` is set.
class NeedsPython39 : public testing::Test {
 protected:
  void SetUp() override;

  std::filesystem::path python_;
};

}  // namespace drift
