#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>

#include <fmt/core.h>

#include "driftaudit/file.hpp"
#include "driftaudit/report.hpp"
#include "driftaudit/zstd.hpp"

#include "report/json_value.hpp"
#include "report/report_fields.hpp"
#include "report/reveal_check.hpp"
#include "report/utf8.hpp"

namespace drift {
namespace {

using Kind = JsonValue::Kind;

[[noreturn]] void wrong_kind(const Place& place, const JsonValue& value, const char* expected) {
  throw place.error(fmt::format("{} where {} is expected", kind_name(value.kind), expected));
}

const JsonValue& expect(const Place& place, const JsonValue& value, Kind kind) {
  if (value.kind != kind) {
    wrong_kind(place, value, kind_name(kind));
  }
  return value;
}

template <class T>
void take_object(const Place& place, const JsonValue& value, T& object);

void take(const Place& place, const JsonValue& value, bool& to) {
  to = expect(place, value, Kind::kBool).truth;
}

/// All of a report's integers count or name something: none is negative.
template <class T>
requires std::integral<T>
void take(const Place& place, const JsonValue& value, T& to) {
  expect(place, value, Kind::kInteger);
  const auto largest = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  if (value.negative || value.magnitude > largest) {
    throw place.error(fmt::format("a number outside 0 to {}", largest));
  }
  to = static_cast<T>(value.magnitude);
}

template <class T>
T parsed(const JsonValue& value) {
  if (value.kind == Kind::kInteger) {
    const auto magnitude = static_cast<T>(value.magnitude);
    return value.negative ? -magnitude : magnitude;
  }
  if constexpr (std::is_same_v<T, float>) {
    return std::strtof(value.text.c_str(), nullptr);
  } else {
    return value.number;
  }
}

template <class T>
requires std::floating_point<T>
void take(const Place& place, const JsonValue& value, T& to) {
  if (value.kind == Kind::kText) {
    if (value.text != "nan" && value.text != "inf" && value.text != "-inf") {
      throw place.error(R"(text that isn't "nan", "inf" or "-inf" where a number is expected)");
    }
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    to = value.text == "nan"   ? std::numeric_limits<T>::quiet_NaN()
         : value.text == "inf" ? kInfinity
                               : -kInfinity;
    return;
  }
  if (value.kind != Kind::kInteger && value.kind != Kind::kFloat) {
    wrong_kind(place, value, "a number");
  }
  to = parsed<T>(value);
  if (!std::isfinite(to)) {
    throw place.error("a number out of range");
  }
}

void take(const Place& place, const JsonValue& value, std::string& to) {
  to = unescape_bytes(expect(place, value, Kind::kText).text);
}

template <class T>
requires std::is_enum_v<T>
void take(const Place& place, const JsonValue& value, T& to) {
  const auto& names = names_of(T{});
  const auto at = std::find(names.begin(), names.end(), expect(place, value, Kind::kText).text);
  if (at == names.end()) {
    throw place.error(fmt::format("unknown value \"{}\"", visible(value.text)));
  }
  to = static_cast<T>(at - names.begin());
}

void take(const Place& place, const JsonValue& value, TokenLogit& to) {
  if (expect(place, value, Kind::kArray).items.size() != 2) {
    throw place.error("not a pair of id and logit");
  }
  take(Place(place, 0), value.items[0], to.id);
  take(Place(place, 1), value.items[1], to.logit);
}

template <class T>
requires std::is_class_v<T>
void take(const Place& place, const JsonValue& value, T& to) { take_object(place, value, to); }

template <class T>
void take(const Place& place, const JsonValue& value, std::optional<T>& to) {
  if (value.kind == Kind::kNull) {
    to.reset();
  } else {
    take(place, value, to.emplace());
  }
}

template <class T>
void take(const Place& place, const JsonValue& value, std::vector<T>& to) {
  expect(place, value, Kind::kArray);
  to.resize(value.items.size());
  for (std::size_t i = 0; i < to.size(); ++i) {
    take(Place(place, i), value.items[i], to[i]);
  }
}

template <class T>
void take(const Place& place, const JsonValue& value, std::map<std::string, T>& to) {
  expect(place, value, Kind::kObject);
  for (std::size_t i = 0; i < value.keys.size(); ++i) {
    take(Place(place, value.keys[i]), value.items[i], to[unescape_bytes(value.keys[i])]);
  }
}

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Visits fields() and reads them; done() refuses keys that none asked for.
class FieldReader {
 public:
  FieldReader(const Place& place, const JsonValue& object)
      : place_(place), object_(expect(place, object, Kind::kObject)) {}

