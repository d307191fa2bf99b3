#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace drift::test {

/// A python3 of at least 3.8, if this machine has one; one that can make venvs is preferred.
std::optional<std::filesystem::path> find_python3();

/// A Python 3.9 from DRIFTAUDIT_PYTHON39, else of pyenv, else python3.9 in PATH: the newest for
/// which both seed releases of torch have wheels.
std::optional<std::filesystem::path> find_python39();

/// A Python from 3.11 to 3.13, which transformers 5.24.0 needs: from DRIFTAUDIT_PYTHON311, else the
/// newest of pyenv, else of PATH.
std::optional<std::filesystem::path> find_python311();

/// Makes a virtual environment under the cache folder, or finds it there from an earlier run, and
/// gives its folder. The requirements files are installed one after the other without looking for
/// dependencies. Throws when it can't be made.
std::filesystem::path test_venv(const std::filesystem::path& python, const std::string& name,
                                const std::vector<std::filesystem::path>& requirements);

/// The same for a folder of packages that goes on PYTHONPATH.
std::filesystem::path test_packages(const std::filesystem::path& python, const std::string& name,
                                    const std::vector<std::filesystem::path>& requirements);

/// A test that needs a Python 3.9: skipped without one, but failed where `CI` is set.
class NeedsPython39 : public testing::Test {
 protected:
  void SetUp() override;

  std::filesystem::path python_;
};

}  // namespace drift::test
