#include "capture/known_variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace drift {
namespace {

/// From the manuals of PyTorch, oneMKL, oneDNN, OpenBLAS and of the OpenMP runtimes of GNU and
/// LLVM.
constexpr auto kKnown = std::to_array<std::string_view>({
    "ATEN_CPU_CAPABILITY",
    "MKL_CBWR",
    "MKL_DEBUG_CPU_TYPE",
    "MKL_DISABLE_FAST_MM",
    "MKL_DOMAIN_NUM_THREADS",
    "MKL_DYNAMIC",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_FAST_MEMORY_LIMIT",
    "MKL_INTERFACE_LAYER",
    "MKL_NUM_STRIPES",
    "MKL_NUM_THREADS",
    "MKL_PEAK_MEM_LIMIT",
    "MKL_THREADING_LAYER",
    "MKL_VERBOSE",
    "MKL_VERBOSE_OUTPUT_FILE",
    "DNNL_CPU_ISA_HINTS",
    "DNNL_DEFAULT_FPMATH_MODE",
    "DNNL_JIT_DUMP",
    "DNNL_JIT_PROFILE",
    "DNNL_MAX_CPU_ISA",
    "DNNL_PRIMITIVE_CACHE_CAPACITY",
    "DNNL_VERBOSE",
    "DNNL_VERBOSE_TIMESTAMP",
    "ONEDNN_CPU_ISA_HINTS",
    "ONEDNN_DEFAULT_FPMATH_MODE",
    "ONEDNN_JIT_DUMP",
    "ONEDNN_JIT_PROFILE",
    "ONEDNN_MAX_CPU_ISA",
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY",
    "ONEDNN_VERBOSE",
    "ONEDNN_VERBOSE_TIMESTAMP",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_DEFAULT_NUM_THREADS",
    "OPENBLAS_MAIN_FREE",
    "OPENBLAS_NUM_THREADS",
    "OPENBLAS_THREAD_TIMEOUT",
    "OPENBLAS_VERBOSE",
    "OMP_CANCELLATION",
    "OMP_DISPLAY_AFFINITY",
    "OMP_DISPLAY_ENV",
    "OMP_DYNAMIC",
    "OMP_MAX_ACTIVE_LEVELS",
    "OMP_NESTED",
    "OMP_NUM_TEAMS",
    "OMP_NUM_THREADS",
    "OMP_PLACES",
    "OMP_PROC_BIND",
    "OMP_SCHEDULE",
    "OMP_STACKSIZE",
    "OMP_TEAMS_THREAD_LIMIT",
    "OMP_THREAD_LIMIT",
    "OMP_WAIT_POLICY",
    "GOMP_CPU_AFFINITY",
    "GOMP_DEBUG",
    "GOMP_SPINCOUNT",
    "GOMP_STACKSIZE",
    "KMP_AFFINITY",
    "KMP_ALL_THREADS",
    "KMP_BLOCKTIME",
    "KMP_DETERMINISTIC_REDUCTION",
    "KMP_DUPLICATE_LIB_OK",
    "KMP_FORCE_REDUCTION",
    "KMP_HW_SUBSET",
    "KMP_INIT_AT_FORK",
    "KMP_LIBRARY",
    "KMP_SETTINGS",
    "KMP_STACKSIZE",
    "KMP_TEAMS_THREAD_LIMIT",
    "KMP_TPAUSE",
    "KMP_USER_LEVEL_MWAIT",
    "KMP_WARNINGS",
});

/// How many letters are put in, left out, replaced, or swapped with their neighbour.
std::size_t slips_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    last[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before = std::move(last);
    last = std::move(row);
  }
  return last.back();
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return result;
}

}  // namespace

bool is_known_variable(std::string_view name) {
  return std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end();
}

std::string meant_variable(std::string_view name) {
  if (is_known_variable(name)) {
    return "";
  }
  const std::string written = upper(name);
  std::string_view nearest;
  std::size_t least = 0;
  for (const std::string_view known : kKnown) {
    const std::size_t slips = slips_between(written, known);
    // Short names are all alike: a slip in four letters, two at most.
    if (slips <= std::min<std::size_t>(2, known.size() / 4) && (nearest.empty() || slips < least)) {
      nearest = known;
      least = slips;
    }
  }
  return std::string(nearest);
}

}  // namespace drift
