#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/runner_process.hpp"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(RunnerEnvironment, KeepsWhatProgramsNeedAndDropsTheRest) {
  const RunnerEnvironment result =
      runner_environment({{"PATH", "/bin"}, {"HOME", "/root"}, {"PYTHONPATH", "/x"}}, {});
  EXPECT_THAT(result.variables, ElementsAre(Pair("HOME", "/root"), Pair("PATH", "/bin")));
  EXPECT_THAT(result.knobs, IsEmpty());
  EXPECT_THAT(result.dropped, IsEmpty());
}

TEST(RunnerEnvironment, PassesKnobsOnAndNamesThem) {
  const std::map<std::string, std::string> knobs = {
      {"ATEN_CPU_CAPABILITY", "avx2"}, {"DNNL_VERBOSE", "1"},       {"GOMP_CPU_AFFINITY", "0"},
      {"KMP_BLOCKTIME", "0"},          {"MKL_VERBOSE", "1"},        {"OMP_NUM_THREADS", "2"},
      {"ONEDNN_MAX_CPU_ISA", "AVX2"},  {"OPENBLAS_CORETYPE", "Zen"}};
  const RunnerEnvironment result = runner_environment(knobs, {});
  EXPECT_EQ(result.knobs, knobs);
  EXPECT_EQ(result.variables, knobs);
}

TEST(RunnerEnvironment, LetsASidesOwnVariablesWin) {
  const RunnerEnvironment result =
      runner_environment({{"MKL_CBWR", "AUTO"}}, {{"MKL_CBWR", "AVX2"}, {"MINE", "1"}});
  EXPECT_THAT(result.knobs, ElementsAre(Pair("MINE", "1"), Pair("MKL_CBWR", "AVX2")));
  EXPECT_EQ(result.variables, result.knobs);
}

TEST(RunnerEnvironment, NamesTheLoaderVariablesThatItDrops) {
  const RunnerEnvironment result =
      runner_environment({{"LD_LIBRARY_PATH", "/x"}, {"LD_PRELOAD", "a.so"}}, {});
  EXPECT_THAT(result.dropped, ElementsAre("LD_LIBRARY_PATH", "LD_PRELOAD"));
  EXPECT_THAT(result.variables, IsEmpty());
}

TEST(RunnerEnvironment, DropsNothingThatIsEmpty) {
  EXPECT_THAT(runner_environment({{"LD_PRELOAD", ""}}, {}).dropped, IsEmpty());
}

}  // namespace
}  // namespace drift
