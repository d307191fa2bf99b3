#include "bisect/probe_store.hpp"

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "driftaudit/hash.hpp"
#include "driftaudit/logits_file.hpp"
#include "driftaudit/paths.hpp"
#include "driftaudit/remove_tree.hpp"

#include "base/json_record.hpp"
#include "base/transformers_calls.hpp"
#include "builds/cache.hpp"
#include "builds/runner_cache.hpp"

namespace drift {
namespace {

using nlohmann::json;

constexpr const char* kAnswer = "answer";
constexpr const char* kFailure = "failure";
constexpr const char* kOwned = "owned";

fs::path lock_path(const std::string& kind, const std::string& key) {
  return cache_part("locks") / (kind + "-" + key + ".lock");
}

FileLock lock_question(const std::string& kind, const std::string& key, Progress& progress) {
  const fs::path path = lock_path(kind, key);
  if (auto lock = FileLock::try_lock(path)) {
    return std::move(*lock);
  }
  progress.note("another process works on the same " + kind + "; waiting for it");
  return FileLock(path);
}

/// Removes what others of the kind have left that nobody went on with.
void sweep_forgotten(const std::string& kind, const fs::path& folder) {
  constexpr auto kForgotten = std::chrono::hours(30 * 24);
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!is_key(name) || !fs::is_directory(entry.symlink_status(ignored))) {
      continue;  // not ours
    }
    const auto age = fs::file_time_type::clock::now() - entry.last_write_time(ignored);
    if (age > kForgotten && FileLock::try_lock(lock_path(kind, name))) {
      remove_tree(entry.path());
    }
  }
}

}  // namespace

ProbeStore::ProbeStore(const std::string& kind, const std::string& key, Progress& progress)
    : lock_(lock_question(kind, key, progress)), folder_(cache_part(kind) / key) {
  sweep_forgotten(kind, folder_.parent_path());
  make_folders(folder_);
}

fs::path ProbeStore::logits(const std::string& name) const {
  return path("logits", name).replace_extension();
}

fs::path ProbeStore::path(const char* kind, const std::string& name) const {
  return folder_ / (std::string(kind) + "-" + sha256_hex(name).substr(0, 24) + ".json");
}

std::size_t ProbeStore::kept() const {
  std::size_t count = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_)) {
    count += entry.path().filename().string().starts_with(kAnswer) ? 1 : 0;
  }
  return count;
}

void ProbeStore::note_kept(const std::string& noun, Progress& progress) const {
  if (const std::size_t count = kept(); count > 0) {
    progress.note(fmt::format("going on where an earlier run stopped: {} {}{} at hand", count, noun,
                              count == 1 ? " is" : "s are"));
  }
}

std::optional<Report> ProbeStore::answer(const std::string& name) const {
  const fs::path file = path(kAnswer, name);
  if (!fs::exists(file)) {
    return std::nullopt;
  }
  try {
    Report report = read_report(file);
    if (report.logits) {
      const LogitsFile check(folder_, *report.logits);
    }
    return report;
  } catch (const Error&) {
    return std::nullopt;  // damaged: it is asked again, and replaced
  }
}

void ProbeStore::keep_answer(const std::string& name, const Report& report) {
  write_file(path(kAnswer, name), report_json(report), true);
}

std::optional<Error> ProbeStore::failure(const std::string& name) const {
  return from_json_record(path(kFailure, name), [](const json& document) {
    return trouble(document.at("what").get<std::string>(), document.at("hint").get<std::string>());
  });
}

void ProbeStore::keep_failure(const std::string& name, const Error& error) {
  const json document = {{"what", error.what()}, {"hint", error.hint()}};
  write_file(path(kFailure, name),
             document.dump(2, ' ', false, json::error_handler_t::replace) + "\n", true);
}

bool ProbeStore::owns(const std::string& name) const { return fs::exists(path(kOwned, name)); }

void ProbeStore::keep_owned(const std::string& name) {
  write_file(path(kOwned, name),
             json(name).dump(2, ' ', false, json::error_handler_t::replace) + "\n", true);
}

void ProbeStore::drop_owned(const std::string& name) { fs::remove(path(kOwned, name)); }

void ProbeStore::remove() { remove_tree(folder_); }

std::string running_circumstances(const std::string& tool, std::uint32_t threads,
                                  const Conditions& conditions,
                                  const std::map<std::string, std::string>& knobs,
                                  const std::vector<SideAttention>& attention) {
  const HostRecord host = this_host();
  std::string text =
      fmt::format("{}\nrunner {}\ncpu {}\nflags {}\nthreads {}\n", tool, runner_sources_sha256(),
                  host.cpu, fmt::join(host.cpu_flags, " "), threads);
  for (const auto& [name, value] : unusual_conditions(conditions)) {
    text += fmt::format("condition {} {}\n", name, value);
  }
  for (const auto& [name, value] : knobs) {
    text += fmt::format("{}={}\n", name, value);
  }
  for (const SideAttention& side : attention) {
    text += fmt::format("attention {} {}\n", attention_words(side),
                        asks_last_position(side) ? "last position" : "all positions");
  }
  return text;
}

void throw_if_disk_full(const Error& failure) {
  constexpr std::uint64_t kLeastFree = std::uint64_t{64} << 20;
  if (free_disk_bytes(cache_folder()) < kLeastFree) {
    throw trouble(failure.what(),
                  "the disk is full; free some space, and the same command goes on");
  }
}

void throw_resumable(const Error& interruption) {
  throw Error(interruption.status(), interruption.what(), "the same command goes on from here");
}

}  // namespace drift
