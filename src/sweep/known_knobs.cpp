#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "driftaudit/error.hpp"
#include "driftaudit/knobs.hpp"

namespace drift {
namespace {

struct KnownKnob {
  const char* name;
  const char* library;     ///< without which nothing reads it; empty: torch itself, or the runner
  const char* cpu_values;  ///< of the preset `cpu`, as parse_knob() reads them; empty: not in it
  const char* manual;      ///< what a manual says, which is named first, or what the knob does here
  const char* seen;        ///< what was seen, and on which processor; or empty
};

constexpr const char* kMkl = "MKL";
constexpr const char* kOneDnn = "oneDNN";
constexpr const char* kOpenBlas = "OpenBLAS";

constexpr const char* kOneDnnIsa =
    "the oneDNN Developer Guide, \"CPU Dispatcher Control\": it limits the instruction set of "
    "oneDNN's kernels. Which operations oneDNN computes wasn't asked";

// Values are the documented ones, but for instruction sets older than SSE4.2. "oneMKL guide" is the
// oneMKL Developer Guide for Linux.
constexpr KnownKnob kKnown[] = {
    {"threads", "", "1,2",
     "sums that are split among threads are added in another order; what is too small to be split, "
     "or is split between sums, keeps its order",
     ""},
    {"cache", "", "on,off",
     "PyTorch's note \"Numerical accuracy\": results of other shapes needn't be the same bits. "
     "With the cache a step computes one row, without it the whole context",
     ""},
    {"batch", "", "1,2",
     "PyTorch's note \"Numerical accuracy\": batched results needn't be the bits of those computed "
     "alone",
     ""},
    {"batch-position", "", "",
     "a request is computed in another row, where a kernel may take other instructions", ""},
    {"attention", kSdpaOperation, "eager,sdpa",
     "PyTorch's documentation of scaled_dot_product_attention: it fuses scores, mask, softmax and "
     "sum, and its output may differ with the kernel that is chosen",
     "torch 2.9.1 on an AMD EPYC with AVX2: sdpa gave other bits than eager in float32 and in "
     "bfloat16, on one thread and on two; in bfloat16 other tokens too"},
    {"dtype", "", "", "every weight and every operation's result is rounded to that type", ""},
    {"interop-threads", "", "",
     "they let whole operations run beside each other, where a program asks for that; the runner's "
     "pass doesn't",
     ""},
    {"memory-limit", "", "",
     "the oneMKL Developer Reference, \"Reproducibility Conditions\": results may differ where an "
     "allocation fails in one run and succeeds in another",
     ""},
    {"alignment", "", "64,32,16,8,4",
     "Intel, \"Getting reproducible results with Intel MKL\": the alignment of arrays "
     "determines how loops group what they add. The weights stay where they are",
     ""},
    {"denormals", "", "keep,flush",
     "PyTorch's manual, torch.set_flush_denormal(): results too small for a normal number become 0",
     ""},
    {"load", "", "", "work that is shared out while it runs may be shared out otherwise", ""},
    {"repeats", "", "", "an answer that depends on what ran before it in the process shows", ""},
    {"prompt-order", "", "",
     "an answer that depends on what ran before it, or beside it in its batch, shows", ""},
    {"sampler", "", "",
     "it chooses the generator of sampled tokens, and with them all that follows", ""},
    {"ATEN_CPU_CAPABILITY", "", ",default,avx2,avx512",
     "PyTorch, aten/src/ATen/native/cpu/README.md: it selects ATen's vector kernels",
     "torch 1.13.1 on an AMD EPYC with AVX-512: default, avx2 and avx512 each gave other bits"},
    {"MKL_CBWR", kMkl, ",AUTO,COMPATIBLE,SSE4_2,AVX2,AVX512",
     "the oneMKL guide, \"Specifying Code Branches\": it fixes MKL's code branch for reproducible "
     "results; on other makers' processors every branch but COMPATIBLE is AUTO",
     "MKL 2020.0 on an AMD EPYC answered compatible to COMPATIBLE and auto to all else; on "
     "an Intel Xeon with AVX-512 and AMX it answered auto to COMPATIBLE too"},
    {"MKL_ENABLE_INSTRUCTIONS", kMkl, ",SSE4_2,AVX2,AVX512",
     "the oneMKL guide, \"Instruction Set Specific Dispatching on Intel Architectures\": it limits "
     "the instruction set of MKL's kernels on Intel processors",
     "MKL 2020.0 on an AMD EPYC went for zen whatever the value; on an Intel Haswell that qemu "
     "emulates SSE4_2 made it go for sse4.2"},
    {"MKL_DEBUG_CPU_TYPE", kMkl, ",5",
     "in no manual; D. de Kok, \"Intel MKL on AMD Zen\": MKL before 2020.1 takes its AVX2 kernels "
     "for 5",
     "MKL 2020.0 went for avx2 by it on an AMD EPYC, in place of zen, and followed it on an Intel "
     "Xeon with AVX-512 and AMX as well"},
    {"MKL_NUM_THREADS", kMkl, ",1,2",
     "the oneMKL guide, \"Techniques to Set the Number of Threads\": a function call, which the "
     "runner makes, takes precedence",
     ""},
    {"MKL_DYNAMIC", kMkl, ",FALSE",
     "the oneMKL guide, \"MKL_DYNAMIC\": by it MKL may take fewer threads than it is given", ""},
    {"OMP_NUM_THREADS", "", ",1,2",
     "the GNU libgomp manual: it sets the number of threads, unless a program sets one, as the "
     "runner does",
     ""},
    {"OMP_DYNAMIC", "", ",TRUE",
     "the GNU libgomp manual: by it OpenMP may take fewer threads than it is given", ""},
    {"OMP_THREAD_LIMIT", "", ",1",
     "the GNU libgomp manual: it limits the threads, whatever number is asked for", ""},
    // DNNL_ is the name before oneDNN 2.5.
    {"DNNL_MAX_CPU_ISA", kOneDnn, ",SSE41,AVX2,AVX512_CORE", kOneDnnIsa, ""},
    {"ONEDNN_MAX_CPU_ISA", kOneDnn, ",SSE41,AVX2,AVX512_CORE", kOneDnnIsa, ""},
    {"ONEDNN_DEFAULT_FPMATH_MODE", kOneDnn, ",BF16",
     "the oneDNN Developer Guide, \"Primitive Attributes: floating-point math mode\": float32 "
     "products may be computed from inputs that are rounded to bfloat16",
     ""},
    {"OPENBLAS_CORETYPE", kOpenBlas, "",
     "OpenBLAS's README: it chooses the kernels of a processor type", ""},
    {"OPENBLAS_NUM_THREADS", kOpenBlas, "",
     "OpenBLAS's README: it sets the number of threads; the runner sets its own", ""},
};

const KnownKnob* find_known(const std::string& name) {
  const auto* const at = std::find_if(std::begin(kKnown), std::end(kKnown),
                                      [&](const KnownKnob& known) { return name == known.name; });
  return at == std::end(kKnown) ? nullptr : at;
}

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

std::string library_of_knob(const std::string& name) {
  const KnownKnob* known = find_known(name);
  return known == nullptr ? "" : known->library;
}

std::vector<std::string> notes_on_knob(const std::string& name) {
  const KnownKnob* known = find_known(name);
  if (known == nullptr) {
    return {};
  }
  std::vector<std::string> notes = {known->manual};
  if (*known->seen != '\0') {
    notes.push_back(fmt::format("seen with {}", known->seen));
  }
  return notes;
}

}  // namespace drift
