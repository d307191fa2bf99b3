#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/core.h>

#include "driftaudit/file.hpp"
#include "driftaudit/report.hpp"
#include "driftaudit/zstd.hpp"

#include "report/field_reader.hpp"
#include "report/found_fields.hpp"
#include "report/json_value.hpp"
#include "report/report_fields.hpp"
#include "report/rescore_check.hpp"
#include "report/rescore_fields.hpp"
#include "report/reveal_check.hpp"
#include "report/study_check.hpp"
#include "report/study_fields.hpp"
#include "report/summary_check.hpp"
#include "report/sweep_check.hpp"
#include "report/sweep_fields.hpp"
#include "report/utf8.hpp"

namespace drift {
namespace {

using Kind = JsonValue::Kind;

/// Whether y may follow x among the highest logits: see Step::top.
bool falls(const TokenLogit& x, const TokenLogit& y) {
  if (std::isnan(x.logit) || std::isnan(y.logit)) {
    return std::isnan(y.logit) && (!std::isnan(x.logit) || x.id < y.id);
  }
  return x.logit != y.logit ? x.logit > y.logit : x.id < y.id;
}

void check_top(const Place& place, const Step& step) {
  const Place top(place, "top");
  if (step.top.empty()) {
    throw top.error("empty");
  }
  for (std::size_t i = 1; i < step.top.size(); ++i) {
    if (!falls(step.top[i - 1], step.top[i])) {
      throw Place(top, i).error("out of order: the highest logits fall, equal ones by id");
    }
  }
  if (step.top.size() < 2) {
    return;
  }
  const double gap = double{step.top[0].logit} - double{step.top[1].logit};
  if (gap != step.gap && !(std::isnan(gap) && std::isnan(step.gap))) {
    throw Place(place, "gap").error("not the difference of the two highest logits");
  }
}

Step step_from(const Place& place, const JsonValue& value) {
  Step step;
  take_object(place, value, step);
  check_top(place, step);
  return step;
}

void check_schema(const Place& root, const std::string& schema) {
  if (schema == "driftaudit/1") {
    return;
  }
  const std::string what =
      fmt::format("its schema is \"{}\"; this program reads driftaudit/1", visible(schema));
  if (schema.starts_with("driftaudit/")) {
    throw root.error(what, "the report comes from a newer driftaudit; update this one");
  }
  throw root.error(what, "a report is what --out writes");
}

/// All of a report but its steps, which came while the file was read.
class ReportReader {
 public:
  explicit ReportReader(const std::filesystem::path& path) : root_(path.string()) {}

  Report read(std::string_view text) {
    JsonEvents events;
    events.on_schema = [&](const std::string& schema) { check_schema(root_, schema); };
    events.on_step = [&](std::size_t run, std::size_t index, const JsonValue& value) {
      add_step(run, index, value);
    };
    const JsonValue document = read_json(root_.file(), text, events);
    if (document.kind != Kind::kObject || document.find("schema") == nullptr) {
      throw root_.error("not a report: it has no schema", "a report is what --out writes");
    }
    return take_report(document);
  }

 private:
  void add_step(std::size_t run, std::size_t index, const JsonValue& value) {
    const Place runs(root_, "runs");
    const Place run_place(runs, run);
    const Place steps_place(run_place, "steps");
    steps_.resize(std::max(steps_.size(), run + 1));
    steps_[run].push_back(step_from(Place(steps_place, index), value));
  }

  Report take_report(const JsonValue& document) {
    Report report;
    FieldReader reader(root_, document);
    std::string schema;
    reader("schema", schema);
    reader.one_of("kind", report.kind,
                  {"audit", "record", "compare", "bisect", "localize", "reveal", "sweep", "rescore",
                   "study"});
    reader("tool", report.tool);
    reader("created", report.created);
    reader("host", report.host);
    reader("builds", report.builds);
    if (report.kind == "reveal") {
      take_reveal(reader.required("reveal"), report);
    } else {
      take_answers(reader, report);
    }
    reader.if_there("warnings", report.warnings);
    reader.if_there("gates", report.gates);
    reader.if_set("logits", report.logits);
    check_logits(report);
    reader.done();
    return report;
  }

  /// What a model was asked and what it answered.
  void take_answers(FieldReader& reader, Report& report) {
    reader("model", report.model);
    reader("prompts", report.prompts);
    reader("settings", report.settings);
    check_modes(report.settings.modes);
    take_runs(reader.required("runs"), report);
    take_tokens(reader.required("tokens"), report);
    if (report.kind == "bisect") {
      take_bisect(reader, report.bisect.emplace());
    } else if (report.kind == "localize") {
      reader("localize", report.localize.emplace());
      if (const JsonValue* reveal = reader.find("reveal")) {
        take_reveal(*reveal, report);
      }
    } else if (report.kind == "sweep") {
      reader("sweep", report.sweep.emplace());
      check_sweep(root_, report);
    } else if (report.kind == "rescore") {
      take_rescore(reader.required("rescore"), report);
    } else if (report.kind == "study") {
      reader("study", report.study.emplace());
      check_study(root_, report);
    } else {
      take_comparison(reader.required("comparison"), report);
      take_summary(reader.required("summary"), report);
      check_verdicts(root_, report);
    }
  }