  template <class T>
  void operator()(const char* key, T& to) {
    take(Place(place_, key), required(key), to);
  }
  template <class T>
  void if_set(const char* key, std::optional<T>& to) {
    if (const JsonValue* value = find(key)) {
      take(Place(place_, key), *value, to.emplace());
    }
  }
  void if_set(const char* key, std::map<std::string, double>& to) {
    if (const JsonValue* value = find(key)) {
      take(Place(place_, key), *value, to);
    }
  }
  void if_not_zero(const char* key, std::uint64_t& to) { if_there(key, to); }
  /// A value that keeps its default when the key is left out.
  template <class T>
  void if_there(const char* key, T& to) {
    if (const JsonValue* value = find(key)) {
      take(Place(place_, key), *value, to);
    }
  }
  void from_one(const char* key, std::uint32_t& to) {
    (*this)(key, to);
    if (to == 0) {
      throw Place(place_, key).error("0 where counting begins at 1");
    }
  }
  void digest(const char* key, std::string& to) {
    (*this)(key, to);
    if (!is_hex(to, 32)) {
      throw Place(place_, key).error("not 32 hexadecimal digits");
    }
  }
  void digest(const char* key, std::optional<std::string>& to) {
    (*this)(key, to);
    if (to && !is_hex(*to, 32)) {
      throw Place(place_, key).error("not 32 hexadecimal digits");
    }
  }
  void hex_if_set(const char* key, std::optional<std::uint64_t>& to) {
    const JsonValue* value = find(key);
    if (value == nullptr) {
      return;
    }
    const std::string& text = expect(Place(place_, key), *value, Kind::kText).text;
    if (!is_hex(text, 16)) {
      throw Place(place_, key).error("not 16 hexadecimal digits");
    }
    std::from_chars(text.data(), text.data() + text.size(), to.emplace(), 16);
  }
  /// Of a step that is read otherwise; reports of before checksums have none.
  void checksum(const char* key, const Step& step) {
    std::optional<std::uint64_t> written;
    hex_if_set(key, written);
    if (written && *written != step_checksum(step)) {
      throw place_.error("the step's figures contradict its checksum",
                         "the report was edited or damaged; write it again");
    }
  }
  void one_of(const char* key, std::string& to, std::initializer_list<const char*> names) {
    (*this)(key, to);
    if (std::find(names.begin(), names.end(), to) == names.end()) {
      throw Place(place_, key).error(fmt::format("unknown value \"{}\"", visible(to)));
    }
  }
  void side(const char* key, char& to) {
    std::string name;
    one_of(key, name, {"A", "B"});
    to = name[0];
  }

  /// The value of a key that may be left out, or null.
  const JsonValue* find(const char* key) {
    asked_.emplace_back(key);
    return object_.find(key);
  }

  const JsonValue& required(const char* key) {
    const JsonValue* value = find(key);
    if (value == nullptr) {
      throw Place(place_, key).error("missing");
    }
    return *value;
  }

  void done() const {
    for (const std::string& key : object_.keys) {
      if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
        throw Place(place_, visible(key))
            .error("no such key in driftaudit/1", "a newer driftaudit may have written the report");
      }
    }
  }

 private:
  const Place& place_;
  const JsonValue& object_;
  std::vector<std::string_view> asked_;
};

template <class T>
void take_object(const Place& place, const JsonValue& value, T& object) {
  FieldReader reader(place, value);
  fields(reader, object);
  reader.done();
}

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
                  {"audit", "record", "compare", "bisect", "localize", "reveal", "sweep"});
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
      check_sweep(report);
    } else {
      take_comparison(reader.required("comparison"), report);
      take_summary(reader.required("summary"), report);
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
    for (std::size_t i = 0; i < bisect.candidates.size(); ++i) {
      if (bisect.candidates[i].class_index.value_or(0) >= bisect.classes.size() &&
          bisect.candidates[i].class_index) {
        throw Place(Place(candidates, i), "class").error("no such class");
      }
    }
  }

  /// Every index leads somewhere.
  void check_sweep(const Report& report) {
    const SweepRecord& sweep = *report.sweep;
    const auto require = [&](std::optional<std::uint64_t> index, std::size_t size, const char* list,
                             std::size_t i, const char* key) {
      if (index && *index >= size) {
        const Place sweep_place(root_, "sweep");
        const Place list_place(sweep_place, list);
        throw Place(Place(list_place, i), key).error("there is none of that index");
      }
    };
    const std::size_t cells = sweep.cells.size();
    for (std::size_t i = 0; i < cells; ++i) {
      require(sweep.cells[i].class_index, sweep.classes.size(), "cells", i, "class");
      require(sweep.cells[i].ran_as, report.builds.size(), "cells", i, "ran_as");
    }
    for (std::size_t i = 0; i < sweep.classes.size(); ++i) {
      for (const std::uint32_t cell : sweep.classes[i].cells) {
        require(cell, cells, "classes", i, "cells");
      }
    }
    for (std::size_t i = 0; i < sweep.knobs.size(); ++i) {
      if (const auto& pair = sweep.knobs[i].differing) {
        require(std::max(pair->a, pair->b), cells, "knobs", i, "differing");
      }
      if (const auto& change = sweep.knobs[i].first_token_change) {
        require(std::max(change->cells.a, change->cells.b), cells, "knobs", i,
                "first_token_change");
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
