#include "driftaudit/knobs.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> values_of(const std::string& text) { return parse_knob(text).values; }

std::string refusal_of(const std::vector<std::string>& texts) {
  try {
    parse_knobs(texts);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
    EXPECT_NE(error.hint(), "");
    return error.what();
  }
  return "no refusal";
}

TEST(Knob, HasANameAndValuesInTheirOrder) {
  const Knob knob = parse_knob("ATEN_CPU_CAPABILITY=,default,avx2");
  EXPECT_EQ(knob.name, "ATEN_CPU_CAPABILITY");
  EXPECT_THAT(knob.values, ElementsAre("", "default", "avx2"));
  EXPECT_THAT(values_of("threads=2,1"), ElementsAre("2", "1"));
}

TEST(Knob, TakesACommaAfterABackslash) {
  EXPECT_THAT(values_of(R"(MKL_CBWR=AVX2\,STRICT,AVX2)"), ElementsAre("AVX2,STRICT", "AVX2"));
  EXPECT_THAT(values_of(R"(SOME_PATH=a\\,b=c)"), ElementsAre("a\\", "b=c"));
  EXPECT_THAT(refusal_of({R"(SOME_PATH=a\n,b)"}), HasSubstr("backslash"));
  EXPECT_THAT(refusal_of({R"(SOME_PATH=a,b\)"}), HasSubstr("backslash"));
}

TEST(Knob, OfNoKnownNameIsAVariable) {
  EXPECT_TRUE(is_variable_knob("OMP_NUM_THREADS"));
  for (const char* named :
       {"threads", "cache", "dtype", "interop-threads", "memory-limit", "alignment", "denormals",
        "load", "repeats", "prompt-order", "batch", "batch-position", "sampler"}) {
    EXPECT_FALSE(is_variable_knob(named));
  }
  EXPECT_EQ(parse_knob("env:http_proxy=,x").name, "http_proxy");
}

TEST(Knob, IsRefusedWhereItMakesNoSense) {
  EXPECT_THAT(refusal_of({"threads"}), HasSubstr("not NAME=VALUE"));
  EXPECT_THAT(refusal_of({"threads=1"}), HasSubstr("one value moves nothing"));
  EXPECT_THAT(refusal_of({"threads=1,1"}), HasSubstr("\"1\" stands there twice"));
  EXPECT_THAT(refusal_of({"threads=1,0"}), HasSubstr("\"0\" is not a number from 1 to 1024"));
  EXPECT_THAT(refusal_of({"threads=1,"}), HasSubstr("\"\" is not a number"));
  EXPECT_THAT(refusal_of({"threads=1,1025"}), HasSubstr("\"1025\""));
  EXPECT_THAT(refusal_of({"cache=on,no"}), HasSubstr("\"no\" is not one of on, off"));
  EXPECT_THAT(refusal_of({"prompt-order=given,random"}), HasSubstr("not one of given, reversed"));
  EXPECT_THAT(refusal_of({"sampler=torch,ours"}), HasSubstr("not one of torch, fixed"));
  EXPECT_THAT(refusal_of({"dtype=float32,double"}), HasSubstr("one of float32, bfloat16, float16"));
  EXPECT_THAT(refusal_of({"interop-threads=1,0"}), HasSubstr("\"0\" is not a number from 1 to"));
  EXPECT_THAT(refusal_of({"memory-limit=none,2GB"}), HasSubstr("\"2GB\" is neither none nor"));
  EXPECT_THAT(refusal_of({"alignment=64,48"}), HasSubstr("\"48\" is not one of 64, 32, 16"));
  EXPECT_THAT(refusal_of({"denormals=keep,drop"}), HasSubstr("\"drop\" is neither keep nor"));
  EXPECT_THAT(refusal_of({"load=0,-1"}), HasSubstr("\"-1\" is not a number from 0 to 1024"));
  EXPECT_THAT(refusal_of({"load=0,00"}), HasSubstr("\"00\" is not a number"));
  EXPECT_THAT(refusal_of({"batch=1,0"}), HasSubstr("\"0\" is not a number from 1 to 65536"));
  EXPECT_THAT(refusal_of({"batch-position=0,x"}), HasSubstr("\"x\" is not a number from 0 to"));
  EXPECT_THAT(refusal_of({"repeats=1,0"}), HasSubstr("\"0\" is not a number from 1 to 1000"));
  EXPECT_THAT(refusal_of({"=1,2"}), HasSubstr("no such knob"));
  EXPECT_THAT(refusal_of({"A-B=1,2"}), HasSubstr("no such knob"));
  EXPECT_THAT(refusal_of({"2A=1,2"}), HasSubstr("no such knob"));
  EXPECT_THAT(refusal_of({"env:build=1,2"}), HasSubstr("can't be swept"));
  EXPECT_THAT(refusal_of({"env:threads=1,2"}), HasSubstr("can't be swept"));
  EXPECT_THAT(refusal_of({"threads=1,2", "threads=3,4"}), HasSubstr("named twice"));
}