  void check_modes(const std::vector<std::string>& modes) const {
    const Place settings(root_, "settings");
    const Place place(settings, "modes");
    for (std::size_t i = 0; i < modes.size(); ++i) {
      if (std::find(kModeNames.begin(), kModeNames.end(), modes[i]) == kModeNames.end()) {
        throw Place(place, i).error("no such mode");
      }
    }
  }

  void take_reveal(const JsonValue& value, Report& report) {
    const Place place(root_, "reveal");
    RevealRecord& reveal = report.reveal.emplace();
    FieldReader reader(place, value);
    fields(reader, reveal);
    reader("trees", reveal.trees);
    reader("comparisons", reveal.comparisons);
    reader.done();
    check_reveal(place, report);
  }

  void take_rescore(const JsonValue& value, Report& report) {
    const Place place(root_, "rescore");
    RescoreRecord& rescore = report.rescore.emplace();
    FieldReader reader(place, value);
    fields(reader, rescore);
    reader("requests", rescore.requests);
    reader("scored", rescore.scored);
    reader("outliers", rescore.outliers);
    reader.done();
    check_rescore(root_, report);
  }

  void take_runs(const JsonValue& value, Report& report) {
    const Place place(root_, "runs");
    expect(place, value, Kind::kArray);
    steps_.resize(value.items.size());
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      const Place run_place(place, i);
      Run run;
      FieldReader reader(run_place, value.items[i]);
      fields(reader, run);
      const Place steps_place(run_place, "steps");
      const JsonValue& others = expect(steps_place, reader.required("steps"), Kind::kArray);
      if (!others.items.empty()) {
        wrong_kind(steps_place, others.items[0], "an object a step");
      }
      reader.done();
      if (run.build >= report.builds.size()) {
        throw Place(run_place, "build").error("no such build");
      }
      run.steps = std::move(steps_[i]);
      run.steps.shrink_to_fit();
      report.runs.push_back(std::move(run));
    }
  }

  /// The logits file is named, not led to: a report can't point at other folders.
  void check_logits(const Report& report) {
    if (report.logits && (report.logits->file.find('/') != std::string::npos ||
                          !is_hex(report.logits->sha256, 64))) {
      throw Place(root_, "logits").error("not a file's name beside the report and its SHA-256");
    }
  }

  void take_tokens(const JsonValue& value, Report& report) {
    const Place place(root_, "tokens");
    expect(place, value, Kind::kObject);
    for (std::size_t i = 0; i < value.keys.size(); ++i) {
      const std::string& key = value.keys[i];
      const Place token_place(place, key);
      std::int32_t id = -1;
      const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
      if (error != std::errc() || id < 0 || std::to_string(id) != key) {
        throw token_place.error("not a token's id");
      }
      take(token_place, value.items[i], report.tokens[id]);
    }
  }

  void take_comparison(const JsonValue& value, Report& report) {
    const Place place(root_, "comparison");
    FieldReader reader(place, value);
    reader("basis", report.basis);
    if (report.basis != "all" && !report.basis.starts_with("top")) {
      throw Place(place, "basis").error("neither \"all\" nor \"top64\" or its like");
    }
    reader("prompts", report.comparison);
    reader.done();
  }

  void take_bisect(FieldReader& reader, BisectRecord& bisect) {
    reader("bisect", bisect);
    const Place place(root_, "bisect");
    const Place candidates(place, "candidates");
    if (bisect.candidates.empty()) {
      throw candidates.error("empty: a bisection has a first and a last build");
    }
    for (std::size_t i = 0; i < bisect.candidates.size(); ++i) {
      if (bisect.candidates[i].class_index.value_or(0) >= bisect.classes.size() &&
          bisect.candidates[i].class_index) {
        throw Place(Place(candidates, i), "class").error("no such class");
      }
    }
  }

  void take_summary(const JsonValue& value, Report& report) {
    const Place place(root_, "summary");
    FieldReader reader(place, value);
    fields(reader, report.summary);
    const Place modes_place(place, "by_mode");
    const JsonValue& modes = expect(modes_place, reader.required("by_mode"), Kind::kObject);
    reader.done();
    for (std::size_t i = 0; i < modes.keys.size(); ++i) {
      auto& [mode, summary] = report.by_mode.emplace_back(modes.keys[i], Summary{});
      const Place mode_place(modes_place, mode);
      if (std::find(kModeNames.begin(), kModeNames.end(), mode) == kModeNames.end()) {
        throw mode_place.error("no such mode");
      }
      take(mode_place, modes.items[i], summary);
    }
  }

  Place root_;
  std::vector<std::vector<Step>> steps_;
};

}  // namespace

Report read_report(const std::filesystem::path& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  if (path.extension() == ".zst") {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
    return ReportReader(path).read(zstd_decompressed(bytes, kMost, path.string()));
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return ReportReader(path).read(text);
}

}  // namespace drift
