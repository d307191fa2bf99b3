#pragma once

#include <filesystem>
#include <string>

namespace drift {

/// What is in the cache is run and deleted, so nobody else may have put it there.
///
/// Throws (usage) unless the folder, or what a link of that name leads to, belongs to whoever runs
/// this (or to root, or to whom sudo was called by) and nobody else may write to it.
void require_own(const std::filesystem::path& folder);

/// Asks the same of each part of a path below `root`, as far as it is there, and that none of them
/// is a symbolic link. Behind a folder that others can't enter they may be called writable.
/// `remedy`: what to do about one that isn't so; empty: that of the cache's folders.
void require_own_below(const std::filesystem::path& root, const std::filesystem::path& path,
                       const std::string& remedy = "");

/// Whether the entry itself, no link, belongs to one of the above.
bool is_own(const std::filesystem::path& entry);

}  // namespace drift
