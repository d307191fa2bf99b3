#include "builds/records.hpp"

#include <sstream>
#include <sys/stat.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/interrupt.hpp"

#include "builds/cache.hpp"
#include "builds/elf.hpp"

namespace drift {

using nlohmann::json;

// NOLINTNEXTLINE(readability-identifier-naming): the names that nlohmann/json looks for
static void to_json(json& out, const FileRecord& record) {
  out = {{"path", record.path},   {"size", record.size},         {"mtime_ns", record.mtime_ns},
         {"inode", record.inode}, {"build_id", record.build_id}, {"sha256", record.sha256}};
}

static void from_json(const json& in, FileRecord& record) {
  in.at("path").get_to(record.path);
  in.at("size").get_to(record.size);
  in.at("mtime_ns").get_to(record.mtime_ns);
  in.at("inode").get_to(record.inode);
  in.at("build_id").get_to(record.build_id);
  in.at("sha256").get_to(record.sha256);
}

static void to_json(json& out, const UnpackedRecord::Wheel& wheel) {
  out = {{"file", wheel.file}, {"size", wheel.size}, {"sha256", wheel.sha256}};
}

static void from_json(const json& in, UnpackedRecord::Wheel& wheel) {
  in.at("file").get_to(wheel.file);
  in.at("size").get_to(wheel.size);
  in.at("sha256").get_to(wheel.sha256);
}

namespace {

fs::path hash_file_of(const fs::path& file) {
  return hashes_folder() / (sha256_hex(file.string()).substr(0, 32) + ".json");
}

Error damaged_build(const fs::path& folder, const std::string& what) {
  return trouble(
      fmt::format("{}: {}", folder.string(), what),
      "remove the build and add it anew: driftaudit builds remove, driftaudit builds add");
}

}  // namespace

bool FileRecord::same_file(const FileRecord& other) const {
  return size == other.size && mtime_ns == other.mtime_ns && inode == other.inode &&
         build_id == other.build_id;
}

FileRecord record_without_hash(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    throw trouble(fmt::format("{}: no such file", file.string()));
  }
  FileRecord record;
  record.path = file.string();
  record.size = static_cast<std::uint64_t>(info.st_size);
  record.mtime_ns = std::int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
  record.inode = info.st_ino;
  try {
    record.build_id = read_elf(file).build_id;
  } catch (const Error&) {  // a wheel, or a damaged library, whose hash will tell
    record.build_id.clear();
  }
  return record;
}

std::optional<std::string> recorded_sha256(const fs::path& file) {
  const fs::path real = fs::canonical(file);
  const fs::path kept = hash_file_of(real);
  if (!fs::exists(kept)) {
    return std::nullopt;
  }
  try {
    const auto known = json::parse(read_file(kept, 1 << 20)).get<FileRecord>();
    if (known.path == real.string() && known.same_file(record_without_hash(real))) {
      return known.sha256;
    }
  } catch (const json::exception&) {  // a damaged record is as good as none
    return std::nullopt;
  }
  return std::nullopt;
}

std::string trusted_sha256(const fs::path& file) {
  if (const auto known = recorded_sha256(file)) {
    return *known;
  }
  const fs::path real = fs::canonical(file);
  const fs::path kept = hash_file_of(real);
  FileRecord record = record_without_hash(real);
  record.sha256 = sha256_file(real, [](std::uint64_t) { throw_if_interrupted(); });
  make_folders(kept.parent_path());
  write_file(kept, json(record).dump(2) + "\n", true);
  return record.sha256;
}

bool forget_sha256(const fs::path& file) {
  std::error_code ignored;
  return fs::remove(hash_file_of(fs::weakly_canonical(file, ignored)), ignored);
}

UnpackedRecord read_build_record(const fs::path& folder) {
  try {
    const json document = json::parse(read_file(folder / kBuildRecordFile, 1 << 24));
    UnpackedRecord record;
    record.origin = document.at("origin") == "pin" ? BuildOrigin::kPin : BuildOrigin::kWheel;
    document.at("version").get_to(record.version);
    document.at("wheels").get_to(record.wheels);
    document.at("libraries").get_to(record.libraries);
    document.at("headers_sha256").get_to(record.headers_sha256);
    document.at("bytes").get_to(record.bytes);
    return record;
  } catch (const json::exception&) {
    throw damaged_build(folder, fmt::format("{} is damaged", kBuildRecordFile));
  } catch (const Error&) {
    throw damaged_build(folder, fmt::format("{} can't be read", kBuildRecordFile));
  }
}

void write_build_record(const fs::path& folder, const UnpackedRecord& record) {
  const json document = {{"origin", record.origin == BuildOrigin::kPin ? "pin" : "wheel"},
                         {"version", record.version},
                         {"wheels", record.wheels},
                         {"libraries", record.libraries},
                         {"headers_sha256", record.headers_sha256},
                         {"bytes", record.bytes}};
  write_file(folder / kBuildRecordFile, document.dump(2) + "\n", true);
}

UnpackedRecord checked_build_record(const fs::path& folder) {
  UnpackedRecord record = read_build_record(folder);
  bool renewed = false;
  for (FileRecord& library : record.libraries) {
    const fs::path file = folder / library.path;
    if (!fs::exists(file)) {
      throw damaged_build(folder, fmt::format("{} is missing", library.path));
    }
    FileRecord now = record_without_hash(file);
    if (now.same_file(library)) {
      continue;
    }
    now.sha256 = sha256_file(file, [](std::uint64_t) { throw_if_interrupted(); });
    if (now.sha256 != library.sha256) {
      throw damaged_build(folder,
                          fmt::format("{} has changed since it was unpacked", library.path));
    }
    now.path = library.path;
    library = now;
    renewed = true;
  }
  if (renewed) {
    write_build_record(folder, record);
  }
  return record;
}

std::vector<std::string> changed_files(const fs::path& folder) {
  const UnpackedRecord record = read_build_record(folder);
  std::vector<std::string> lines;
  const auto check = [&](const std::string& path, const std::string& sha256) {
    throw_if_interrupted();
    if (!fs::is_regular_file(folder / path)) {
      lines.push_back(path + " is missing");
    } else if (sha256_file(folder / path, [](std::uint64_t) { throw_if_interrupted(); }) !=
               sha256) {
      lines.push_back(path + " has changed since it was unpacked");
    }
  };
  for (const FileRecord& library : record.libraries) {
    check(library.path, library.sha256);
  }
  check(kHeaderListFile, record.headers_sha256);
  if (!fs::is_regular_file(folder / kHeaderListFile)) {
    return lines;
  }
  std::istringstream list(read_file(folder / kHeaderListFile));
  for (std::string line; std::getline(list, line);) {
    if (line.size() > 66) {  // 64 digits, two spaces, the path: as sha256sum writes it
      check(line.substr(66), line.substr(0, 64));
    }
  }
  return lines;
}

}  // namespace drift
