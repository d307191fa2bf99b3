#include "blas.hpp"

#include <array>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>

namespace drift::runner {
namespace {

template <class Function>
Function linked_function(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
}

/// The file that a symbol comes from, without symbolic links; empty where nothing exports it.
std::string file_of(const char* symbol) {
  Dl_info info{};
  const void* address = ::dlsym(RTLD_DEFAULT, symbol);
  char path[PATH_MAX];
  if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr ||
      ::realpath(info.dli_fname, path) == nullptr) {
    return "";
  }
  return path;
}

/// What a function of MKL without arguments gives; nothing where this libtorch exports none of that
/// name.
std::optional<int> mkl_says(const char* name) {
  const auto function = linked_function<int (*)()>(name);
  return function == nullptr ? std::nullopt : std::optional(function());
}

/// "avx2", or the number where it has no known name.
template <std::size_t N>
std::string named(const std::array<const char*, N>& names, int number) {
  return number >= 0 && static_cast<std::size_t>(number) < N
             ? names[static_cast<std::size_t>(number)]
             : std::to_string(number);
}

// MKL's processor types by number, which MKL_DEBUG_CPU_TYPE takes too. The numbers aren't
// documented; the names are those that mkl_get_version() gives to them.
constexpr std::array<const char*, 8> kMklTypes = {"sse2", "sse3", "ssse3",      "sse4.2",
                                                  "avx",  "avx2", "avx512_mic", "avx512"};
// mkl_types.h, "branch specific values": MKL_CBWR_BRANCH_OFF is 1.
constexpr std::array<const char*, 15> kMklBranches = {
    "0",      "off", "auto", "compatible", "sse2",   "sse3",          "ssse3",    "sse4_1",
    "sse4_2", "avx", "avx2", "avx512_mic", "avx512", "avx512_mic_e1", "avx512_e1"};

/// Which of its kernels MKL goes for; empty where it doesn't say.
std::string mkl_dispatch() {
  const std::optional<int> type = mkl_says("mkl_serv_cpu_detect");
  if (!type) {
    return "";
  }
  constexpr int kBranch = 1;  // MKL_CBWR_BRANCH
  const bool zen = *type == 0 && mkl_says("mkl_serv_cpuiszen").value_or(0) != 0;
  std::string words = zen ? "zen" : named(kMklTypes, *type);
  if (const auto branch_of = linked_function<int (*)(int)>("mkl_serv_cbwr_get")) {
    const int branch = branch_of(kBranch);
    words += branch > 1 ? " cbwr " + named(kMklBranches, branch) : "";
  }
  return words;
}

}  // namespace

void set_blas_threads(int threads) {
  if (const auto set = linked_function<void (*)(int)>("openblas_set_num_threads")) {
    set(threads);
  }
}

std::string linked_blas() {
  std::string lines;
  const std::string file = file_of("sgemm_");
  const bool separate = !file.empty() && file.find("/libtorch") == std::string::npos;
  if (separate) {
    lines += "  - BLAS library: " + file + "\n";
  }
  // Debian's LAPACK may bring OpenBLAS in beside another BLAS.
  if (!separate || file.find("openblas") == std::string::npos) {
    const std::string dispatch = mkl_dispatch();
    return dispatch.empty() ? lines : lines + "  - BLAS dispatch: " + dispatch + "\n";
  }
  if (const auto config = linked_function<const char* (*)()>("openblas_get_config")) {
    lines += std::string("  - BLAS config: ") + config() + "\n";
  }
  if (const auto core = linked_function<const char* (*)()>("openblas_get_corename")) {
    lines += std::string("  - BLAS dispatch: ") + core() + "\n";
  }
  if (const auto threads = linked_function<int (*)()>("openblas_get_num_threads")) {
    lines += "  - BLAS threads: " + std::to_string(threads()) + "\n";
  }
  return lines;
}

}  // namespace drift::runner
