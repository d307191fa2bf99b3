#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace drift {

/// What a runner is put under besides its variables and intra-op threads.
struct Conditions {
  std::uint32_t interop_threads = 1;
  std::uint64_t memory_limit = 0;  ///< bytes of the runner's private memory; 0: none
  std::uint32_t alignment = 64;    ///< of its tensors, in bytes: they start at no rounder address
  bool flush_denormals = false;    ///< denormal results become 0

  bool operator==(const Conditions&) const = default;
};

/// Their names on the command line: "interop-threads", "memory-limit", "alignment", "denormals".
const std::vector<std::string>& condition_names();

/// What is wrong with a condition's value, as in "\"48\" is not one of 64, 32, 16, 8, 4"; empty: it
/// can be taken. Values: 1 to 1024; none, or bytes as byte_count() reads them; 64, 32, 16, 8 or 4;
/// keep or flush.
std::string problem_of_condition(const std::string& name, const std::string& value);

/// Takes a value that has no problem.
void set_condition(const std::string& name, const std::string& value, Conditions& conditions);

/// Those that aren't the default, by name, as set_condition() takes them.
std::map<std::string, std::string> unusual_conditions(const Conditions& conditions);

}  // namespace drift
