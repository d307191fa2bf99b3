#include "driftaudit/saved_side.hpp"

#include <algorithm>
#include <filesystem>
#include <future>

#include <fmt/core.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

struct Named {
  std::string file;
  char side = 0;  // 'A', 'B', or none was named
};

Named split(const std::string& name) {
  if (name.size() > 2 && name[name.size() - 2] == ':' &&
      (name.back() == 'A' || name.back() == 'B')) {
    return {name.substr(0, name.size() - 2), name.back()};
  }
  return {name, 0};
}

std::uint32_t choose_build(const Named& named, const Report& report) {
  const std::size_t sides = report.builds.size();
  if (sides == 0 || report.runs.empty()) {
    throw usage_error(fmt::format("{}: a report of kind {} without runs can't be a side",
                                  named.file, report.kind),
                      "name what driftaudit record or audit wrote");
  }
  if (named.side == 0 && sides > 1) {
    throw usage_error(fmt::format("{}: holds {} sides", named.file, sides),
                      fmt::format("name one: {0}:A or {0}:B", named.file));
  }
  const auto build = static_cast<std::uint32_t>(named.side == 'B' ? 1 : 0);
  if (build >= sides) {
    throw usage_error(fmt::format("{}: has no side {}", named.file, named.side),
                      fmt::format("it holds one side: {}", named.file));
  }
  return build;
}

bool holds_all(const LogitsFile& logits, const Report& report, std::uint32_t build) {
  for (std::size_t r = 0; r < report.runs.size(); ++r) {
    for (std::size_t s = 0; report.runs[r].build == build && s < report.runs[r].steps.size(); ++s) {
      if (!logits.holds(static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(s + 1))) {
        return false;
      }
    }
  }
  return true;
}

/// Null where there is none: the kept logits then have to do.
std::shared_ptr<const LogitsFile> open_logits(const std::string& file, const Report& report,
                                              std::uint32_t build, Progress& progress) {
  if (!report.logits) {
    return nullptr;
  }
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (!std::filesystem::exists(folder / report.logits->file)) {
    progress.note(fmt::format("note: {} isn't beside {}: figures rest on the kept logits",
                              report.logits->file, file));
    return nullptr;
  }
  auto logits = std::make_shared<const LogitsFile>(folder, *report.logits);
  if (logits->vocabulary() != report.model.vocab_size) {
    throw usage_error(fmt::format("{}: of {} logits a step, where the report's model has {}",
                                  (folder / report.logits->file).string(), logits->vocabulary(),
                                  report.model.vocab_size));
  }
  return holds_all(*logits, report, build) ? logits : nullptr;
}

/// In order of their numbers. `scored`: those of the mode score, or those of the others.
std::vector<Prompt> prompts_of(const SavedSide& side, bool scored) {
  std::map<std::uint32_t, Prompt> prompts;
  for (const auto& [key, index] : side.runs) {
    const Run& run = side.report->runs[index];
    if ((run.mode == "score") == scored) {
      prompts.emplace(key.second, Prompt{run.prompt_text, run.prompt_ids});
    }
  }
  std::vector<Prompt> in_order;
  in_order.reserve(prompts.size());
  for (auto& [number, prompt] : prompts) {
    in_order.push_back(std::move(prompt));
  }
  return in_order;
}

/// Errors (usage): a prompt without tokens, a run that stands twice, a prompt that is missing.
void index_runs(const std::string& file, SavedSide& side) {
  const std::vector<Run>& runs = side.report->runs;
  std::map<std::string, std::uint32_t> highest;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].build != side.build) {
      continue;
    }
    if (runs[i].prompt_ids.empty()) {
      throw usage_error(fmt::format("{}: /runs/{}: a prompt without tokens", file, i));
    }
    if (!side.runs.emplace(std::make_pair(runs[i].mode, runs[i].prompt), i).second) {
      throw usage_error(fmt::format("{}: /runs/{}: prompt {} stands twice in mode {}", file, i,
                                    runs[i].prompt, runs[i].mode));
    }
    std::uint32_t& most = highest[runs[i].mode];
    most = std::max(most, runs[i].prompt);
  }
  for (const auto& [mode, most] : highest) {
    for (std::uint32_t prompt = 1; prompt <= most; ++prompt) {
      if (!side.runs.contains({mode, prompt})) {
        throw usage_error(fmt::format("{}: prompt {} has no run in mode {}", file, prompt, mode));
      }
    }
  }
}

SavedSide side_of(const std::string& name, Report&& read, Progress& progress) {
  const Named named = split(name);
  auto report = std::make_shared<const Report>(std::move(read));
  SavedSide side;
  side.name = name;
  side.build = choose_build(named, *report);
  side.logits = open_logits(named.file, *report, side.build, progress);
  side.report = std::move(report);
  index_runs(named.file, side);
  return side;
}

}  // namespace

RecordedBuild SavedSide::recorded() const {
  RecordedBuild recorded =
      record().recorded.value_or(RecordedBuild{"", report->tool, report->created, report->host});
  recorded.report = name;
  return recorded;
}

PromptSet SavedSide::prompts() const { return {report->prompts, prompts_of(*this, false)}; }

std::vector<Prompt> SavedSide::text() const { return prompts_of(*this, true); }

bool names_report(const std::string& side) {
  const std::string file = split(side).file;
  return file.ends_with(".json") || file.ends_with(".json.zst");
}

std::string report_file(const std::string& side) { return split(side).file; }

SavedSide open_saved_side(const std::string& name, Progress& progress) {
  return side_of(name, read_report(report_file(name)), progress);
}

std::pair<SavedSide, SavedSide> open_saved_sides(const std::string& a, const std::string& b,
                                                 Progress& progress) {
  // Reading is most of a comparison's time, and both can be read at once.
  std::future<Report> second =
      std::async(std::launch::async, [&] { return read_report(report_file(b)); });
  SavedSide first = open_saved_side(a, progress);
  return {std::move(first), side_of(b, second.get(), progress)};
}

}  // namespace drift
