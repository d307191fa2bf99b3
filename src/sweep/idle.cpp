#include "sweep/idle.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "driftaudit/knobs.hpp"

#include "sweep/schedule.hpp"

namespace drift {
namespace {

using Values = std::map<std::string, std::string>;

bool is_scored(const std::string& mode) { return mode == "score"; }

bool generates(const SettingsRecord& settings) {
  return !std::all_of(settings.modes.begin(), settings.modes.end(), is_scored);
}

std::size_t prompts_of(const Report& answer, const std::string& mode) {
  return static_cast<std::size_t>(std::count_if(answer.runs.begin(), answer.runs.end(),
                                                [&](const Run& run) { return run.mode == mode; }));
}

std::size_t batch_of(const SettingsRecord& settings, const Values& values) {
  const auto at = values.find("batch");
  return at == values.end() ? settings.batch : std::stoul(at->second);
}

std::string idle_order(const SettingsRecord& settings, const TurnedCell& a, const TurnedCell& b) {
  for (const std::string& mode : settings.modes) {
    const std::size_t count = prompts_of(a.answer, mode);
    const std::size_t batch = is_scored(mode) ? 1 : batch_of(settings, a.values);
    if (prompt_schedule(a.values, count, batch) != prompt_schedule(b.values, count, batch)) {
      return "";
    }
  }
  return "every prompt stands where it stood";
}

std::string idle_batch(const SettingsRecord& settings, const TurnedCell& a, const TurnedCell& b) {
  if (!generates(settings)) {
    return "text that is scored runs in no batch";
  }
  const std::size_t one = batch_of(settings, a.values);
  const std::size_t other = batch_of(settings, b.values);
  for (const std::string& mode : settings.modes) {
    const std::size_t count = prompts_of(a.answer, mode);
    if (!is_scored(mode) && (one == 1 || other == 1 || std::min(one, other) < count)) {
      return "";
    }
  }
  return "one batch holds all prompts either way";
}

std::string idle_cache(const TurnedCell& a, const TurnedCell& b) {
  const auto has_one_pass = [](const Run& run) {
    return is_scored(run.mode) || run.steps.size() <= 1;
  };
  for (const Report* answer : {&a.answer, &b.answer}) {
    if (!std::all_of(answer->runs.begin(), answer->runs.end(), has_one_pass)) {
      return "";
    }
  }
  return "no step follows another that it could keep something from";
}

std::string idle_sampler(const SettingsRecord& settings) {
  const bool samples =
      std::find(settings.modes.begin(), settings.modes.end(), "sample") != settings.modes.end();
  return samples ? "" : "no mode samples";
}

/// An allocation within the address space that there was can't have failed by a limit above it.
std::string idle_limit(const BuildRecord& a, const BuildRecord& b) {
  std::uint64_t most = 0;
  for (const BuildRecord* build : {&a, &b}) {
    const std::uint64_t limit = build->conditions.memory_limit;
    if (build->peak_address_bytes == 0 || (limit != 0 && limit < build->peak_address_bytes)) {
      return "";
    }
    most = std::max(most, build->peak_address_bytes);
  }
  return fmt::format("no limit is below the {} MB that a runner's address space ever had",
                     (most + (1U << 20U) - 1) >> 20U);
}

/// Of variables that choose among kernels which the libraries name.
std::string idle_chooser(const BuildRecord& a, const BuildRecord& b) {
  if (a.cpu_capability != b.cpu_capability || a.blas_dispatch != b.blas_dispatch) {
    return "";
  }
  return "the libraries name the same kernels either way";
}

std::string idle_threads(const BuildRecord& a, const BuildRecord& b) {
  if (a.threads != b.threads || a.blas_threads != b.blas_threads) {
    return "";
  }
  return "the runner sets its own number of threads";
}

std::string idle_variable(const std::string& name, const BuildRecord& a, const BuildRecord& b) {
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const char* blas : {"MKL", "OpenBLAS"}) {
    if (library_of_knob(name) == blas && !a.blas.starts_with(blas) && !b.blas.starts_with(blas)) {
      return fmt::format("the build has no {}", blas);
    }
  }
  if (name == "ATEN_CPU_CAPABILITY") {
    return idle_chooser(a, b);
  }
  if (is_one_of({"MKL_ENABLE_INSTRUCTIONS", "MKL_DEBUG_CPU_TYPE", "OPENBLAS_CORETYPE"})) {
    return a.blas_dispatch ? idle_chooser(a, b) : "";
  }
  if (is_one_of({"MKL_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"})) {
    return idle_threads(a, b);
  }
  if (is_one_of({"MKL_DYNAMIC", "OMP_DYNAMIC", "OMP_THREAD_LIMIT"})) {
    return a.threads == 1 && b.threads == 1 ? "there is one thread" : "";
  }
  return "";
}

}  // namespace

std::string idle_reason(const std::string& knob, const SettingsRecord& settings,
                        const TurnedCell& a, const TurnedCell& b) {
  if (knob == "prompt-order" || knob == "batch-position") {
    return idle_order(settings, a, b);
  }
  if (knob == "batch") {
    return idle_batch(settings, a, b);
  }
  if (knob == "cache") {
    return idle_cache(a, b);
  }
  if (knob == "sampler") {
    return idle_sampler(settings);
  }
  const BuildRecord& build_a = a.answer.builds.at(0);
  const BuildRecord& build_b = b.answer.builds.at(0);
  if (knob == "memory-limit") {
    return idle_limit(build_a, build_b);
  }
  return is_variable_knob(knob) ? idle_variable(knob, build_a, build_b) : "";
}

}  // namespace drift
