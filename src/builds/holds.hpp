#pragma once

#include <optional>
#include <string>

#include "driftaudit/file.hpp"

namespace drift {

/// Keeps a build or a runner, by the name of its lock_file(), from being removed by other processes
/// until this one ends, or gives it up. Several processes may hold one; one that is being removed
/// is waited for. In a cache that is only to be read nothing can be held, nor removed.
void hold(const std::string& name);
void give_up(const std::string& name);

/// The right to remove it, until which nobody can come to hold it: this process gives it up first,
/// and there is none where another holds it.
std::optional<FileLock> lock_unused(const std::string& name);

}  // namespace drift
