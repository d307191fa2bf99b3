#pragma once

#include <string>

namespace drift::runner {

/// Gives OpenBLAS as many threads; other libraries take ATen's number from ATen.
void set_blas_threads(int threads);

/// Lines that tell which BLAS the linker has found, where that isn't part of libtorch: the file of
/// `sgemm_`, and of OpenBLAS its own words and its threads. at::show_config() knows only the one
/// that torch was built with, whose place another may have taken (Debian's alternatives). Of MKL
/// and OpenBLAS also the kernels that they go for on this processor under these variables: MKL's
/// processor type ("zen": the lowest one, with kernels for Zen), and its reproducibility branch
/// where one is on.
///
///     "  - BLAS dispatch: avx2 cbwr auto\n"
///
///     "  - BLAS library: /usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3\n"
///     "  - BLAS config: OpenBLAS 0.3.29 DYNAMIC_ARCH … SkylakeX MAX_THREADS=64\n"
///     "  - BLAS threads: 1\n"
std::string linked_blas();

}  // namespace drift::runner
