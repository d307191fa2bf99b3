#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "driftaudit/report.hpp"

namespace drift {

/// What the terminal and the Markdown view both show of a report, in words.
class View {
 public:
  explicit View(const Report& report);

  const Report& report() const { return report_; }
  /// The run of a side, or null.
  const Run* run(std::uint32_t build, const std::string& mode, std::uint32_t prompt) const;

  /// "mini (the hub is out of reach) · 4 layers · 4.3 M parameters · 8 prompts × 60 tokens".
  std::string model_line() const;
  /// Modes that have comparisons, in their order.
  std::vector<std::string> modes() const;
  /// The comparisons of one mode that a view has room for: all, or those of changed tokens and then
  /// of the smallest gaps; in the order of prompts.
  std::vector<const PromptComparison*> shown(const std::string& mode) const;
  std::size_t count(const std::string& mode) const;

  /// The prompt's text on one line.
  std::string prompt_text(const PromptComparison& prompt) const;
  std::size_t prompt_tokens(const PromptComparison& prompt) const;
  /// Why its runs ended, where that isn't the number of tokens asked for: "eos", "A eos, B length".
  std::string ending(const PromptComparison& prompt) const;
  /// A token's bytes, or its id in angle brackets where they aren't known.
  std::string token(std::int32_t id) const;

 private:
  const Report& report_;
  std::map<std::tuple<std::uint32_t, std::string, std::uint32_t>, const Run*> runs_;
};

/// The model's line and a line a side.
std::string report_heading(const View& view);

/// The release a build is of: "1.10.1" of "1.10.1+cu102".
std::string plain_version(const std::string& torch);

/// ATen's effective capability as views write it: "avx2".
std::string kernels_name(const BuildRecord& build);

/// Whether a report of a model says which attention its sides computed: not where all are builds
/// for which there is only the eager one.
bool shows_attention(const Report& report);

/// "torch 1.10.1", "avx2", "MKL 2020.0", "1 thread", "january-2022", "NAME=VALUE …"; after the
/// threads `attention`, unless it is empty.
std::vector<std::string> side_facts(const BuildRecord& build, const std::string& attention = "");

/// "sdpa attention", of a side in a report that shows it; else empty.
std::string attention_fact(const Report& report, const BuildRecord& build);

/// "step 4", or a dash.
std::string from_step(const std::optional<std::uint32_t>& step);

/// "A 23.4568 · B 23.4569", the percentiles of KL, how often the top token agrees: name and value.
std::vector<std::pair<std::string, std::string>> score_figures(const Summary& summary);

}  // namespace drift
