#pragma once

#include <string>

namespace drift::runner {

/// Lines that tell which BLAS the linker has found, where that isn't part of libtorch: the file of
/// `sgemm_`, and of OpenBLAS its own words and its threads. at::show_config() knows only the one
/// that torch was built with, whose place another may have taken (Debian's alternatives).
///
///     "  - BLAS library: /usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3\n"
///     "  - BLAS config: OpenBLAS 0.3.29 DYNAMIC_ARCH … SkylakeX MAX_THREADS=64\n"
///     "  - BLAS threads: 1\n"
std::string linked_blas();

}  // namespace drift::runner
