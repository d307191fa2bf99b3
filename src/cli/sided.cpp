#include "cli/sided.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/runner_process.hpp"

namespace drift {
namespace {

/// A value and the sides that it is meant for.
struct Prefixed {
  bool a = true;
  bool b = true;
  std::string value;
};

Prefixed split_prefix(const std::string& text) {
  if (text.size() > 1 && text[1] == ':' && (text[0] == 'A' || text[0] == 'B' || text[0] == '*')) {
    return {text[0] != 'B', text[0] != 'A', text.substr(2)};
  }
  return {true, true, text};
}

}  // namespace

Sided parse_sided_environment(const std::vector<std::string>& values) {
  Sided sided;
  for (const std::string& text : values) {
    const Prefixed entry = split_prefix(text);
    const std::size_t equals = entry.value.find('=');
    const std::string name = entry.value.substr(0, equals);
    if (equals == std::string::npos || !is_variable_name(name)) {
      throw usage_error(fmt::format("--env {}: not NAME=VALUE", text),
                        "as in --env 'B:ATEN_CPU_CAPABILITY=default'");
    }
    const std::string value = entry.value.substr(equals + 1);
    if (entry.a) {
      sided.of[0][name] = value;
    }
    if (entry.b) {
      sided.of[1][name] = value;
    }
  }
  return sided;
}

std::vector<std::uint32_t> parse_sided_threads(const std::vector<std::string>& values) {
  std::vector<std::uint32_t> threads = {1, 1};
  for (const std::string& text : values) {
    const Prefixed entry = split_prefix(text);
    std::uint32_t count = 0;
    const char* end = entry.value.data() + entry.value.size();
    const auto [stop, error] = std::from_chars(entry.value.data(), end, count);
    if (error != std::errc() || stop != end || count < 1 || count > 1024) {
      throw usage_error(fmt::format("--threads {}: not a number from 1 to 1024", text),
                        "as in --threads 2 or --threads B:2");
    }
    if (entry.a) {
      threads[0] = count;
    }
    if (entry.b) {
      threads[1] = count;
    }
  }
  return threads;
}

std::vector<Conditions> parse_sided_conditions(const std::vector<std::string>& values) {
  std::vector<Conditions> conditions(2);
  const std::vector<std::string>& names = condition_names();
  for (const std::string& text : values) {
    const Prefixed entry = split_prefix(text);
    const std::size_t equals = entry.value.find('=');
    const std::string name = entry.value.substr(0, equals);
    if (equals == std::string::npos || std::find(names.begin(), names.end(), name) == names.end()) {
      throw usage_error(fmt::format("--condition {}: not NAME=VALUE with one of the names {}", text,
                                    fmt::join(names, ", ")),
                        "as in --condition B:alignment=16");
    }
    const std::string value = entry.value.substr(equals + 1);
    if (const std::string problem = problem_of_condition(name, value); !problem.empty()) {
      throw usage_error(fmt::format("--condition {}: {}", text, problem),
                        "as in --condition B:alignment=16");
    }
    if (entry.a) {
      set_condition(name, value, conditions[0]);
    }
    if (entry.b) {
      set_condition(name, value, conditions[1]);
    }
  }
  return conditions;
}

std::array<std::optional<Attention>, 2> parse_sided_attention(
    const std::vector<std::string>& values) {
  std::array<std::optional<Attention>, 2> sided;
  for (const std::string& text : values) {
    const Prefixed entry = split_prefix(text);
    std::optional<Attention> kind;
    if (entry.value == "eager" || entry.value == "sdpa") {
      kind = entry.value == "eager" ? Attention::kEager : Attention::kSdpa;
    } else if (entry.value != "auto") {
      throw usage_error(fmt::format("--attention {}: not eager, sdpa or auto", text),
                        "as in --attention eager or --attention B:sdpa");
    }
    if (entry.a) {
      sided[0] = kind;
    }
    if (entry.b) {
      sided[1] = kind;
    }
  }
  return sided;
}

}  // namespace drift
