#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "driftaudit/attention.hpp"
#include "driftaudit/bisect_record.hpp"
#include "driftaudit/comparison.hpp"
#include "driftaudit/conditions.hpp"
#include "driftaudit/doubtful_settings.hpp"
#include "driftaudit/gates.hpp"
#include "driftaudit/localize_record.hpp"
#include "driftaudit/logits_file.hpp"
#include "driftaudit/rescore_record.hpp"
#include "driftaudit/reveal_record.hpp"
#include "driftaudit/step.hpp"
#include "driftaudit/study_record.hpp"
#include "driftaudit/sweep_record.hpp"

namespace drift {

struct HostRecord {
  std::string cpu;     ///< "AMD EPYC 7713"
  std::string os;      ///< "Debian GNU/Linux 12"
  std::string kernel;  ///< "Linux 6.1.0"
  std::uint32_t cores = 0;
  std::vector<std::string> cpu_flags;  ///< those that kernels choose by: avx2, avx512f, amx_bf16, …
};

/// This machine.
HostRecord this_host();

/// The present time, as a report says when it was made.
std::string utc_now();

/// Where and when a side ran that was taken from a saved report.
struct RecordedBuild {
  std::string report;   ///< the file, as it was named: "base.json", "report.json:B"
  std::string tool;     ///< that wrote it
  std::string created;  ///< RFC 3339, UTC
  HostRecord host;
};

/// One side as it ran.
struct BuildRecord {
  std::string label;
  std::string torch;
  std::string torch_git;  ///< empty: unknown
  std::string libtorch_sha256;
  std::string cpu_capability;
  std::string blas;
  std::uint32_t threads = 0;  ///< ATen's intra-op threads
  std::optional<std::uint32_t> blas_threads;
  std::optional<std::string> blas_dispatch;  ///< which of its kernels the BLAS goes for: "avx2"
  std::string string_abi;                    ///< "old", "new"
  std::map<std::string, std::string> knobs;  ///< environment variables given to the runner
  std::vector<DoubtfulSetting> doubtful_settings;  ///< of these, as the runner's libraries answered
  Conditions conditions;
  SideAttention attention;
  std::optional<bool> repeatable;  ///< null: not checked
  double tokens_per_second = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t peak_address_bytes = 0;   ///< of the address space; 0: not known
  std::string log;                        ///< the end of the runner's stderr, or empty
  std::optional<RecordedBuild> recorded;  ///< of a side that was taken from a saved report
};

/// One prompt in one mode on one side.
struct Run {
  std::uint32_t build = 0;  ///< index into builds
  std::string mode;         ///< "greedy", "sample", "score"
  bool cache = true;
  std::uint32_t prompt = 0;  ///< from 1
  std::string prompt_text;
  std::vector<std::int32_t> prompt_ids;
  std::string text;
  Stop stopped = Stop::kLength;
  std::vector<Step> steps;
};

struct ModelRecord {
  std::string name;
  std::string why;
  std::string source;
  std::string digest;
  std::string source_dtype;
  std::uint32_t n_layer = 0, n_embd = 0, n_head = 0, n_positions = 0, vocab_size = 0;
  std::uint64_t parameters = 0;
  /// Which output head was run: "tied", the token embedding, or "stored", the checkpoint's own.
  /// Empty: a report that doesn't say.
  std::string output_head;
  bool output_head_asked = false;     ///< it was chosen by --output-head
  std::uint64_t head_differing = 0;   ///< elements of the stored head that the embedding's aren't
  std::vector<std::string> warnings;  ///< what makes answers other than some transformers'
};

struct SettingsRecord {
  std::vector<std::string> modes;
  std::uint32_t new_tokens = 60;
  std::uint32_t top_k = 50;
  std::uint64_t seed = 1234;
  double temperature = 1;
  bool ignore_eos = false;
  bool cache = true;
  std::uint32_t batch = 1;             ///< prompts that run together, padded on the left
  std::string sampler = "torch";       ///< or "fixed"
  std::string on_divergence = "stop";  ///< or "force"
  std::string text;                    ///< path of the text that was scored, or empty
  std::uint32_t keep_top = 64;
  std::string dtype = "float32";  ///< what the model computes in; "bfloat16", "float16"
};

/// The document that all commands write and read: see docs/report.md and the schema file.
struct Report {
  std::string kind = "audit";
  std::string tool;     ///< "driftaudit 0.1.0"
  std::string created;  ///< RFC 3339, UTC
  HostRecord host;
  ModelRecord model;
  std::string prompts;  ///< the set's name
  SettingsRecord settings;
  std::vector<BuildRecord> builds;
  std::vector<Run> runs;
  std::map<std::int32_t, std::string> tokens;  ///< bytes of each used id
  /// What changed steps were compared on: "all" logits, or "top64" where of some only the kept ones
  /// were at hand.
  std::string basis = "all";
  std::vector<PromptComparison> comparison;
  Summary summary;
  std::vector<std::pair<std::string, Summary>> by_mode;
  std::optional<BisectRecord> bisect;  ///< of kind "bisect", which has no comparison and no summary
  std::optional<LocalizeRecord> localize;  ///< of kind "localize", which has neither as well
  /// Of kind "reveal", which ran no model: it has no runs, and none of what is about them either.
  std::optional<RevealRecord> reveal;
  std::optional<SweepRecord> sweep;      ///< of kind "sweep", likewise
  std::optional<RescoreRecord> rescore;  ///< of kind "rescore", likewise
  std::optional<StudyRecord> study;      ///< of kind "study", likewise
  std::vector<std::string> warnings;     ///< what may explain a change beside the builds
  std::vector<GateRecord> gates;         ///< those that were asked for
  std::optional<LogitsRecord> logits;    ///< the file beside the report that holds all logits
};

/// Writes the report atomically, streaming its runs: memory beyond the report itself is one step's.
/// A name that ends in ".zst" is written with Zstandard. Errors (usage): the path can't be written.
void write_report(const Report& report, const std::filesystem::path& path);

/// The same document as a string.
std::string report_json(const Report& report);

/// Reads a report back, also one that is named ".zst". Errors (usage) with the file and a line or
/// JSON pointer: not JSON, another or a newer schema, a key missing, twice or of the wrong type, a
/// number out of range, a step whose figures contradict each other or its checksum.
Report read_report(const std::filesystem::path& path);

/// The terminal's view: heading, a table per mode, the verdict, what to do next. `colour`: changed
/// tokens are marked with ANSI colours. `width`: columns of the terminal.
std::string report_table(const Report& report, bool colour, std::size_t width);

/// The same content in Markdown, for a ticket or a pull request; ends with a newline.
std::string report_markdown(const Report& report);

/// The verdict in one plain sentence: what changed and how close the nearest token came to
/// flipping.
std::string verdict_sentence(const Report& report);

}  // namespace drift
