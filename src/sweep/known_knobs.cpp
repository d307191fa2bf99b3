#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/knobs.hpp"

namespace drift {
namespace {

struct KnownKnob {
  const char* name;
  const char* cpu_values;  ///< of the preset `cpu`, as parse_knob() reads them; empty: not in it
  const char* moving;      ///< what it does where it moves bits; follows "known to"
  const char* still;       ///< where it moves none, likewise; empty: nothing to say
};

// Values are the documented ones; those of older instruction sets than SSE4.2 are left out. From:
//   threads, cache            the runner's own
//   ATEN_CPU_CAPABILITY       aten/src/ATen/native/DispatchStub.cpp, which reads it
//   MKL_CBWR                  oneMKL Developer Guide, "Values for the CBWR Settings"
//   MKL_ENABLE_INSTRUCTIONS   the same, "Instruction Set Specific Dispatching on Intel
//   Architectures" MKL_NUM_THREADS, MKL_DYNAMIC   the same, "Environment Variables for Threading
//   Control" MKL_DEBUG_CPU_TYPE        not documented; read by MKL up to 2020.0 OMP_NUM_THREADS
//   OpenMP 5.0, 6.2 DNNL_/ONEDNN_MAX_CPU_ISA  oneDNN Developer Guide, "CPU Dispatcher Control"
//   ONEDNN_DEFAULT_FPMATH_MODE  the same, "Primitive Attributes: floating-point math mode"
constexpr const char* kOwnThreads = "move nothing once the runner has set its own number";
constexpr const char* kNoOneDnn =
    "move nothing in a build without oneDNN, or in operations that don't ask it, as float32 matrix "
    "products by MKL";

constexpr KnownKnob kKnown[] = {
    {"threads", "1,2",
     "split matrix products and sums among threads, so that parts are added in another order",
     "move nothing where operations are too small to be split, or are split between sums and not "
     "within one"},
    {"cache", "on,off",
     "change the shapes of matrix products: one row a step with the cache, the whole context "
     "without it; other shapes take other kernels",
     ""},
    {"prompt-order", "",
     "move nothing unless an answer depends on what ran before it, or beside it in its batch", ""},
    {"sampler", "", "choose the generator of sampled tokens, and with them all that follows",
     "matter to sampled tokens alone"},
    {"ATEN_CPU_CAPABILITY", ",default,avx2,avx512",
     "select ATen's vector kernels, which differ in the order of sums and in functions such as exp",
     "move nothing where it asks for what the build chooses by itself"},
    {"MKL_CBWR", ",COMPATIBLE,SSE4_2,AVX2,AVX512",
     "pin MKL's code path for reproducible results; another path adds in another order",
     "move nothing where MKL is on that path by itself"},
    {"MKL_ENABLE_INSTRUCTIONS", ",SSE4_2,AVX2,AVX512",
     "limit the instruction set of MKL's kernels on Intel processors",
     "move nothing on other makers' processors, where MKL's own choice is within the limit, or "
     "where the calls ask for a kernel that it has once only"},
    {"MKL_DEBUG_CPU_TYPE", ",5",
     "make MKL up to 2020.0 take its AVX2 path on other makers' processors",
     "move nothing on Intel processors that are on that path by themselves, and since MKL 2020.1"},
    {"MKL_NUM_THREADS", ",1,2", "set MKL's number of threads", kOwnThreads},
    {"MKL_DYNAMIC", ",FALSE", "let MKL take fewer threads than it may have, or not",
     "move nothing on one thread"},
    {"OMP_NUM_THREADS", ",1,2", "set OpenMP's number of threads", kOwnThreads},
    {"DNNL_MAX_CPU_ISA", ",SSE41,AVX2,AVX512_CORE",
     "limit the instruction set of oneDNN's kernels, by its older name", kNoOneDnn},
    {"ONEDNN_MAX_CPU_ISA", ",SSE41,AVX2,AVX512_CORE",
     "limit the instruction set of oneDNN's kernels", kNoOneDnn},
    {"ONEDNN_DEFAULT_FPMATH_MODE", ",BF16",
     "let oneDNN round the inputs of float32 products to bfloat16", kNoOneDnn},
};

bool has_flag(const HostRecord& host, const std::string& flag) {
  return std::find(host.cpu_flags.begin(), host.cpu_flags.end(), flag) != host.cpu_flags.end();
}

/// Whether the processor has the instructions that a value names.
bool takes(const HostRecord& host, std::string_view value) {
  if (value.starts_with("avx512") || value.starts_with("AVX512")) {
    return has_flag(host, "avx512f");
  }
  return (value != "avx2" && value != "AVX2") || has_flag(host, "avx2");
}

std::vector<Knob> cpu_knobs(const HostRecord& host) {
  std::vector<Knob> knobs;
  for (const KnownKnob& known : kKnown) {
    if (*known.cpu_values == '\0') {
      continue;
    }
    Knob knob = parse_knob(fmt::format("{}={}", known.name, known.cpu_values));
    std::erase_if(knob.values, [&](const std::string& value) { return !takes(host, value); });
    knobs.push_back(std::move(knob));
  }
  return knobs;
}

std::vector<Knob> study_knobs(const HostRecord& host) {
  const std::uint32_t threads = std::clamp<std::uint32_t>(host.cores, 2, 4);
  return parse_knobs({fmt::format("threads=1,{}", threads), "ATEN_CPU_CAPABILITY=,default",
                      "MKL_ENABLE_INSTRUCTIONS=,SSE4_2", "cache=on,off"});
}

}  // namespace

std::vector<Knob> preset_knobs(const std::string& preset, const HostRecord& host) {
  if (preset == "study") {
    return study_knobs(host);
  }
  if (preset == "cpu") {
    return cpu_knobs(host);
  }
  throw usage_error(preset + ": no such preset", "presets are study and cpu");
}

std::string known_of_knob(const std::string& name, bool moved) {
  for (const KnownKnob& known : kKnown) {
    if (name == known.name) {
      return moved ? known.moving : known.still;
    }
  }
  return "";
}

}  // namespace drift
