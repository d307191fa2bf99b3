#pragma once

#include <functional>
#include <string>
#include <vector>

#include "driftaudit/report.hpp"

namespace drift {

/// What makes runs doubtful by their runners' own words: settings that the libraries didn't follow,
/// or of which that can't be known, and what was printed on stderr. Each stands once, with those
/// that it is of, by `name_of` their index.
std::vector<std::string> runner_warnings(const std::vector<BuildRecord>& builds,
                                         const std::function<std::string(std::size_t)>& name_of);

/// "ATEN_CPU_CAPABILITY=AVX512 isn't honoured: ATen names avx2 as its kernels".
std::string doubt_in_words(const DoubtfulSetting& setting);

}  // namespace drift
