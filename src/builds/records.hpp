#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/build.hpp"

namespace drift {

/// A library's hash, and by what it is known to be the same file still.
struct FileRecord {
  std::string path;  ///< relative to the build's folder, or absolute for other people's files
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;
  std::string build_id;
  std::string sha256;

  /// Whether everything but the hash agrees.
  bool same_file(const FileRecord& other) const;
};

/// The record of a file as it is now, without its hash. Errors (trouble): missing, unreadable.
FileRecord record_without_hash(const std::filesystem::path& file);

/// SHA-256 of somebody else's library: the cache's record where it still holds, else computed and
/// recorded.
std::string trusted_sha256(const std::filesystem::path& file);

/// The recorded hash, if the record still holds.
std::optional<std::string> recorded_sha256(const std::filesystem::path& file);

/// Forgets what the cache knows of the file; whether it knew anything.
bool forget_sha256(const std::filesystem::path& file);

/// What build.json of an unpacked build holds.
struct UnpackedRecord {
  struct Wheel {
    std::string file;
    std::uint64_t size = 0;
    std::string sha256;
  };

  BuildOrigin origin = BuildOrigin::kPin;
  std::string version;  ///< of the wheel: "1.10.1"
  std::vector<Wheel> wheels;
  std::vector<FileRecord> libraries;
  std::string headers_sha256;  ///< of headers.sha256, the list of all other files
  std::uint64_t bytes = 0;     ///< of all files
};

inline constexpr const char* kBuildRecordFile = "build.json";
inline constexpr const char* kHeaderListFile = "headers.sha256";

/// Errors (trouble): missing or damaged, with the hint to add the build anew.
UnpackedRecord read_build_record(const std::filesystem::path& folder);
void write_build_record(const std::filesystem::path& folder, const UnpackedRecord& record);

/// Checks the libraries of an unpacked build against its record, without hashing those that are
/// known to be the same file; a copied or touched file is hashed and its record renewed. Errors
/// (trouble): a changed or missing file.
UnpackedRecord checked_build_record(const std::filesystem::path& folder);

/// One line for each file of an unpacked build that is missing or has other bytes than recorded.
std::vector<std::string> changed_files(const std::filesystem::path& folder);

}  // namespace drift
