#pragma once

#include <filesystem>

namespace drift {

/// Removes a file, a symbolic link or a folder with all that it holds, following no link, not even
/// one that is put there meanwhile. Whether nothing is left of it.
bool remove_tree(const std::filesystem::path& path);

}  // namespace drift
