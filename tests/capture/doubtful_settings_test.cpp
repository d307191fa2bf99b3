#include "driftaudit/doubtful_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/runner_process.hpp"

#include "capture/known_variables.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

RunnerFacts facts(const std::string& capability, const std::string& blas = "MKL 2020.0.0",
                  std::optional<std::string> dispatch = "zen") {
  RunnerFacts facts;
  facts.cpu_capability = capability;
  facts.blas = blas;
  facts.blas_dispatch = std::move(dispatch);
  facts.has_onednn = true;
  return facts;
}

/// "state: answer" of the one doubt; empty without any.
std::string doubt(const std::string& name, const std::string& value, const RunnerFacts& of) {
  const std::vector<DoubtfulSetting> doubtful = doubtful_settings({{name, value}}, of);
  if (doubtful.empty()) {
    return "";
  }
  EXPECT_THAT(doubtful, SizeIs(1));
  EXPECT_EQ(doubtful[0].name, name);
  EXPECT_EQ(doubtful[0].value, value);
  return doubtful[0].state + ": " + doubtful[0].answer;
}

TEST(DoubtfulSettings, HoldWhatWasAskedOfATenAgainstTheKernelsThatItNames) {
  const auto aten = [](const char* value, const char* named) {
    return doubt("ATEN_CPU_CAPABILITY", value, facts(named));
  };
  EXPECT_EQ(aten("avx2", "AVX2"), "");
  EXPECT_EQ(aten("default", "DEFAULT"), "");
  EXPECT_EQ(aten("avx512", "AVX512"), "");
  EXPECT_EQ(aten("AVX512", "AVX2"), "not_honoured: ATen names avx2 as its kernels");
  EXPECT_EQ(aten("avx512", "AVX2"), "not_honoured: ATen names avx2 as its kernels");
  EXPECT_EQ(aten("fastest", "AVX512"), "not_honoured: ATen names avx512 as its kernels");
  EXPECT_EQ(aten("", "AVX2"), "");
  EXPECT_EQ(aten("avx2", "unknown"), "unknown: ATen doesn't name its kernels");
}

TEST(DoubtfulSettings, HoldABranchAgainstTheOneThatMklNames) {
  const auto mkl = [](const char* value, const char* dispatch) {
    return doubt("MKL_CBWR", value, facts("AVX2", "MKL 2020.0.0", dispatch));
  };
  EXPECT_EQ(mkl("AUTO", "zen cbwr auto"), "");
  EXPECT_EQ(mkl("COMPATIBLE", "sse2 cbwr compatible"), "");
  EXPECT_EQ(mkl("SSE4_2", "avx512 cbwr sse4_2"), "");
  EXPECT_EQ(mkl("AVX2,STRICT", "avx2 cbwr avx2"), "");
  EXPECT_EQ(mkl("COMPATIBLE", "avx512 cbwr auto"),
            "not_honoured: MKL 2020.0.0 names auto as its branch");
  EXPECT_EQ(mkl("AVX2", "zen cbwr auto"), "not_honoured: MKL 2020.0.0 names auto as its branch");
  EXPECT_EQ(mkl("avx22", "avx512"), "not_honoured: MKL 2020.0.0 names off as its branch");
}

TEST(DoubtfulSettings, HoldInstructionsAndProcessorTypesAgainstTheTypeThatMklGoesFor) {
  const auto mkl = [](const char* name, const char* value, const char* dispatch) {
    return doubt(name, value, facts("AVX2", "MKL 2024.2", dispatch));
  };
  EXPECT_EQ(mkl("MKL_ENABLE_INSTRUCTIONS", "SSE4_2", "sse4.2"), "");
  EXPECT_EQ(mkl("MKL_ENABLE_INSTRUCTIONS", "AVX2", "avx2 cbwr auto"), "");
  EXPECT_EQ(mkl("MKL_ENABLE_INSTRUCTIONS", "AVX512", "avx2"),
            "not_honoured: MKL 2024.2 goes for avx2");
  EXPECT_EQ(mkl("MKL_ENABLE_INSTRUCTIONS", "SSE4_2", "zen"),
            "not_honoured: MKL 2024.2 goes for zen");
  EXPECT_THAT(mkl("MKL_ENABLE_INSTRUCTIONS", "AVX512_E2", "avx512"),
              HasSubstr("unknown: MKL 2024.2 goes for avx512, and doesn't say"));
  EXPECT_EQ(mkl("MKL_DEBUG_CPU_TYPE", "5", "avx2"), "");
  EXPECT_EQ(mkl("MKL_DEBUG_CPU_TYPE", "4", "avx"), "");
  EXPECT_EQ(mkl("MKL_DEBUG_CPU_TYPE", "5", "zen"), "not_honoured: MKL 2024.2 goes for zen");
  EXPECT_EQ(mkl("MKL_DEBUG_CPU_TYPE", "avx2", "avx2"), "not_honoured: MKL 2024.2 goes for avx2");
}

