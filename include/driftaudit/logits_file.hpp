#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driftaudit/step.hpp"

namespace drift {

/// What a report says of the file beside it that holds all logits.
struct LogitsRecord {
  std::string file;  ///< its name, in the report's own folder
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// The name of a report's logits file: "base.json" and "base.json.zst" have "base.logits".
std::filesystem::path logits_path(const std::filesystem::path& report);

/// Writes the logits of all steps of a report, in any order of runs. The file comes into being
/// whole or not at all: see AtomicFile.
///
/// Layout, little-endian: the magic "DRIFTLG1", u32 vocabulary, u32 zero, u64 offset of the index,
/// u64 number of its entries; then one Zstandard frame a step; then the index, an entry a step: u32
/// run (index into runs[]), u32 step (from 1), u64 offset, u64 bytes. A frame holds the step's
/// logits as four planes, the first bytes of all floats, then the second ones and so on: sign and
/// exponent, much alike, then stand together and compress.
class LogitsWriter {
 public:
  LogitsWriter(const std::filesystem::path& path, std::uint32_t vocabulary);
  ~LogitsWriter();
  LogitsWriter(const LogitsWriter&) = delete;
  LogitsWriter& operator=(const LogitsWriter&) = delete;

  void add(std::uint32_t run, std::uint32_t step, Logits logits);
  /// Ends the file.
  LogitsRecord commit();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads a logits file step by step; only its index is kept in memory.
class LogitsFile {
 public:
  /// `folder` is the report's. Errors (usage): missing, another file than the report's (by size or
  /// hash), damaged.
  LogitsFile(const std::filesystem::path& folder, const LogitsRecord& record);
  ~LogitsFile();
  LogitsFile(const LogitsFile&) = delete;
  LogitsFile& operator=(const LogitsFile&) = delete;

  std::uint32_t vocabulary() const;
  bool holds(std::uint32_t run, std::uint32_t step) const;
  /// The logits of a step. Errors (usage): the file doesn't hold it, or what it holds doesn't have
  /// `digest`, the step's own.
  std::vector<float> logits(std::uint32_t run, std::uint32_t step, const std::string& digest) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace drift
