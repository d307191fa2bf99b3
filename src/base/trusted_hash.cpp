#include "driftaudit/trusted_hash.hpp"

#include <cerrno>
#include <cstring>
#include <sys/stat.h>
#include <system_error>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/paths.hpp"

namespace drift {
namespace {

using nlohmann::json;

/// By the resolved path, so that all links to a file share its record.
fs::path record_path(const fs::path& file) {
  std::error_code gone;
  const std::string real = fs::weakly_canonical(file, gone).string();
  return cache_part("hashes") / (sha256_hex(real).substr(0, 32) + ".json");
}

std::optional<std::string> known_sha256(const fs::path& file, const std::string& identity) {
  const fs::path path = record_path(file);
  std::error_code none;
  if (!fs::is_regular_file(path, none)) {
    return std::nullopt;
  }
  const json record = json::parse(read_file(path), nullptr, false);
  try {
    if (record.at("identity") == identity) {
      return record.at("sha256").get<std::string>();
    }
  } catch (const json::exception&) {  // a damaged record is as good as none
    return std::nullopt;
  }
  return std::nullopt;
}

void write_record(const fs::path& file, const std::string& identity, const std::string& sha256) {
  const fs::path path = record_path(file);
  make_folders(path.parent_path());
  const json record = {{"file", file.string()}, {"identity", identity}, {"sha256", sha256}};
  // The file's name may be any bytes; it is there only for who looks into the cache.
  write_file(path, record.dump(2, ' ', false, json::error_handler_t::replace) + "\n", true);
}

}  // namespace

std::string file_identity(const fs::path& file, const std::string& mark) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    throw usage_error(fmt::format("{}: {}", file.string(), std::strerror(errno)));
  }
  if (!S_ISREG(info.st_mode)) {
    throw usage_error(fmt::format("{}: not a regular file", file.string()));
  }
  std::string identity = fmt::format("size {} mtime {}.{:09} inode {}", info.st_size,
                                     info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_ino);
  return mark.empty() ? identity : identity + " mark " + mark;
}

std::string sha256_with_progress(const fs::path& file, Progress& progress) {
  std::error_code none;  // a missing file is sha256_file()'s to report
  const std::uintmax_t size = fs::file_size(file, none);
  progress.start("hash " + file.filename().string(), none ? 0 : size, Progress::Unit::kBytes);
  std::uint64_t done = 0;
  std::string sha256 =
      sha256_file(file, [&](std::uint64_t bytes) { progress.update(done += bytes); });
  progress.finish();
  return sha256;
}

std::string trusted_sha256(const fs::path& file, const std::string& mark, Progress* progress) {
  const std::string identity = file_identity(file, mark);
  if (const auto known = known_sha256(file, identity)) {
    return *known;
  }
  std::string sha256 =
      progress == nullptr ? sha256_file(file) : sha256_with_progress(file, *progress);
  if (file_identity(file, mark) == identity) {  // else it was written to meanwhile: no record
    write_record(file, identity, sha256);
  }
  return sha256;
}

std::optional<std::string> recorded_sha256(const fs::path& file, const std::string& mark) {
  return known_sha256(file, file_identity(file, mark));
}

void record_sha256(const fs::path& file, const std::string& sha256, const std::string& mark) {
  write_record(file, file_identity(file, mark), sha256);
}

bool forget_sha256(const fs::path& file) {
  std::error_code ignored;
  return fs::remove(record_path(file), ignored);
}

}  // namespace drift
