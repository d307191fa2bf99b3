#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "driftaudit/file.hpp"
#include "driftaudit/interrupt.hpp"
#include "driftaudit/report.hpp"
#include "driftaudit/zstd.hpp"

#include "report/field_writer.hpp"
#include "report/found_fields.hpp"
#include "report/report_fields.hpp"
#include "report/rescore_fields.hpp"
#include "report/study_fields.hpp"
#include "report/sweep_fields.hpp"
#include "report/utf8.hpp"

namespace drift {
namespace {

using Sink = std::function<void(std::string_view)>;

/// Gathers lines into pieces that are worth a system call.
class Lines {
 public:
  explicit Lines(const Sink& sink) : sink_(sink) {}
  std::string& text() {
    if (text_.size() >= kPiece) {
      flush();
    }
    return text_;
  }
  void flush() {
    sink_(text_);
    text_.clear();
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 16;
  const Sink& sink_;
  std::string text_;
};

/// `"key":[` with an item a line.
template <class T>
void write_lines(Lines& lines, const char* key, const std::vector<T>& items) {
  lines.text() += fmt::format("\"{}\":[", key);
  const char* separator = "\n";
  for (const T& item : items) {
    lines.text() += std::exchange(separator, ",\n");
    append(lines.text(), item);
  }
  lines.text() += items.empty() ? "]" : "\n]";
}

void write_run(Lines& lines, const Run& run) {
  lines.text() += '{';
  FieldWriter writer(lines.text());
  fields(writer, run);
  lines.text() += ',';
  write_lines(lines, "steps", run.steps);
  lines.text() += '}';
}

void write_runs(Lines& lines, const std::vector<Run>& runs) {
  lines.text() += "\"runs\":[";
  const char* separator = "\n";
  for (const Run& run : runs) {
    throw_if_interrupted();
    lines.text() += std::exchange(separator, ",\n");
    write_run(lines, run);
  }
  lines.text() += runs.empty() ? "],\n" : "\n],\n";
}

void write_tokens(Lines& lines, const std::map<std::int32_t, std::string>& tokens) {
  lines.text() += "\"tokens\":{";
  const char* separator = "\n";
  for (const auto& [id, bytes] : tokens) {
    lines.text() += fmt::format("{}\"{}\":", std::exchange(separator, ",\n"), id);
    append_text(lines.text(), escape_unprintable(bytes));
  }
  lines.text() += tokens.empty() ? "}" : "\n}";
}

void write_comparison(Lines& lines, const Report& report) {
  lines.text() += ",\n\"comparison\":{\"basis\":";
  append(lines.text(), report.basis);
  lines.text() += ",";
  write_lines(lines, "prompts", report.comparison);
  lines.text() += "}";
}

/// What a kind of report has in place of a comparison.
template <class T>
void write_found(Lines& lines, const char* key, const T& found) {
  lines.text() += fmt::format(",\n\"{}\":", key);
  append(lines.text(), found);
}

void write_reveal(Lines& lines, const RevealRecord& reveal) {
  lines.text() += "\"reveal\":{";
  FieldWriter writer(lines.text());
  fields(writer, reveal);
  lines.text() += ",\n";
  write_lines(lines, "trees", reveal.trees);
  lines.text() += ",\n";
  write_lines(lines, "comparisons", reveal.comparisons);
  lines.text() += "}";
}

/// A cell, a class and a knob a line.
void write_sweep(Lines& lines, const SweepRecord& sweep) {
  lines.text() += ",\n\"sweep\":{\"one_at_a_time\":";
  append(lines.text(), sweep.one_at_a_time);
  lines.text() += ",\n";
  write_lines(lines, "cells", sweep.cells);
  lines.text() += ",\n";
  write_lines(lines, "classes", sweep.classes);
  lines.text() += ",\n";
  write_lines(lines, "knobs", sweep.knobs);
  lines.text() += "}";
}

/// A request and a token a line.
void write_rescore(Lines& lines, const RescoreRecord& rescore) {
  lines.text() += ",\n\"rescore\":{";
  FieldWriter writer(lines.text());
  fields(writer, rescore);
  lines.text() += ",\n";
  write_lines(lines, "requests", rescore.requests);
  lines.text() += ",\n";
  write_lines(lines, "scored", rescore.scored);
  lines.text() += ",\n";
  write_lines(lines, "outliers", rescore.outliers);
  lines.text() += "}";
}

/// A pair, a build and a pair of runs a line.
void write_study(Lines& lines, const StudyRecord& study) {
  lines.text() += ",\n\"study\":{\"quick\":";
  append(lines.text(), study.quick);
  lines.text() += ",\n\"gaps\":";
  append(lines.text(), study.gaps);
  lines.text() += ",\n";
  write_lines(lines, "pairs", study.pairs);
  lines.text() += ",\n";
  write_lines(lines, "range", study.range);
  lines.text() += ",\n";
  write_lines(lines, "flips", study.flips);
  if (study.sampled) {
    lines.text() += ",\n\"sampled\":";
    append(lines.text(), *study.sampled);
  }
  lines.text() += "}";
}

void write_summary(Lines& lines, const Report& report) {
  std::string& out = lines.text();
  out += ",\n\"summary\":{";
  FieldWriter writer(out);
  fields(writer, report.summary);
  out += ",\n\"by_mode\":{";
  const char* separator = "\n";
  for (const auto& [mode, summary] : report.by_mode) {
    out += fmt::format("{}\"{}\":", std::exchange(separator, ",\n"), mode);
    append(out, summary);
  }
  out += report.by_mode.empty() ? "}}" : "\n}}";
}

template <class T>
void write_key(Lines& lines, const char* key, const T& value) {
  lines.text() += fmt::format("\"{}\":", key);
  append(lines.text(), value);
  lines.text() += ",\n";
}

/// Keys that stand only where there is something to say.
void write_optional(Lines& lines, const Report& report) {
  if (!report.warnings.empty()) {
    lines.text() += ",\n";
    write_lines(lines, "warnings", report.warnings);
  }
  if (!report.gates.empty()) {
    lines.text() += ",\n";
    write_lines(lines, "gates", report.gates);
  }
  if (report.logits) {
    lines.text() += ",\n\"logits\":";
    append(lines.text(), *report.logits);
  }
  lines.text() += "\n";
}

/// What the model was asked and what it answered.
void write_answers(Lines& lines, const Report& report) {
  write_runs(lines, report.runs);
  write_tokens(lines, report.tokens);
  if (report.bisect) {
    write_found(lines, "bisect", *report.bisect);
  } else if (report.localize) {
    write_found(lines, "localize", *report.localize);
    if (report.reveal) {
      lines.text() += ",\n";
      write_reveal(lines, *report.reveal);
    }
  } else if (report.sweep) {
    write_sweep(lines, *report.sweep);
  } else if (report.rescore) {
    write_rescore(lines, *report.rescore);
  } else if (report.study) {
    write_study(lines, *report.study);
  } else {
    write_comparison(lines, report);
    write_summary(lines, report);
  }
}

void write_to(const Report& report, const Sink& sink) {
  Lines lines(sink);
  lines.text() += "{\n\"schema\":\"driftaudit/1\",\n";
  write_key(lines, "kind", report.kind);
  write_key(lines, "tool", report.tool);
  write_key(lines, "created", report.created);
  write_key(lines, "host", report.host);
  const bool of_a_model = report.kind != "reveal";
  if (of_a_model) {
    write_key(lines, "model", report.model);
    write_key(lines, "prompts", report.prompts);
    write_key(lines, "settings", report.settings);
  }
  write_lines(lines, "builds", report.builds);
  lines.text() += ",\n";
  if (of_a_model) {
    write_answers(lines, report);
  } else {
    write_reveal(lines, report.reveal.value());
  }
  write_optional(lines, report);
  lines.text() += "}\n";
  lines.flush();
}

}  // namespace

void write_report(const Report& report, const std::filesystem::path& path) {
  AtomicFile file(path);
  const Sink to_file = [&](std::string_view piece) { file.write(piece); };
  if (path.extension() == ".zst") {
    ZstdWriter compressed(to_file);
    write_to(report, [&](std::string_view piece) { compressed.write(piece); });
    compressed.finish();
  } else {
    write_to(report, to_file);
  }
  file.commit();
}

std::string report_json(const Report& report) {
  std::string json;
  write_to(report, [&](std::string_view piece) { json += piece; });
  return json;
}

}  // namespace drift
