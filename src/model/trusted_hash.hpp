#pragma once

#include <filesystem>
#include <string>

#include "driftaudit/progress.hpp"

namespace drift {

/// SHA-256 of a file, with progress. Errors (usage): unreadable.
std::string sha256_with_progress(const std::filesystem::path& file, Progress& progress);

/// SHA-256 of a file, taken from a record in our cache while the file's size, modification time and
/// inode are those that it had when it was hashed; hashed (with progress) and recorded otherwise.
/// Errors (usage): unreadable; (trouble): the cache can't be written.
std::string trusted_sha256(const std::filesystem::path& file, Progress& progress);

/// Records the hash of a file whose bytes the caller has just verified.
void record_sha256(const std::filesystem::path& file, const std::string& sha256);

}  // namespace drift
