#include "blas.hpp"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>

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

}  // namespace

std::string linked_blas() {
  const std::string file = file_of("sgemm_");
  if (file.empty() || file.find("/libtorch") != std::string::npos) {
    return "";
  }
  std::string lines = "  - BLAS library: " + file + "\n";
  // Debian's LAPACK may bring OpenBLAS in beside another BLAS.
  if (file.find("openblas") == std::string::npos) {
    return lines;
  }
  if (const auto config = linked_function<const char* (*)()>("openblas_get_config")) {
    lines += std::string("  - BLAS config: ") + config() + "\n";
  }
  if (const auto threads = linked_function<int (*)()>("openblas_get_num_threads")) {
    lines += "  - BLAS threads: " + std::to_string(threads()) + "\n";
  }
  return lines;
}

}  // namespace drift::runner
