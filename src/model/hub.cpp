#include "driftaudit/hub.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <poll.h>
#include <system_error>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/process.hpp"
#include "driftaudit/trusted_hash.hpp"

#include "model/http.hpp"

namespace drift {
namespace {

constexpr const char* kDefaultEndpoint = "https://huggingface.co";
constexpr long kDecideSeconds = 6;
constexpr int kAttemptsWithoutProgress = 4;
constexpr std::uint64_t kMostUnknownBytes = 64u << 20;

std::string url_of(const HubModel& model, const std::string& file) {
  std::string endpoint = environment_value("HF_ENDPOINT");
  if (endpoint.empty()) {
    endpoint = kDefaultEndpoint;
  }
  while (endpoint.ends_with('/')) {
    endpoint.pop_back();
  }
  return fmt::format("{}/{}/resolve/{}/{}", endpoint, model.repository, model.revision, file);
}

fs::path own_folder(const HubModel& model) {
  return cache_folder() / "models" / model.name / model.revision;
}

/// The hub's own cache folder, as its Python library finds it; empty when there is no home.
fs::path hub_cache() {
  if (const std::string cache = environment_value("HF_HUB_CACHE"); !cache.empty()) {
    return cache;
  }
  if (const std::string home = environment_value("HF_HOME"); !home.empty()) {
    return fs::path(home) / "hub";
  }
  if (const std::string xdg = environment_value("XDG_CACHE_HOME"); !xdg.empty()) {
    return fs::path(xdg) / "huggingface" / "hub";
  }
  const std::string home = environment_value("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "huggingface" / "hub";
}

/// "models--openai-community--gpt2".
std::string cached_name(std::string repository) {
  for (auto at = repository.find('/'); at != std::string::npos; at = repository.find('/', at)) {
    repository.replace(at, 1, "--");
  }
  return "models--" + repository;
}

std::vector<fs::path> places(const HubModel& model) {
  std::vector<fs::path> result = {own_folder(model)};
  const fs::path cache = hub_cache();
  if (cache.empty()) {
    return result;
  }
  std::vector<std::string> repositories = {model.repository};
  repositories.insert(repositories.end(), model.old_repositories.begin(),
                      model.old_repositories.end());
  for (const std::string& repository : repositories) {
    result.push_back(cache / cached_name(repository) / "snapshots" / model.revision);
  }
  return result;
}

bool holds(const fs::path& folder, const HubFile& file, Progress& progress) {
  const fs::path path = folder / file.name;
  std::error_code none;
  if (!fs::is_regular_file(path, none) ||
      (file.bytes != 0 && fs::file_size(path, none) != file.bytes)) {
    return false;
  }
  if (trusted_sha256(path, "", &progress) == file.sha256) {
    return true;
  }
  progress.note(
      fmt::format("{}: not the pinned file (its hash differs): left aside", path.string()));
  return false;
}

bool holds_all(const fs::path& folder, const HubModel& model, Progress& progress) {
  const auto here = [&](const HubFile& file) { return holds(folder, file, progress); };
  std::error_code none;
  return fs::is_directory(folder, none) &&
         std::all_of(model.files.begin(), model.files.end(), here) &&
         std::any_of(model.weights.begin(), model.weights.end(), here);
}

void pause(int milliseconds) {
  pollfd interrupted{interrupt_fd(), POLLIN, 0};
  ::poll(&interrupted, 1, milliseconds);
  throw_if_interrupted();
}

std::uint64_t size_of(const fs::path& file) {
  std::error_code none;
  const std::uintmax_t size = fs::file_size(file, none);
  return none ? 0 : size;
}

/// Brings the file's bytes to `part`, over as many connections as it takes.
HttpReply download(const std::string& url, const HubFile& file, const fs::path& part,
                   Progress& progress) {
  const std::uint64_t most = file.bytes == 0 ? kMostUnknownBytes : file.bytes;
  int attempts = 0;
  for (;;) {
    const std::uint64_t before = size_of(part);
    if (file.bytes != 0 && before == file.bytes) {
      return {200, "", false};
    }
    HttpReply reply =
        http_download(url, part, most, [&](std::uint64_t done) { progress.update(done); });
    if (reply.status == 416 && before > 0) {  // our part is no part of this file
      fs::remove(part);
      reply.transient = true;
    } else if (reply.ok() && file.bytes != 0 && size_of(part) < file.bytes) {
      reply.problem = "the answer ends too early";
      reply.transient = true;
    }
    attempts = size_of(part) > before ? 0 : attempts + 1;
    if (reply.ok() || !reply.transient || attempts == kAttemptsWithoutProgress) {
      return reply;
    }
    pause(250 << attempts);
  }
}

[[noreturn]] void fail(const std::string& url, const std::string& what, const HubModel& model) {
  throw trouble(fmt::format("{}: {}", url, what),
                fmt::format("try again with: driftaudit model fetch {} (what has come is kept); "
                            "--model mini needs no network",
                            model.name));
}

/// Fetches one file into `folder`; false when the hub doesn't offer it.
bool fetch_file(const HubModel& model, const HubFile& file, const fs::path& folder,
                Progress& progress) {
  const fs::path part = folder / (file.name + ".part");
  const std::string url = url_of(model, file.name);
  for (;;) {
    if (file.bytes != 0 && size_of(part) > file.bytes) {
      fs::remove(part);
    }
    const bool resumed = size_of(part) > 0;
    progress.start(fmt::format("fetch {} {}", model.name, file.name), file.bytes,
                   Progress::Unit::kBytes);
    const HttpReply reply = download(url, file, part, progress);
    if (reply.status == 404) {
      fs::remove(part);
      return false;
    }
    if (!reply.ok()) {
      fail(url, reply.describe(), model);
    }
    progress.finish();
    const std::string sha256 = sha256_with_progress(part, progress);
    if (sha256 == file.sha256) {
      break;
    }
    fs::remove(part);
    if (!resumed) {
      throw trouble(
          fmt::format("{}: sha256 is {}, but {} is pinned", url, sha256, file.sha256),
          "something between here and the hub alters files; check HF_ENDPOINT and proxies");
    }
  }
  fs::rename(part, folder / file.name);
  record_sha256(folder / file.name, file.sha256);
  return true;
}

/// Room for what is missing, and for the canonical weights that are made of it.
void check_room(const HubModel& model, const fs::path& folder) {
  std::uint64_t needed = model.weights.front().bytes;
  std::vector<HubFile> files = model.files;
  files.push_back(model.weights.front());
  for (const HubFile& file : files) {
    if (!fs::exists(folder / file.name)) {
      const std::uint64_t there = size_of(folder / (file.name + ".part"));
      needed += file.bytes > there ? file.bytes - there : 0;
    }
  }
  const std::uint64_t available = free_disk_bytes(folder);
  if (available < needed) {
    throw trouble(fmt::format("{}: {} needs {}, but {} are free there", folder.string(), model.name,
                              format_bytes(needed), format_bytes(available)),
                  "free some space, or set DRIFTAUDIT_CACHE to a folder that has it");
  }
}

void fetch_all(const HubModel& model, const fs::path& folder, Progress& progress) {
  check_room(model, folder);
  for (const HubFile& file : model.files) {
    if (!holds(folder, file, progress) && !fetch_file(model, file, folder, progress)) {
      fail(url_of(model, file.name), "HTTP 404", model);
    }
  }
  for (const HubFile& file : model.weights) {
    if (holds(folder, file, progress) || fetch_file(model, file, folder, progress)) {
      return;
    }
  }
  fail(url_of(model, model.weights.front().name), "HTTP 404", model);
}

FileLock wait_for_lock(const HubModel& model, Progress& progress) {
  const fs::path path = own_folder(model).string() + ".lock";
  make_folders(path.parent_path());
  if (auto lock = FileLock::try_lock(path)) {
    return std::move(*lock);
  }
  progress.note(fmt::format("another driftaudit is fetching {}: waiting for it", model.name));
  return FileLock(path);
}

}  // namespace

HubModel gpt2_on_hub() {
  return {
      "gpt2",
      "openai-community/gpt2",
      {"gpt2"},
      "607a30d783dfa663caf39e06633721c8d4cfcd7e",
      {{"model.safetensors", 548105171,
        "248dfc3911869ec493c76e65bf2fcf7f615828b0254c12b473182f0f81d3a707"},
       {"pytorch_model.bin", 548118077,
        "7c5d3f4b8b76583b422fcb9189ad6c89d5d97a094541ce8932dce3ecabde1421"}},
      {{"config.json", 0, "0daed7749b4f02b8f76240d5444551d7b08712dab4d0adb8239c56ba823bb7b4"},
       {"vocab.json", 1042301, "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"},
       {"merges.txt", 456318, "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"}}};
}

std::optional<fs::path> find_hub_model(const HubModel& model, Progress& progress) {
  for (const fs::path& folder : places(model)) {
    if (holds_all(folder, model, progress)) {
      return folder;
    }
  }
  return std::nullopt;
}

std::optional<std::string> hub_out_of_reach(const HubModel& model) {
  const HttpReply reply = http_head(url_of(model, model.files.front().name), kDecideSeconds);
  if (reply.ok()) {
    return std::nullopt;
  }
  return reply.describe();
}

bool hub_is_off() {
  std::string value = environment_value("HF_HUB_OFFLINE");
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  constexpr std::array<const char*, 4> kYes = {"1", "ON", "YES", "TRUE"};
  return std::find(kYes.begin(), kYes.end(), value) != kYes.end();
}

fs::path fetch_hub_model(const HubModel& model, bool offline, Progress& progress) {
  if (const auto found = find_hub_model(model, progress)) {
    return *found;
  }
  if (offline || hub_is_off()) {
    throw trouble(fmt::format("{} isn't in the cache, and {} forbids to fetch it", model.name,
                              offline ? "--offline" : "HF_HUB_OFFLINE"),
                  "fetch it once while online: driftaudit model fetch " + model.name);
  }
  fs::path folder = own_folder(model);
  const FileLock lock = wait_for_lock(model, progress);
  make_folders(folder);
  fetch_all(model, folder, progress);
  return folder;
}

}  // namespace drift
