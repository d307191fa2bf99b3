#include <optional>
#include <utility>

#include <fmt/format.h>

#include "report/spelt_command.hpp"
#include "report/sweep_view.hpp"
#include "report/utf8.hpp"

namespace drift {
namespace {

/// Two cells of a sweep as the sides of an audit, where their difference can be one of two sides.
std::optional<std::string> audit_of_cells(const Report& report, const SweepPair& pair) {
  const SweepCell& a = report.sweep->cells[pair.a];
  const SweepCell& b = report.sweep->cells[pair.b];
  const auto value = [](const SweepCell& cell, const char* knob) {
    const auto at = cell.knobs.find(knob);
    return at == cell.knobs.end() ? std::string() : at->second;
  };
  for (const char* shared : {"batch", "cache", "dtype", "sampler"}) {
    if (value(a, shared) != value(b, shared)) {
      return std::nullopt;
    }
  }
  // What an audit can't do.
  for (const auto& [knob, neutral] :
       {std::pair("load", "0"), std::pair("prompt-order", "given"), std::pair("repeats", "1"),
        std::pair("batch-position", "0")}) {
    if (a.knobs.contains(knob) && (value(a, knob) != neutral || value(b, knob) != neutral)) {
      return std::nullopt;
    }
  }
  if (!a.ran_as || !b.ran_as) {
    return std::nullopt;
  }
  Report sides = report;
  if (a.knobs.contains("cache")) {
    sides.settings.cache = value(a, "cache") == "on";
  }
  if (a.knobs.contains("batch")) {
    sides.settings.batch = static_cast<std::uint32_t>(std::stoul(value(a, "batch")));
  }
  if (a.knobs.contains("dtype")) {
    sides.settings.dtype = value(a, "dtype");
  }
  if (a.knobs.contains("sampler")) {
    sides.settings.sampler = value(a, "sampler");
  }
  sides.builds = {report.builds[*a.ran_as], report.builds[*b.ran_as]};
  return audit_command(sides, {});
}

}  // namespace

std::vector<Suggestion> sweep_suggestions(const Report& report) {
  for (const SweepKnob& knob : report.sweep->knobs) {
    if (!knob.differing) {
      continue;
    }
    if (const auto command = audit_of_cells(report, *knob.differing)) {
      return {{fmt::format("by how much does {} move the logits, and how close is the "
                           "nearest token to flipping?",
                           visible(knob.name)),
               *command}};
    }
  }
  return {};
}

}  // namespace drift
