#pragma once

// TORCH_VERSION_MAJOR, _MINOR and _PATCH, wherever a release keeps them.

#if __has_include(<torch/csrc/api/include/torch/version.h>)
#include <torch/csrc/api/include/torch/version.h>
#else
#include <torch/version.h>
#endif

#include <string>

/// Whether the headers are of this release or a newer one.
#define DRIFT_TORCH_SINCE(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||     \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace drift::runner {

/// Of the headers; the macro with the whole text is younger than the oldest releases.
inline std::string torch_version() {
  return std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + "." +
         std::to_string(TORCH_VERSION_PATCH);
}

}  // namespace drift::runner
