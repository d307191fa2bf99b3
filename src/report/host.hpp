#pragma once

#include <string>
#include <string_view>

#include "driftaudit/report.hpp"

namespace drift {

/// The processor's name and the flags that kernels choose by, from the text of /proc/cpuinfo;
/// "unknown" where it says none.
void read_cpuinfo(std::string_view cpuinfo, HostRecord& host);

/// PRETTY_NAME of the text of an os-release file, or empty.
std::string os_name(std::string_view os_release);

}  // namespace drift
