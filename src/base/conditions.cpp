#include "driftaudit/conditions.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/byte_count.hpp"
#include "base/whole_number.hpp"

namespace drift {
namespace {

constexpr std::array kAlignments = {"64", "32", "16", "8", "4"};

/// 0 of what isn't one from 1 to kMost.
std::uint32_t number(const std::string& text) {
  constexpr std::uint64_t kMost = 1024;
  const std::uint64_t value = whole_number_in(text).value_or(0);
  return value <= kMost ? static_cast<std::uint32_t>(value) : 0;
}

}  // namespace

const std::vector<std::string>& condition_names() {
  static const std::vector<std::string> names = {"interop-threads", "memory-limit", "alignment",
                                                 "denormals"};
  return names;
}

std::string problem_of_condition(const std::string& name, const std::string& value) {
  if (name == "interop-threads") {
    return number(value) > 0 ? "" : fmt::format("\"{}\" is not a number from 1 to 1024", value);
  }
  if (name == "memory-limit") {
    return value == "none" || parsed_bytes(value)
               ? ""
               : fmt::format("\"{}\" is neither none nor an amount of bytes such as 512M", value);
  }
  if (name == "alignment") {
    return std::find(kAlignments.begin(), kAlignments.end(), value) != kAlignments.end()
               ? ""
               : fmt::format("\"{}\" is not one of {}", value, fmt::join(kAlignments, ", "));
  }
  return value == "keep" || value == "flush"
             ? ""
             : fmt::format("\"{}\" is neither keep nor flush", value);
}

void set_condition(const std::string& name, const std::string& value, Conditions& conditions) {
  if (name == "interop-threads") {
    conditions.interop_threads = number(value);
  } else if (name == "memory-limit") {
    conditions.memory_limit = parsed_bytes(value).value_or(0);
  } else if (name == "alignment") {
    conditions.alignment = number(value);
  } else if (name == "denormals") {
    conditions.flush_denormals = value == "flush";
  }
}

std::map<std::string, std::string> unusual_conditions(const Conditions& conditions) {
  const Conditions usual;
  std::map<std::string, std::string> unusual;
  if (conditions.interop_threads != usual.interop_threads) {
    unusual["interop-threads"] = fmt::format("{}", conditions.interop_threads);
  }
  if (conditions.memory_limit != usual.memory_limit) {
    unusual["memory-limit"] = spelt_bytes(conditions.memory_limit);
  }
  if (conditions.alignment != usual.alignment) {
    unusual["alignment"] = fmt::format("{}", conditions.alignment);
  }
  if (conditions.flush_denormals) {
    unusual["denormals"] = "flush";
  }
  return unusual;
}

}  // namespace drift