TEST(Knob, IsNotMisspelt) {
  EXPECT_THAT(refusal_of({"thread=1,2"}), HasSubstr("no such knob; it is threads, cache"));
}

HostRecord host_with(std::uint32_t cores, std::vector<std::string> flags) {
  HostRecord host;
  host.cores = cores;
  host.cpu_flags = std::move(flags);
  return host;
}

const Knob& find_knob(const std::vector<Knob>& knobs, const std::string& name) {
  const auto at =
      std::find_if(knobs.begin(), knobs.end(), [&](const Knob& knob) { return knob.name == name; });
  EXPECT_NE(at, knobs.end()) << name;
  return *at;
}

TEST(StudyPreset, HasAsManyThreadsAsTheCoresAllow) {
  const auto threads = [](std::uint32_t cores) {
    return find_knob(preset_knobs("study", host_with(cores, {})), "threads").values;
  };
  EXPECT_THAT(threads(1), ElementsAre("1", "2"));
  EXPECT_THAT(threads(3), ElementsAre("1", "3"));
  EXPECT_THAT(threads(64), ElementsAre("1", "4"));
  EXPECT_EQ(preset_knobs("study", host_with(2, {})).size(), 4U);
}

TEST(CpuPreset, LeavesOutValuesThatTheProcessorLacks) {
  const std::vector<Knob> old = preset_knobs("cpu", host_with(8, {"sse4_2"}));
  EXPECT_THAT(find_knob(old, "ATEN_CPU_CAPABILITY").values, ElementsAre("", "default"));
  EXPECT_THAT(find_knob(old, "MKL_CBWR").values, Not(Contains("AVX2")));
  const std::vector<Knob> wide = preset_knobs("cpu", host_with(8, {"avx2", "avx512f"}));
  EXPECT_THAT(find_knob(wide, "ATEN_CPU_CAPABILITY").values,
              ElementsAre("", "default", "avx2", "avx512"));
  EXPECT_THAT(find_knob(wide, "ONEDNN_MAX_CPU_ISA").values, Contains("AVX512_CORE"));
}

TEST(CpuPreset, HasKnobsOfItsLibrariesAndOfTorch) {
  for (const Knob& knob : preset_knobs("cpu", host_with(2, {}))) {
    const std::string library = library_of_knob(knob.name);
    EXPECT_EQ(library, knob.name.starts_with("MKL_")                ? "MKL"
                       : knob.name.find("DNN") != std::string::npos ? "oneDNN"
                       : knob.name == "attention"                   ? kSdpaOperation
                                                                    : "")
        << knob.name;
  }
  EXPECT_EQ(find_knob(preset_knobs("cpu", host_with(2, {})), "denormals").values.back(), "flush");
}

TEST(Presets, AreKnobsThatCanBeTurnedAndThatSomethingIsKnownOf) {
  for (const char* preset : {"study", "cpu"}) {
    for (const Knob& knob : preset_knobs(preset, host_with(2, {}))) {
      EXPECT_GE(knob.values.size(), 2U) << knob.name;
      EXPECT_FALSE(notes_on_knob(knob.name).empty()) << knob.name;
    }
  }
  EXPECT_TRUE(notes_on_knob("NO_SUCH_VARIABLE").empty());
  EXPECT_THROW(preset_knobs("gpu", host_with(2, {})), Error);
}

}  // namespace
}  // namespace drift
