#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "driftaudit/runner_process.hpp"

namespace drift {
namespace {

/// Variables that move bits, or may: worth passing on and worth recording.
constexpr std::array<std::string_view, 8> kKnobFamilies = {
    "ATEN_", "MKL_", "OMP_", "KMP_", "GOMP_", "DNNL_", "ONEDNN_", "OPENBLAS_"};
/// What programs need to run at all, launchers such as ssh among them.
constexpr std::array<std::string_view, 6> kMinimal = {"PATH",    "HOME",   "USER",
                                                      "LOGNAME", "TMPDIR", "SSH_AUTH_SOCK"};
/// These would put other libraries in the place of the build's own.
constexpr std::array<std::string_view, 2> kDropped = {"LD_PRELOAD", "LD_LIBRARY_PATH"};

bool is_knob(std::string_view name) {
  return std::any_of(kKnobFamilies.begin(), kKnobFamilies.end(), [&](std::string_view family) {
    return name.substr(0, family.size()) == family;
  });
}

template <std::size_t N>
bool among(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool is_variable_name(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(), fits);
}

RunnerEnvironment runner_environment(const std::map<std::string, std::string>& caller,
                                     const std::map<std::string, std::string>& own) {
  RunnerEnvironment result;
  for (const auto& [name, value] : caller) {
    if (is_knob(name)) {
      result.variables[name] = value;
      result.knobs[name] = value;
    } else if (among(name, kMinimal)) {
      result.variables[name] = value;
    } else if (among(name, kDropped) && !value.empty() && own.count(name) == 0) {
      result.dropped.push_back(name);
    }
  }
  for (const auto& [name, value] : own) {
    result.variables[name] = value;
    result.knobs[name] = value;
  }
  return result;
}

}  // namespace drift
