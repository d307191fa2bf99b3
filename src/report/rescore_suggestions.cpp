#include <fmt/format.h>

#include "report/rescore_rule.hpp"
#include "report/rescore_view.hpp"
#include "report/spelt_command.hpp"
#include "report/utf8.hpp"

namespace drift {
namespace {

/// What made a file isn't at hand; how it is read is.
std::vector<Suggestion> file_suggestions(const Report& report) {
  const RescoreRecord& record = *report.rescore;
  const std::string options =
      record.rule && !record.rule->given ? rule_options(record.rule->rule) : "";
  if (options.empty()) {
    return {};
  }
  std::string command = "driftaudit rescore " + quoted(visible(report.builds[0].label));
  append_model(report.model, command);
  if (report.settings.dtype != "float32") {
    command += " --dtype " + report.settings.dtype;
  }
  append_attention({report.builds[0]}, command);
  command += " --logprobs " + quoted(visible(record.source)) + " " + options;
  return {{"does each token agree with that rule?", command}};
}

}  // namespace

std::vector<Suggestion> rescore_suggestions(const Report& report) {
  std::vector<Suggestion> next;
  const RescoreRecord& record = *report.rescore;
  if (!record.decoded_by) {
    return file_suggestions(report);
  }
  if (!record.source.empty()) {
    return next;  // its text comes from elsewhere
  }
  Report sides = report;
  const BuildRecord& a = report.builds[0];
  const BuildRecord& b = report.builds[1];
  const bool one_build = a.label == b.label && a.knobs == b.knobs && a.threads == b.threads &&
                         a.attention.kind == b.attention.kind;
  if (one_build) {
    sides.builds.resize(1);
  }
  if (hidden_by_limit(record) && record.outliers.empty()) {
    next.push_back({"which tokens differ, by a limit that doesn't grow with the median?",
                    audit_command(sides, {.options = "--outlier 0.001", .verb = "rescore"})});
    return next;
  }
  if (record.outliers.empty()) {
    if (report.prompts != "alice-200") {
      next.push_back(
          {"does it hold over more text?",
           audit_command(sides,
                         {.options = "--prompts alice-200", .prompts = false, .verb = "rescore"})});
    }
    return next;
  }
  if (report.settings.batch > 1) {
    Report alone = sides;
    alone.settings.batch = 1;
    next.push_back({"does it fail where each request runs alone too?",
                    audit_command(alone, {.options = "", .verb = "rescore"})});
  }
  if (report.settings.cache) {
    next.push_back({"does it fail without the KV cache too?",
                    audit_command(sides, {.options = "--no-cache", .verb = "rescore"})});
  }
  if (!one_build && next.size() < 2) {
    next.push_back({"do both builds choose the same tokens?", audit_command(sides, {})});
  }
  if (next.size() > 1) {
    return next;
  }
  std::string command = "driftaudit sweep " + quoted(visible(report.builds[0].label));
  append_model(report.model, command);
  if (report.prompts != "eight") {
    command += " --prompts " + quoted(visible(report.prompts));
  }
  append_attention({report.builds[0]}, command);
  next.push_back({"which setting moves it?",
                  command + " --knob cache=on,off --knob threads=1,2 --one-at-a-time "
                            "--check rescore"});
  return next;
}

}  // namespace drift
