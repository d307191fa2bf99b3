#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "shared/python.hpp"

namespace drift {

/// The study's two environments: torch 1.10.1 with transformers 4.15.0, 1.13.1 with 4.25.1.
std::filesystem::path january_venv(const std::filesystem::path& python);
std::filesystem::path december_venv(const std::filesystem::path& python);

/// A folder for PYTHONPATH before January's environment: the study's swap of transformers alone.
std::filesystem::path swapped_packages(const std::filesystem::path& python);

/// The variables that a runner gets in these tests.
std::map<std::string, std::string> test_runner_environment();

/// The same for a Python of these, and nothing of the user's.
std::map<std::string, std::string> python_environment();

}  // namespace drift
