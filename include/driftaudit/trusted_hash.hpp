#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "driftaudit/progress.hpp"

namespace drift {

/// Hashes of files are kept in cache_folder()/hashes, for files that aren't hashed anew at every
/// run. A file is taken for the one that was hashed while its identity is the same: size,
/// modification time and inode of what a symbolic link leads to, and a `mark` by which the caller
/// knows it besides (a library's build-id), empty for files that have none.

/// That identity as one line of text, for records of the caller's own. Errors (usage): missing, not
/// a regular file.
std::string file_identity(const std::filesystem::path& file, const std::string& mark = "");

/// SHA-256 of a file, shown as a step of `progress`. Errors (usage): unreadable.
std::string sha256_with_progress(const std::filesystem::path& file, Progress& progress);

/// SHA-256 of a file: the record's where that still holds, else computed (as a step of `progress`
/// if given) and recorded. Errors (usage): missing, unreadable; (trouble): the cache can't be
/// written.
std::string trusted_sha256(const std::filesystem::path& file, const std::string& mark = "",
                           Progress* progress = nullptr);

/// The recorded hash, if the record still holds. Errors (usage): missing.
std::optional<std::string> recorded_sha256(const std::filesystem::path& file,
                                           const std::string& mark = "");

/// Records the hash of a file whose bytes the caller has just verified. Errors as above.
void record_sha256(const std::filesystem::path& file, const std::string& sha256,
                   const std::string& mark = "");

/// Forgets what the cache knows of the file, which may be gone; whether it knew anything.
bool forget_sha256(const std::filesystem::path& file);

}  // namespace drift
