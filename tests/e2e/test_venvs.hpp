#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "shared/python.hpp"

namespace drift {

/// The study's two environments: torch 1.10.1 with transformers 4.15.0, 1.13.1 with 4.25.1.
std::filesystem::path january_venv(const std::filesystem::path& python);
std::filesystem::path december_venv(const std::filesystem::path& python);

/// torch 2.8.0 with transformers 4.57.6, for Python 3.9; 2.13.0 with 5.24.0, for 3.11 to 3.13.
/// Their torch is only imported with stand_ins() and lazy binding.
std::filesystem::path last_4_venv(const std::filesystem::path& python);
std::filesystem::path version_5_venv(const std::filesystem::path& python);

/// Fills `folder` with empty libraries named as the CUDA libraries that the torch of these two is
/// linked with, gigabytes that a CPU has no use for. For LD_LIBRARY_PATH.
void make_stand_ins(const std::filesystem::path& folder);

/// A folder for PYTHONPATH before January's environment: the study's swap of transformers alone.
std::filesystem::path swapped_packages(const std::filesystem::path& python);

/// The variables that a runner gets in these tests.
std::map<std::string, std::string> test_runner_environment();

/// The same for a Python of these, and nothing of the user's.
std::map<std::string, std::string> python_environment();

}  // namespace drift
