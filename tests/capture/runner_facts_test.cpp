#include <gtest/gtest.h>

#include "driftaudit/runner_process.hpp"

namespace drift {
namespace {

wire::Hello hello(const std::string& config, const std::string& parallel_info = "") {
  return {"1.10.1", config, parallel_info, 2, 1};
}

TEST(RunnerFacts, AreReadOffAnOldRelease) {
  const RunnerFacts facts = facts_from(hello(
      "PyTorch built with:\n  - GCC 7.3\n  - Intel(R) Math Kernel Library Version 2020.0.0 Product "
      "Build 20191122 for Intel(R) 64 architecture applications\n  - CPU capability usage: AVX2\n"
      "  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release, \n",
      "ATen/Parallel:\n\tat::get_num_threads() : 2\n\tmkl_get_max_threads() : 4\n"));
  EXPECT_EQ(facts.torch, "1.10.1");
  EXPECT_EQ(facts.cpu_capability, "AVX2");
  EXPECT_EQ(facts.blas, "MKL 2020.0.0");
  EXPECT_EQ(facts.aten_threads, 2U);
  EXPECT_EQ(facts.blas_threads, 4U);
}

TEST(RunnerFacts, AreReadOffANewRelease) {
  const RunnerFacts facts = facts_from(
      hello("  - Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for "
            "Intel(R) 64 architecture applications\n  - CPU capability usage: AVX512\n"));
  EXPECT_EQ(facts.blas, "MKL 2024.2");
  EXPECT_EQ(facts.cpu_capability, "AVX512");
}

TEST(RunnerFacts, NameTheGenericKernelsAlikeInAllReleases) {
  EXPECT_EQ(facts_from(hello("  - CPU capability usage: NO AVX\n")).cpu_capability, "DEFAULT");
  EXPECT_EQ(facts_from(hello("  - CPU capability usage: DEFAULT\n")).cpu_capability, "DEFAULT");
}

TEST(RunnerFacts, NameAnotherBlas) {
  EXPECT_EQ(facts_from(hello("  - Build settings: BLAS_INFO=open, BUILD=x\n")).blas, "OpenBLAS");
  EXPECT_EQ(facts_from(hello("  - Build settings: BLAS_INFO=blis, BUILD=x\n")).blas, "blis");
}

TEST(RunnerFacts, NameTheBlasThatIsLinkedRatherThanTheOneThatTorchWasBuiltWith) {
  const std::string built = "  - Build settings: BLAS_INFO=generic, BUILD=x\n";
  const RunnerFacts reference = facts_from(
      hello(built + "  - BLAS library: /usr/lib/x86_64-linux-gnu/blas/libblas.so.3.12.1\n"));
  EXPECT_EQ(reference.blas, "generic (blas/libblas.so.3.12.1)");
  EXPECT_FALSE(reference.blas_threads);
  const RunnerFacts open = facts_from(
      hello(built +
            "  - BLAS library: /usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3\n"
            "  - BLAS config: OpenBLAS 0.3.29 NO_LAPACKE DYNAMIC_ARCH SkylakeX MAX_THREADS=64\n"
            "  - BLAS threads: 2\n"));
  EXPECT_EQ(open.blas, "OpenBLAS 0.3.29");
  EXPECT_EQ(open.blas_threads, 2U);
}

TEST(RunnerFacts, NameTheKernelsThatTheBlasGoesFor) {
  EXPECT_EQ(facts_from(hello("  - BLAS dispatch: avx2 cbwr auto\n")).blas_dispatch,
            "avx2 cbwr auto");
  EXPECT_FALSE(facts_from(hello("  - CPU capability usage: AVX2\n")).blas_dispatch);
}

TEST(RunnerFacts, SayWhatIsNotKnown) {
  const RunnerFacts facts = facts_from(hello("", ""));
  EXPECT_EQ(facts.cpu_capability, "unknown");
  EXPECT_EQ(facts.blas, "unknown");
  EXPECT_FALSE(facts.blas_threads);
}

}  // namespace
}  // namespace drift
