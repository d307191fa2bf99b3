#include "model/lfs_pointer.hpp"

#include "driftaudit/error.hpp"

namespace drift {

void refuse_lfs_pointer(std::string_view text, const std::string& where) {
  if (text.starts_with("version https://git-lfs")) {
    throw usage_error(where + ": a Git LFS pointer, not the file itself",
                      "fetch the file with: git lfs pull");
  }
}

}  // namespace drift