TEST(DoubtfulSettings, TellALibraryThatIsSilentFromOneThatIsNotThere) {
  EXPECT_THAT(doubt("MKL_CBWR", "AVX2", facts("AVX2", "MKL", std::nullopt)),
              HasSubstr("unknown: MKL doesn't say"));
  EXPECT_EQ(doubt("MKL_CBWR", "AVX2", facts("AVX2", "OpenBLAS 0.3.21", "Zen")),
            "not_honoured: MKL would read it, and the build's BLAS is OpenBLAS 0.3.21");
  EXPECT_THAT(doubt("ONEDNN_MAX_CPU_ISA", "AVX2", facts("AVX2")),
              HasSubstr("unknown: the oneDNN within libtorch doesn't say"));
  RunnerFacts without = facts("AVX2");
  without.has_onednn = false;
  EXPECT_THAT(doubt("ONEDNN_MAX_CPU_ISA", "AVX2", without), HasSubstr("not_honoured: "));
}

TEST(DoubtfulSettings, HoldACoreAgainstTheOneThatOpenBlasNames) {
  const RunnerFacts open = facts("AVX2", "OpenBLAS 0.3.21", "Haswell");
  EXPECT_EQ(doubt("OPENBLAS_CORETYPE", "Haswell", open), "");
  EXPECT_EQ(doubt("OPENBLAS_CORETYPE", "haswell", open), "");
  EXPECT_EQ(doubt("OPENBLAS_CORETYPE", "SkylakeX", open),
            "not_honoured: OpenBLAS 0.3.21 goes for Haswell");
  EXPECT_THAT(doubt("OPENBLAS_CORETYPE", "Haswell", facts("AVX2")), HasSubstr("not_honoured: "));
}

TEST(DoubtfulSettings, NameWhatNoLibraryIsKnownToRead) {
  const RunnerFacts any = facts("AVX2");
  EXPECT_EQ(doubt("ATEN_CPU_CAPABILTY", "avx2", any),
            "not_honoured: no library is known to read it; did you mean ATEN_CPU_CAPABILITY?");
  EXPECT_THAT(doubt("MKL_CBRW", "AVX2", any), HasSubstr("did you mean MKL_CBWR?"));
  EXPECT_EQ(doubt("MKL_FASTER_PLEASE", "1", any), "unknown: no library is known to read it");
  EXPECT_EQ(doubt("MY_OWN_VARIABLE", "1", any), "");
  EXPECT_EQ(doubt("KMP_SOMETHING_ELSE", "1", any), "");
  EXPECT_EQ(doubt("OMP_NUM_THREADS", "2", any), "");
  EXPECT_EQ(doubt("MKL_VERBOSE", "1", any), "");
}

TEST(MeantVariable, IsTheKnownOneThatIsASlipAway) {
  EXPECT_EQ(meant_variable("ATEN_CPU_CAPABILITY"), "");
  EXPECT_EQ(meant_variable("ATEN_CPU_CAPABILTY"), "ATEN_CPU_CAPABILITY");
  EXPECT_EQ(meant_variable("ATEN_CPU_CAPABILITIES"), "");
  EXPECT_EQ(meant_variable("aten_cpu_capability"), "ATEN_CPU_CAPABILITY");
  EXPECT_EQ(meant_variable("MKL_CBRW"), "MKL_CBWR");
  EXPECT_EQ(meant_variable("MKL_ENABLE_INSTRUCTION"), "MKL_ENABLE_INSTRUCTIONS");
  EXPECT_EQ(meant_variable("ONEDN_MAX_CPU_ISA"), "ONEDNN_MAX_CPU_ISA");
  EXPECT_EQ(meant_variable("OMP_NUM_THREAD"), "OMP_NUM_THREADS");
  for (const char* other : {"PATH", "OMP_NUM", "X_Y", "NOTHING_READS_THIS", "MALLOC_ARENA_MAX",
                            "LD_BIND_NOW", "OMP_TOOL", "KMP_VERSION"}) {
    EXPECT_EQ(meant_variable(other), "") << other;
  }
}

}  // namespace
}  // namespace drift
