#pragma once

#include <string>
#include <string_view>

namespace drift {

/// Refuses the few lines that Git LFS leaves where a file wasn't fetched, whatever the file is
/// called. `where` names it. Errors (usage).
void refuse_lfs_pointer(std::string_view text, const std::string& where);

}  // namespace drift
