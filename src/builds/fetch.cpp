#include "builds/fetch.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/core.h>

#include "driftaudit/file.hpp"
#include "driftaudit/remove_tree.hpp"

#include "builds/cache.hpp"
#include "builds/pip.hpp"

namespace drift {
namespace {

/// The last three parts of a wheel's name: python tag, ABI tag, platform tag.
std::vector<std::string> tags_of(const std::string& wheel_file) {
  std::vector<std::string> parts;
  std::istringstream name(fs::path(wheel_file).stem().string());
  for (std::string part; std::getline(name, part, '-');) {
    parts.push_back(part);
  }
  return {parts.end() - 3, parts.end()};
}

/// The platforms of all wheels: "a.b" in a wheel's name stands for two.
std::set<std::string> platforms_of(const std::vector<PinnedWheel>& wheels) {
  std::set<std::string> platforms;
  for (const PinnedWheel& wheel : wheels) {
    std::istringstream tags(tags_of(wheel.file)[2]);
    for (std::string tag; std::getline(tags, tag, '.');) {
      platforms.insert(tag);
    }
  }
  return platforms;
}

std::string requirements(const std::vector<PinnedWheel>& wheels) {
  std::string text;
  for (const PinnedWheel& wheel : wheels) {
    text += fmt::format("{}=={} --hash=sha256:{}\n", wheel.package, wheel.version, wheel.sha256);
  }
  return text;
}

Command download_command(const std::vector<PinnedWheel>& wheels, const std::string& python_tag,
                         const fs::path& folder) {
  const std::string digits = python_tag.substr(2);  // "39" of "cp39", "311" of "cp311"
  std::vector<std::string> arguments = {
      "download",
      "--quiet",
      "--no-input",
      "--disable-pip-version-check",
      "--progress-bar=off",
      "--require-hashes",
      "--no-deps",
      "--no-cache-dir",
      "--only-binary=:all:",
      "--implementation=cp",
      "--python-version=" + digits.substr(0, 1) + "." + digits.substr(1),
      "--abi=" + python_tag};
  for (const std::string& platform : platforms_of(wheels)) {
    arguments.push_back("--platform=" + platform);
  }
  arguments.insert(arguments.end(), {"--dest", (folder / "wheels").string(), "--requirement",
                                     (folder / "requirements.txt").string()});
  Command command = pip_command(arguments);
  (*command.environment)["TMPDIR"] = (folder / "pip").string();
  return command;
}

bool contains_any(const std::string& text, std::initializer_list<const char*> phrases) {
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](const char* phrase) { return text.find(phrase) != std::string::npos; });
}

std::string last_error_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("ERROR: ") || (last.empty() && !line.empty())) {
      last = line.starts_with("ERROR: ") ? line.substr(7) : line;
    }
  }
  return last.empty() ? "it said nothing" : last;
}

/// The wheel whose hash was expected, as pip's report of a mismatch names it.
Error hash_mismatch(const std::string& text, const std::string& what) {
  std::smatch match;
  const std::string got =
      std::regex_search(text, match, std::regex("Got\\s+([0-9a-f]{64})")) ? match[1].str() : "";
  const std::string expected =
      std::regex_search(text, match, std::regex("Expected sha256 ([0-9a-f]{64})")) ? match[1].str()
                                                                                   : "";
  std::string which = what;
  if (std::regex_search(text, match, std::regex("\\n\\s+([A-Za-z0-9_.=-]+==[0-9][^ ]*) from"))) {
    which = match[1].str();
  }
  return trouble(
      fmt::format("{}: hash mismatch: sha256 {} expected, {} got", which,
                  expected.empty() ? "of the pin" : expected, got.empty() ? "another" : got),
      "the download is damaged or not the file that the pin means; try again, and check "
      "pip's mirror (pip config list)");
}

}  // namespace

Error pip_failure(const ProcessResult& result, const std::string& what) {
  const std::string text = result.err + result.out;
  if (contains_any(text, {"DO NOT MATCH THE HASHES"})) {
    return hash_mismatch(text, what);
  }
  if (contains_any(text, {"No space left on device", "Errno 28", "Disk quota exceeded"})) {
    return trouble(fmt::format("{}: the disk is full", what),
                   "free some space, or set DRIFTAUDIT_CACHE to a folder that has it");
  }
  if (contains_any(text, {"No module named pip"})) {
    return trouble(fmt::format("{}: python3 has no pip", what), "apt-get install python3-pip");
  }
  if (contains_any(text, {"CERTIFICATE_VERIFY_FAILED", "SSLError"})) {
    return trouble(fmt::format("{}: pip doesn't trust the package index's certificate", what),
                   "check the system's ca-certificates, or name the certificates in PIP_CERT");
  }
  if (contains_any(text, {"Temporary failure in name resolution", "Name or service not known",
                          "Failed to establish a new connection", "ConnectTimeoutError",
                          "Network is unreachable", "Connection refused", "ReadTimeoutError",
                          "Connection aborted", "ConnectionResetError", "ProxyError", "Max retries",
                          "Retrying (Retry(", "Read timed out", "NewConnectionError",
                          "NameResolutionError"})) {
    return trouble(fmt::format("{}: no network: pip reaches no package index", what),
                   "check the connection, or pip's proxy and mirror (pip config list); a wheel "
                   "file on disk works as a side too");
  }
  if (contains_any(text, {"No matching distribution found"})) {
    return trouble(fmt::format("{}: pip finds no such wheel", what),
                   "check pip's mirror (pip config list); a wheel file on disk works as a side "
                   "too");
  }
  return trouble(
      fmt::format("{}: pip: {} ({})", what, last_error_line(text), result.end.describe()));
}

std::uint64_t fetch_bytes(const std::vector<PinnedWheel>& wheels) {
  std::uint64_t total = 0;
  for (const PinnedWheel& wheel : wheels) {
    total += wheel.size;
  }
  return 2 * total;
}

std::vector<fs::path> fetch_wheels(const std::vector<PinnedWheel>& wheels,
                                   const std::string& python_tag, const fs::path& folder,
                                   Progress& progress) {
  const std::string what = wheels.at(0).package + " " + wheels.at(0).version;
  if (!find_program("python3")) {
    throw trouble(fmt::format("{}: python3 is not in PATH; its pip fetches the wheels", what),
                  "apt-get install python3 python3-pip");
  }
  const std::uint64_t total = fetch_bytes(wheels) / 2;
  make_folders(folder / "wheels");
  make_folders(folder / "pip");
  write_file(folder / "requirements.txt", requirements(wheels), true);
  progress.start(what + ": fetching", total, Progress::Unit::kBytes);
  const ProcessResult result = run_process(download_command(wheels, python_tag, folder), {}, [&] {
    progress.update(std::min(total, folder_bytes(folder)));
  });
  if (!result.end.ok()) {
    throw pip_failure(result, what);
  }
  progress.update(total);
  progress.finish();
  std::vector<fs::path> files;
  for (const PinnedWheel& wheel : wheels) {
    files.push_back(folder / "wheels" / wheel.file);
    if (!fs::is_regular_file(files.back()) || fs::file_size(files.back()) != wheel.size) {
      throw trouble(fmt::format("{}: pip left no {} of {} bytes", what, wheel.file, wheel.size),
                    "check the pin's file name and size in venvs/");
    }
  }
  remove_tree(folder / "pip");
  return files;
}

}  // namespace drift
