#include "driftaudit/knobs.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>

#include <fmt/format.h>

#include "driftaudit/conditions.hpp"
#include "driftaudit/error.hpp"
#include "driftaudit/runner_process.hpp"

#include "base/whole_number.hpp"

namespace drift {
namespace {

constexpr const char* kExample =
    "as in --knob threads=1,2 or --knob ATEN_CPU_CAPABILITY=,default,avx2 (nothing: unset)";
constexpr std::array kNamed = {"threads",      "cache",        "dtype",     "interop-threads",
                               "memory-limit", "alignment",    "denormals", "load",
                               "repeats",      "prompt-order", "batch",     "batch-position",
                               "sampler",      "attention"};
constexpr std::string_view kVariable = "env:";

Error refusal(const std::string& text, const std::string& what) {
  return usage_error(fmt::format("--knob {}: {}", text, what), kExample);
}

bool has_capital(const std::string& name) {
  return std::any_of(name.begin(), name.end(), [](unsigned char c) { return std::isupper(c); });
}

/// Values between commas.
std::vector<std::string> split_values(const std::string& text, std::string_view list) {
  std::vector<std::string> values(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] == ',') {
      values.emplace_back();
      continue;
    }
    if (list[i] == '\\') {
      ++i;
      if (i == list.size() || (list[i] != ',' && list[i] != '\\')) {
        throw refusal(text, "a backslash stands before a comma or a backslash alone");
      }
    }
    values.back() += list[i];
  }
  return values;
}

bool is_number(const std::string& value, std::uint32_t least, std::uint32_t most) {
  const std::optional<std::uint64_t> number = whole_number_in(value);
  return number && *number >= least && *number <= most;
}

/// What a named knob says of a value; empty: it takes it.
std::string problem_of(const std::string& name, const std::string& value) {
  const auto one_of = [&](std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), value) != names.end()
               ? ""
               : fmt::format("\"{}\" is not one of {}", value, fmt::join(names, ", "));
  };
  const auto number = [&](std::uint32_t least, std::uint32_t most) {
    return is_number(value, least, most)
               ? ""
               : fmt::format("\"{}\" is not a number from {} to {}", value, least, most);
  };
  if (is_variable_knob(name)) {
    return "";
  }
  if (name == "threads") {
    return number(1, 1024);
  }
  if (name == "load") {
    return number(0, 1024);
  }
  if (name == "batch") {
    return number(1, 65536);
  }
  if (name == "batch-position") {
    return number(0, 65535);
  }
  if (name == "repeats") {
    return number(1, 1000);
  }
  if (name == "cache") {
    return one_of({"on", "off"});
  }
  if (name == "dtype") {
    return one_of({"float32", "bfloat16", "float16"});
  }
  if (name == "attention") {
    return one_of({"eager", "sdpa"});
  }
  if (name == "prompt-order") {
    return one_of({"given", "reversed"});
  }
  return name == "sampler" ? one_of({"torch", "fixed"}) : problem_of_condition(name, value);
}

/// The knob's name of what stands before the `=`.
std::string name_of_knob(const std::string& text, const std::string& word) {
  if (!is_variable_knob(word)) {
    return word;
  }
  const bool prefixed = word.starts_with(kVariable);
  std::string name = prefixed ? word.substr(kVariable.size()) : word;
  if (!is_variable_name(name) || (!prefixed && !has_capital(name))) {
    throw refusal(text, fmt::format("no such knob; it is {}, or an environment variable (one "
                                    "without a capital letter as env:NAME)",
                                    fmt::join(kNamed, ", ")));
  }
  if (!is_variable_knob(name) || name == "build") {
    throw refusal(text, "a variable of that name can't be swept");
  }
  return name;
}

}  // namespace

bool is_variable_knob(const std::string& name) {
  return std::find(kNamed.begin(), kNamed.end(), name) == kNamed.end();
}

Knob parse_knob(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw refusal(text, "not NAME=VALUE,VALUE");
  }
  Knob knob;
  knob.name = name_of_knob(text, text.substr(0, equals));
  knob.values = split_values(text, std::string_view(text).substr(equals + 1));
  if (knob.values.size() < 2) {
    throw refusal(text, "one value moves nothing; a knob takes two or more");
  }
  for (auto value = knob.values.begin(); value != knob.values.end(); ++value) {
    if (const std::string problem = problem_of(knob.name, *value); !problem.empty()) {
      throw refusal(text, problem);
    }
    if (std::find(knob.values.begin(), value, *value) != value) {
      throw refusal(text, fmt::format("\"{}\" stands there twice", *value));
    }
  }
  return knob;
}

std::vector<Knob> parse_knobs(const std::vector<std::string>& texts) {
  std::vector<Knob> knobs;
  for (const std::string& text : texts) {
    Knob knob = parse_knob(text);
    for (const Knob& other : knobs) {
      if (other.name == knob.name) {
        throw refusal(text, "the knob is named twice; put all of its values into one");
      }
    }
    knobs.push_back(std::move(knob));
  }
  return knobs;
}

}  // namespace drift
