#include "builds/records.hpp"

#include <sstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/hash.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/trusted_hash.hpp"

#include "builds/elf.hpp"

namespace drift {

using nlohmann::json;

// NOLINTNEXTLINE(readability-identifier-naming): the names that nlohmann/json looks for
static void to_json(json& out, const FileRecord& record) {
  out = {{"path", record.path}, {"identity", record.identity}, {"sha256", record.sha256}};
}

static void from_json(const json& in, FileRecord& record) {
  in.at("path").get_to(record.path);
  record.identity = in.value("identity", "");  // without one, the file is hashed
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

Error damaged_build(const fs::path& folder, const std::string& what) {
  return trouble(
      fmt::format("{}: {}", folder.string(), what),
      "remove the build and add it anew: driftaudit builds remove, driftaudit builds add");
}

}  // namespace

std::string build_id_of(const fs::path& file) {
  try {
    return read_elf(file).build_id;
  } catch (const Error&) {  // a damaged library, whose hash will tell
    return "";
  }
}

std::string library_identity(const fs::path& library) {
  return file_identity(library, build_id_of(library));
}

std::string library_sha256(const fs::path& library) {
  return trusted_sha256(library, build_id_of(library));
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
    const std::string identity = library_identity(file);
    if (identity == library.identity) {
      continue;
    }
    if (sha256_file(file) != library.sha256) {
      throw damaged_build(folder,
                          fmt::format("{} has changed since it was unpacked", library.path));
    }
    library.identity = identity;
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
    } else if (sha256_file(folder / path) != sha256) {
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
