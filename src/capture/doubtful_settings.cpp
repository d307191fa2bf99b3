#include "driftaudit/doubtful_settings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "driftaudit/runner_process.hpp"

#include "capture/known_variables.hpp"

namespace drift {
namespace {

constexpr const char* kNotHonoured = "not_honoured";
constexpr const char* kUnknown = "unknown";

/// What is wrong with a setting; nothing: it is honoured.
struct Doubt {
  const char* state;
  std::string answer;
};
using MaybeDoubt = std::optional<Doubt>;

/// Lower-case letters and digits alone: "SSE4_2" and "sse4.2" name the same.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return result;
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

MaybeDoubt aten_doubt(const std::string& value, const RunnerFacts& facts) {
  if (facts.cpu_capability.empty() || facts.cpu_capability == "unknown") {
    return Doubt{kUnknown, "ATen doesn't name its kernels"};
  }
  if (plain(value) == plain(facts.cpu_capability)) {
    return std::nullopt;
  }
  return Doubt{kNotHonoured,
               fmt::format("ATen names {} as its kernels", lower(facts.cpu_capability))};
}

/// The doubt that a build doesn't have the library that reads a variable, or that the library
/// doesn't say what it does.
MaybeDoubt mkl_silence(const RunnerFacts& facts) {
  if (!facts.blas.starts_with("MKL")) {
    return Doubt{kNotHonoured,
                 fmt::format("MKL would read it, and the build's BLAS is {}", facts.blas)};
  }
  if (!facts.blas_dispatch) {
    return Doubt{kUnknown, facts.blas + " doesn't say which kernels it goes for"};
  }
  return std::nullopt;
}

/// "zen" of "zen cbwr auto".
std::string mkl_type(const RunnerFacts& facts) {
  return facts.blas_dispatch->substr(0, facts.blas_dispatch->find(' '));
}

/// "auto" of "zen cbwr auto"; "off" without one.
std::string mkl_branch(const RunnerFacts& facts) {
  constexpr std::string_view kMark = " cbwr ";
  const std::size_t at = facts.blas_dispatch->find(kMark);
  return at == std::string::npos ? "off" : facts.blas_dispatch->substr(at + kMark.size());
}

Doubt goes_for(const RunnerFacts& facts) {
  return {kNotHonoured, fmt::format("{} goes for {}", facts.blas, mkl_type(facts))};
}

MaybeDoubt branch_doubt(const std::string& value, const RunnerFacts& facts) {
  if (MaybeDoubt silent = mkl_silence(facts)) {
    return silent;
  }
  std::string asked = plain(value.substr(0, value.find(',')));
  if (asked == "branchoff") {
    asked = "off";
  }
  if (asked == plain(mkl_branch(facts))) {
    return std::nullopt;
  }
  return Doubt{kNotHonoured,
               fmt::format("{} names {} as its branch", facts.blas, mkl_branch(facts))};
}

MaybeDoubt instructions_doubt(const std::string& value, const RunnerFacts& facts) {
  if (MaybeDoubt silent = mkl_silence(facts)) {
    return silent;
  }
  const std::string asked = plain(value);
  const std::string type = plain(mkl_type(facts));
  if (asked == type) {
    return std::nullopt;
  }
  if (asked.starts_with("avx512") && type.starts_with("avx512")) {
    return Doubt{kUnknown, fmt::format("{} goes for {}, and doesn't say with which extensions",
                                       facts.blas, mkl_type(facts))};
  }
  return goes_for(facts);
}

/// The numbers of MKL's processor types aren't documented: these are the names that MKL gives to
/// them, as a runner does.
MaybeDoubt processor_doubt(const std::string& value, const RunnerFacts& facts) {
  constexpr std::array<const char*, 8> kTypes = {"sse2", "sse3", "ssse3",     "sse42",
                                                 "avx",  "avx2", "avx512mic", "avx512"};
  if (MaybeDoubt silent = mkl_silence(facts)) {
    return silent;
  }
  const bool is_type = value.size() == 1 && value[0] >= '0' && value[0] <= '7';
  if (is_type && kTypes.at(static_cast<std::size_t>(value[0] - '0')) == plain(mkl_type(facts))) {
    return std::nullopt;
  }
  return goes_for(facts);
}

MaybeDoubt core_doubt(const std::string& value, const RunnerFacts& facts) {
  if (!facts.blas.starts_with("OpenBLAS")) {
    return Doubt{kNotHonoured,
                 fmt::format("OpenBLAS would read it, and the build's BLAS is {}", facts.blas)};
  }
  if (!facts.blas_dispatch) {
    return Doubt{kUnknown, facts.blas + " doesn't say which kernels it goes for"};
  }
  if (plain(value) == plain(*facts.blas_dispatch)) {
    return std::nullopt;
  }
  return Doubt{kNotHonoured, fmt::format("{} goes for {}", facts.blas, *facts.blas_dispatch)};
}

MaybeDoubt onednn_doubt(const std::string& /*value*/, const RunnerFacts& facts) {
  if (!facts.has_onednn) {
    return Doubt{kNotHonoured, "oneDNN would read it, and the build has none"};
  }
  return Doubt{kUnknown, "the oneDNN within libtorch doesn't say which kernels it goes for"};
}

struct Chooser {
  const char* name;
  MaybeDoubt (*doubt)(const std::string& value, const RunnerFacts& facts);
};

/// The variables that choose kernels.
constexpr auto kChoosers = std::to_array<Chooser>({
    {"ATEN_CPU_CAPABILITY", aten_doubt},
    {"MKL_CBWR", branch_doubt},
    {"MKL_ENABLE_INSTRUCTIONS", instructions_doubt},
    {"MKL_DEBUG_CPU_TYPE", processor_doubt},
    {"OPENBLAS_CORETYPE", core_doubt},
    {"DNNL_MAX_CPU_ISA", onednn_doubt},
    {"ONEDNN_MAX_CPU_ISA", onednn_doubt},
    {"DNNL_DEFAULT_FPMATH_MODE", onednn_doubt},
    {"ONEDNN_DEFAULT_FPMATH_MODE", onednn_doubt},
});

/// Families in which only known names mean something. OpenMP's runtimes read more than is listed.
bool is_of_closed_family(std::string_view name) {
  constexpr auto kFamilies =
      std::to_array<std::string_view>({"ATEN_", "MKL_", "DNNL_", "ONEDNN_", "OPENBLAS_"});
  return std::any_of(kFamilies.begin(), kFamilies.end(),
                     [&](std::string_view family) { return name.starts_with(family); });
}

MaybeDoubt name_doubt(const std::string& name) {
  const std::string meant = meant_variable(name);
  if (!meant.empty()) {
    return Doubt{kNotHonoured,
                 fmt::format("no library is known to read it; did you mean {}?", meant)};
  }
  if (is_of_closed_family(name) && !is_known_variable(name)) {
    return Doubt{kUnknown, "no library is known to read it"};
  }
  return std::nullopt;
}

MaybeDoubt doubt_of(const std::string& name, const std::string& value, const RunnerFacts& facts) {
  for (const Chooser& chooser : kChoosers) {
    if (name == chooser.name) {
      return value.empty() ? std::nullopt : chooser.doubt(value, facts);
    }
  }
  return name_doubt(name);
}

}  // namespace

std::vector<DoubtfulSetting> doubtful_settings(const std::map<std::string, std::string>& variables,
                                               const RunnerFacts& facts) {
  std::vector<DoubtfulSetting> doubtful;
  for (const auto& [name, value] : variables) {
    if (MaybeDoubt doubt = doubt_of(name, value, facts)) {
      doubtful.push_back({name, value, doubt->state, std::move(doubt->answer)});
    }
  }
  return doubtful;
}

}  // namespace drift
