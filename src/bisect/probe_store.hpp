#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/attention.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/file.hpp"
#include "driftaudit/progress.hpp"
#include "driftaudit/report.hpp"

namespace drift {

/// What an interrupted bisection or sweep has come to know, in cache_folder()/<kind>/<key>/, so
/// that the same command goes on from there. Held by one process at a time. Errors (trouble): the
/// cache can't be written.
class ProbeStore {
 public:
  /// `kind`: "bisect", "sweep". `key` is a digest of the whole question. Waits while another
  /// process holds it. What others of the kind have left for 30 days goes.
  ProbeStore(const std::string& kind, const std::string& key, Progress& progress);

  /// Where answers and what belongs to them lie.
  const fs::path& folder() const { return folder_; }
  /// Where the logits of an answer may lie.
  fs::path logits(const std::string& name) const;

  /// How many answers it holds.
  std::size_t kept() const;
  /// Says how many, if there are any; `noun` is what one of them is called.
  void note_kept(const std::string& noun, Progress& progress) const;

  /// An answer by its name; nothing when there is none, or a damaged one, or its
  /// logits are.
  std::optional<Report> answer(const std::string& name) const;
  void keep_answer(const std::string& name, const Report& report);

  /// Why a build couldn't be had.
  std::optional<Error> failure(const std::string& name) const;
  void keep_failure(const std::string& name, const Error& error);

  /// Whether a build is this bisection's own to remove; kept before it is installed, so that it is
  /// known whenever the process is killed.
  bool owns(const std::string& name) const;
  void keep_owned(const std::string& name);
  void drop_owned(const std::string& name);

  /// Removes everything: the bisection is done.
  void remove();

 private:
  fs::path path(const char* kind, const std::string& name) const;

  FileLock lock_;
  fs::path folder_;
};

/// What answers depend on besides the question and the builds: the program, the runners' sources,
/// threads and variables, each build's attention, this processor; as text.
std::string running_circumstances(const std::string& tool, std::uint32_t threads,
                                  const Conditions& conditions,
                                  const std::map<std::string, std::string>& knobs,
                                  const std::vector<SideAttention>& attention);

/// Throws where a failure may come from a full disk rather than from what ran.
void throw_if_disk_full(const Error& failure);

/// An interruption of work whose answers are kept.
[[noreturn]] void throw_resumable(const Error& interruption);

/// Does such work: what interrupts it is thrown by throw_resumable().
template <class Work>
auto resumable(const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.is_interruption()) {
      throw_resumable(error);
    }
    throw;
  }
}

}  // namespace drift
