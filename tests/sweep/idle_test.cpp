#include "sweep/idle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sweep/worded_report.hpp"

namespace drift {
namespace {

using test::worded_report;
using ::testing::HasSubstr;

using Values = std::map<std::string, std::string>;

/// Two cells of one build, which answered three prompts alike.
struct Pair {
  Pair() {
    settings.modes = {"greedy"};
    a = b = worded_report("abc abc abc");
    for (Report* answer : {&a, &b}) {
      BuildRecord& build = answer->builds[0];
      build.cpu_capability = "AVX2";
      build.blas = "MKL 2020.0.0";
      build.blas_dispatch = "zen";
      build.threads = 1;
      build.blas_threads = 1;
      build.peak_address_bytes = std::uint64_t{2} << 30U;
    }
  }

  std::string idle(const std::string& knob, const Values& of_a, const Values& of_b) const {
    return idle_reason(knob, settings, {of_a, a}, {of_b, b});
  }
  std::string idle(const std::string& knob, const std::string& of_a,
                   const std::string& of_b) const {
    return idle(knob, Values{{knob, of_a}}, Values{{knob, of_b}});
  }

  SettingsRecord settings;
  Report a;
  Report b;
};

TEST(IdleKnob, IsAPositionInABatchOfOne) {
  Pair pair;
  EXPECT_NE(pair.idle("batch-position", "0", "1"), "");
  EXPECT_EQ(pair.idle("batch-position", {{"batch-position", "0"}, {"batch", "2"}},
                      {{"batch-position", "1"}, {"batch", "2"}}),
            "");
  pair.settings.batch = 2;
  EXPECT_EQ(pair.idle("batch-position", "0", "1"), "");
  EXPECT_NE(pair.idle("batch-position", "0", "2"), "") << "a full circle";
}

TEST(IdleKnob, IsTheOrderOfOnePrompt) {
  Pair pair;
  EXPECT_EQ(pair.idle("prompt-order", "given", "reversed"), "");
  pair.a = pair.b = worded_report("abc");
  EXPECT_NE(pair.idle("prompt-order", "given", "reversed"), "");
}

TEST(IdleKnob, IsABatchThatHoldsAllPromptsEitherWay) {
  const Pair pair;
  EXPECT_EQ(pair.idle("batch", "1", "4"), "");
  EXPECT_EQ(pair.idle("batch", "2", "4"), "");
  EXPECT_NE(pair.idle("batch", "3", "4"), "");
}

TEST(IdleKnob, IsACacheThatNoStepReads) {
  Pair pair;
  EXPECT_EQ(pair.idle("cache", "on", "off"), "");
  pair.a = pair.b = worded_report("a b c");
  EXPECT_NE(pair.idle("cache", "on", "off"), "");
}

TEST(IdleKnob, IsASamplerWithoutSamples) {
  Pair pair;
  EXPECT_EQ(pair.idle("sampler", "torch", "fixed"), "no mode samples");
  pair.settings.modes = {"greedy", "sample"};
  EXPECT_EQ(pair.idle("sampler", "torch", "fixed"), "");
}

TEST(IdleKnob, IsAMemoryLimitAboveAllThatWasEverThere) {
  Pair pair;
  const auto limited = [&](std::uint64_t limit) {
    pair.b.builds[0].conditions.memory_limit = limit;
    return pair.idle("memory-limit", "none", "some");
  };
  EXPECT_THAT(limited(std::uint64_t{8} << 30U), HasSubstr("2048 MB"));
  EXPECT_EQ(limited(std::uint64_t{1} << 30U), "");
  pair.b.builds[0].peak_address_bytes = 0;
  EXPECT_EQ(limited(std::uint64_t{8} << 30U), "") << "not known";
}

TEST(IdleKnob, IsAVariableThatChoosesTheKernelsOfItself) {
  Pair pair;
  EXPECT_NE(pair.idle("ATEN_CPU_CAPABILITY", "", "avx2"), "");
  EXPECT_NE(pair.idle("MKL_ENABLE_INSTRUCTIONS", "", "AVX2"), "");
  pair.b.builds[0].blas_dispatch = "avx2";
  EXPECT_EQ(pair.idle("MKL_DEBUG_CPU_TYPE", "", "5"), "");
  EXPECT_EQ(pair.idle("ATEN_CPU_CAPABILITY", "", "avx2"), "");
  pair.a.builds[0].blas_dispatch.reset();
  pair.b.builds[0].blas_dispatch.reset();
  EXPECT_EQ(pair.idle("MKL_DEBUG_CPU_TYPE", "", "5"), "") << "MKL doesn't say";
}

TEST(IdleKnob, IsAVariableOfThreadsThatTheRunnerSetsItselfOrOfWhichThereIsOne) {
  Pair pair;
  EXPECT_NE(pair.idle("OMP_NUM_THREADS", "", "2"), "");
  EXPECT_NE(pair.idle("OMP_DYNAMIC", "", "TRUE"), "");
  pair.a.builds[0].threads = pair.b.builds[0].threads = 2;
  EXPECT_EQ(pair.idle("OMP_DYNAMIC", "", "TRUE"), "");
  pair.b.builds[0].threads = 1;
  EXPECT_EQ(pair.idle("OMP_NUM_THREADS", "", "2"), "");
}

TEST(IdleKnob, IsAVariableOfALibraryThatIsNotThere) {
  Pair pair;
  EXPECT_EQ(pair.idle("MKL_DYNAMIC", "", "FALSE"), "there is one thread");
  pair.a.builds[0].blas = pair.b.builds[0].blas = "OpenBLAS 0.3.21";
  EXPECT_EQ(pair.idle("MKL_DYNAMIC", "", "FALSE"), "the build has no MKL");
  EXPECT_EQ(pair.idle("SOME_VARIABLE", "", "1"), "") << "who knows";
}

TEST(IdleKnob, IsNoneThatAlwaysActs) {
  const Pair pair;
  for (const char* knob : {"threads", "dtype", "alignment", "denormals", "load", "repeats",
                           "interop-threads", "build"}) {
    EXPECT_EQ(pair.idle(knob, "1", "2"), "") << knob;
  }
}

}  // namespace
}  // namespace drift
