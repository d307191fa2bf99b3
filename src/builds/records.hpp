#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "driftaudit/build.hpp"

namespace drift {

/// A library's hash, and by what it is known to be the same file still.
struct FileRecord {
  std::string path;      ///< relative to the build's folder
  std::string identity;  ///< library_identity(); a file of another one is hashed
  std::string sha256;
};

/// The build-id, or nothing for a file that has none.
std::string build_id_of(const std::filesystem::path& file);

/// file_identity() of a library, its build-id included.
std::string library_identity(const std::filesystem::path& library);

/// trusted_sha256() of somebody else's library, its build-id taken into account.
std::string library_sha256(const std::filesystem::path& library);

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
