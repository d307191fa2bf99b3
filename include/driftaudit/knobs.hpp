#pragma once

#include <string>
#include <vector>

#include "driftaudit/report.hpp"

namespace drift {

/// Something that is set to one of several values while all else stays. Named ones are `threads`,
/// `cache` (on, off), `dtype` (float32, bfloat16, float16), `attention` (eager, sdpa), the
/// conditions of conditions.hpp, `load` (busy threads beside the cell), `repeats` (how many times
/// the prompts run in the process; the last time counts), `prompt-order` (given, reversed), `batch`
/// (prompts that run together), `batch-position` (rows that each stands further down in its batch)
/// and `sampler` (torch, fixed); any other is an environment variable of the runner, whose empty
/// value means that it is unset.
struct Knob {
  std::string name;
  std::vector<std::string> values;  ///< two or more, each once; the base's first
};

/// Whether a knob's name is an environment variable's.
bool is_variable_knob(const std::string& name);

/// Reads `NAME=V1,V2,…`. In a value `\,` is a comma and `\\` a backslash. A variable without a
/// capital letter takes the prefix `env:`, so that a misspelt named knob isn't taken for one.
/// Errors (usage): none of these, fewer than two values, a value twice or one that the named knob
/// doesn't take.
Knob parse_knob(const std::string& text);

/// Several of them. Errors (usage): a knob twice.
std::vector<Knob> parse_knobs(const std::vector<std::string>& texts);

/// The knobs of `study` or `cpu`, as far as this processor takes their values: a kernel for
/// instructions that it lacks would only crash.
std::vector<Knob> preset_knobs(const std::string& preset, const HostRecord& host);

/// torch's operation of which the knob `attention` turns the use on and off.
inline constexpr const char* kSdpaOperation = "scaled_dot_product_attention";

/// The library or operation without which nothing reads a knob: "MKL", "oneDNN", "OpenBLAS",
/// kSdpaOperation; empty where it needs none.
std::string library_of_knob(const std::string& name);

/// What is on record of a knob apart from any measurement: what a manual, which is named, says of
/// it, and what was seen of it, with the processor that it was seen on.
std::vector<std::string> notes_on_knob(const std::string& name);

}  // namespace drift
