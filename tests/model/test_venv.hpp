#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace drift::test {

/// A python3 of at least 3.8, if this machine has one; one that can make venvs is preferred.
std::optional<std::filesystem::path> find_python3();

/// The interpreter of a venv that holds what a requirements file pins (installed without
/// dependencies, hashes demanded). Made once and kept in the cache, by one process at a time.
/// Throws when it can't be made.
std::filesystem::path venv_python(const std::filesystem::path& python3, const std::string& name,
                                  const std::filesystem::path& requirements);

}  // namespace drift::test
