#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/sweep.hpp"

#include "sweep/conclude.hpp"
#include "sweep/load.hpp"
#include "sweep/schedule.hpp"

namespace drift {
namespace {

constexpr std::size_t kMostCells = 4096;

std::map<std::string, std::string> base_values(const std::vector<Knob>& knobs) {
  std::map<std::string, std::string> values;
  for (const Knob& knob : knobs) {
    values[knob.name] = knob.values.front();
  }
  return values;
}

std::size_t count_cells(std::size_t builds, const std::vector<Knob>& knobs, bool one_at_a_time) {
  std::size_t settings = 1;
  for (const Knob& knob : knobs) {
    settings = one_at_a_time ? settings + knob.values.size() - 1 : settings * knob.values.size();
    if (builds * settings > kMostCells) {
      throw usage_error(fmt::format("the sweep would have more than {} cells", kMostCells),
                        "--one-at-a-time turns one knob at a time; or leave out some values");
    }
  }
  return builds * settings;
}

std::vector<std::map<std::string, std::string>> one_by_one(const std::vector<Knob>& knobs) {
  std::vector<std::map<std::string, std::string>> settings{base_values(knobs)};
  for (const Knob& knob : knobs) {
    for (std::size_t i = 1; i < knob.values.size(); ++i) {
      settings.push_back(settings.front());
      settings.back()[knob.name] = knob.values[i];
    }
  }
  return settings;
}

std::vector<std::map<std::string, std::string>> product_of(const std::vector<Knob>& knobs) {
  std::vector<std::map<std::string, std::string>> settings(1);
  for (const Knob& knob : knobs) {
    std::vector<std::map<std::string, std::string>> next;
    for (const std::map<std::string, std::string>& setting : settings) {
      for (const std::string& value : knob.values) {
        next.push_back(setting);
        next.back()[knob.name] = value;
      }
    }
    settings = std::move(next);
  }
  return settings;
}

/// A variable under its value, or out of sight of the runner.
void set_variable(const std::string& name, const std::string& value,
                  std::map<std::string, std::string>& caller,
                  std::map<std::string, std::string>& own) {
  caller.erase(name);
  own.erase(name);
  if (!value.empty()) {
    own[name] = value;
  }
}

/// Errors (trouble): the build can't compute it.
void set_attention(const std::string& value, Side& side) {
  if (value == "sdpa" && !has_sdpa(side.build.version)) {
    throw trouble(fmt::format("torch {} has no sdpa attention, which takes {} or newer",
                              side.build.version, kFirstTorchWithSdpa));
  }
  side.attention.kind = value == "sdpa" ? Attention::kSdpa : Attention::kEager;
  side.attention.choice = "the sweep's knob";
}

/// Sets a named knob; prompts and load are the business of run_cell() and its request.
void turn(const std::string& name, const std::string& value, AuditRequest& request) {
  Side& side = request.sides[0];
  if (name == "threads") {
    side.threads = static_cast<std::uint32_t>(std::stoul(value));
  } else if (name == "cache") {
    request.settings.cache = value == "on";
  } else if (name == "sampler") {
    request.settings.sampler = value;
  } else if (name == "batch") {
    request.settings.batch = static_cast<std::uint32_t>(std::stoul(value));
  } else if (name == "attention") {
    set_attention(value, side);
  } else if (name == "dtype") {
    request.settings.dtype = side.dtype = value;
  } else {
    set_condition(name, value, side.conditions);
  }
}

unsigned load_of(const std::map<std::string, std::string>& values) {
  const auto load = values.find("load");
  return load == values.end() ? 0 : static_cast<unsigned>(std::stoul(load->second));
}

}  // namespace

std::vector<PlannedCell> planned_cells(std::size_t builds, const std::vector<Knob>& knobs,
                                       bool one_at_a_time) {
  std::vector<PlannedCell> cells;
  cells.reserve(count_cells(builds, knobs, one_at_a_time));
  const auto settings = one_at_a_time ? one_by_one(knobs) : product_of(knobs);
  for (std::size_t build = 0; build < builds; ++build) {
    for (const std::map<std::string, std::string>& setting : settings) {
      cells.push_back({build, setting});
    }
  }
  return cells;
}

AuditRequest cell_request(const AuditRequest& base, const Side& side,
                          const std::map<std::string, std::string>& values,
                          const std::map<std::string, std::string>& caller,
                          const std::map<std::string, std::string>& own) {
  AuditRequest request = base;
  request.sides = {side};
  request.first_prompts_twice = false;  // all of it runs twice
  std::map<std::string, std::string> callers = caller;
  std::map<std::string, std::string> owns = own;
  for (const auto& [name, value] : values) {
    if (is_variable_knob(name)) {
      set_variable(name, value, callers, owns);
    } else {
      turn(name, value, request);
    }
  }
  std::vector<Prompt>& prompts = request.prompts.prompts;
  prompts = scheduled(prompts, prompt_schedule(values, prompts.size(), request.settings.batch));
  request.text = scheduled(request.text, prompt_schedule(values, request.text.size()));
  request.sides[0].environment = runner_environment(callers, owns);
  return request;
}

Report run_cell(const AuditRequest& request, const std::map<std::string, std::string>& values,
                const Model& model) {
  const std::unique_ptr<Progress> silent = make_silent_progress();
  const Load load(load_of(values));
  Report report = run_audit(request, model, *silent);
  std::map<std::string, std::vector<Run>> by_mode;
  for (Run& run : report.runs) {
    by_mode[run.mode].push_back(std::move(run));
  }
  report.runs.clear();
  std::optional<std::string> parting;
  const std::size_t times = prompt_schedule(values, 1).size();
  for (const std::string& mode : request.settings.modes) {
    std::vector<Run>& runs = by_mode[mode];
    const std::size_t batch = mode == "score" ? 1 : request.settings.batch;
    const auto schedule = prompt_schedule(values, runs.size() / times, batch);
    runs = unscheduled(std::move(runs), schedule, parting);
    std::move(runs.begin(), runs.end(), std::back_inserter(report.runs));
  }
  if (parting) {
    mark_unrepeatable(*parting, report);
  }
  return report;
}

}  // namespace drift
