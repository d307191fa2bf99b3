#include "model/trusted_hash.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/paths.hpp"

namespace drift {
namespace {

using nlohmann::json;

/// What a file must still look like for its record to hold.
json identity(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    throw usage_error(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  }
  return {{"file", file.string()},
          {"size", info.st_size},
          {"seconds", info.st_mtim.tv_sec},
          {"nanoseconds", info.st_mtim.tv_nsec},
          {"inode", info.st_ino}};
}

fs::path record_path(const fs::path& file) {
  return cache_folder() / "models" / "hashes" / (sha256_hex(file.string()).substr(0, 32) + ".json");
}

void write_record(const fs::path& file, const json& seen, const std::string& sha256) {
  const fs::path record = record_path(file);
  make_folders(record.parent_path());
  write_file(record, json{{"seen", seen}, {"sha256", sha256}}.dump(), true);
}

std::string recorded_sha256(const fs::path& file, const json& seen) {
  const fs::path path = record_path(file);
  if (!fs::exists(path)) {
    return "";
  }
  const json record = json::parse(read_file(path), nullptr, false);
  if (!record.is_object() || record.value("seen", json()) != seen) {
    return "";
  }
  const json sha256 = record.value("sha256", json());
  return sha256.is_string() ? sha256.get<std::string>() : "";
}

}  // namespace

std::string sha256_with_progress(const fs::path& file, Progress& progress) {
  progress.start("hash " + file.filename().string(), fs::file_size(file), Progress::Unit::kBytes);
  std::uint64_t done = 0;
  std::string sha256 =
      sha256_file(file, [&](std::uint64_t bytes) { progress.update(done += bytes); });
  progress.finish();
  return sha256;
}

std::string trusted_sha256(const fs::path& file, Progress& progress) {
  const fs::path path = fs::absolute(file);
  const json seen = identity(path);
  if (std::string known = recorded_sha256(path, seen); !known.empty()) {
    return known;
  }
  std::string sha256 = sha256_with_progress(path, progress);
  if (identity(path) == seen) {  // else it was written to meanwhile: no record
    write_record(path, seen, sha256);
  }
  return sha256;
}

void record_sha256(const fs::path& file, const std::string& sha256) {
  const fs::path path = fs::absolute(file);
  write_record(path, identity(path), sha256);
}

}  // namespace drift
