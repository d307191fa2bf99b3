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
  const char* moving;      ///< what it does where it moves bits; follows "known to"
  const char* still;       ///< where it moves none, likewise; empty: nothing to say
};

constexpr const char* kMkl = "MKL";
constexpr const char* kOneDnn = "oneDNN";

constexpr const char* kOwnThreads = "move nothing once the runner has set its own number";
constexpr const char* kOneThread = "move nothing on one thread";
constexpr const char* kNotAsked =
    "move nothing in operations that don't ask oneDNN, as float32 matrix products by MKL";

// Values are the documented ones, but for instruction sets older than SSE4.2. Each entry's source
// stands above it; "oneMKL guide" is the oneMKL Developer Guide for Linux.
constexpr KnownKnob kKnown[] = {
    // PyTorch's note "Numerical accuracy": sums aren't associative, so their order shows.
    {"threads", "", "1,2",
     "split matrix products and sums among threads, so that parts are added in another order",
     "move nothing where operations are too small to be split, or are split between sums and not "
     "within one"},
    // The same, "Batched computations or slice computations": other shapes, other results.
    {"cache", "", "on,off",
     "change the shapes of matrix products: one row a step with the cache, the whole context "
     "without it; other shapes take other kernels",
     ""},
    {"batch", "", "1,2",
     "change the shapes of matrix products, and what each prompt is padded to; other shapes take "
     "other kernels",
     ""},
    {"batch-position", "", "",
     "compute a request in another row, where a kernel may take other instructions",
     "move nothing where every row is computed alike"},
    {"dtype", "", "", "round every weight and every operation's result to that type", ""},
    {"interop-threads", "", "",
     "let whole operations run beside each other, where a program asks for that",
     "move nothing in a pass whose operations run one after the other"},
    // oneMKL Developer Reference, "Reproducibility Conditions": where an allocation fails in one
    // run
    // and succeeds in another, results may differ.
    {"memory-limit", "", "",
     "make a library whose allocation fails take an algorithm that needs less memory",
     "move nothing as long as every allocation succeeds"},
    // Intel, "Getting reproducible results with Intel MKL": the alignment of arrays determines how
    // loops group what they add.
    {"alignment", "", "64,32,16,8,4",
     "change how loops that begin at a rounder address group what they add",
     "move nothing in kernels that read from any address alike; the weights stay where they are"},
    // PyTorch's documentation of torch.set_flush_denormal().
    {"denormals", "", "keep,flush", "make results too small for a normal number 0",
     "move nothing where no result is that small"},
    {"load", "", "", "make work that is shared out while it runs be shared out otherwise",
     "move nothing where work is shared out by its size alone"},
    {"repeats", "", "", "show what a process keeps from one pass to the next",
     "move nothing unless an answer depends on what ran before it in the process"},
    {"prompt-order", "", "",
     "show what a process keeps from one prompt to the next, or which prompts share a batch",
     "move nothing unless an answer depends on what ran before it, or beside it in its batch"},
    {"sampler", "", "", "choose the generator of sampled tokens, and with them all that follows",
     "matter to sampled tokens alone"},
    // PyTorch, aten/src/ATen/native/cpu/README.md and DispatchStub.cpp.
    {"ATEN_CPU_CAPABILITY", "", ",default,avx2,avx512",
     "select ATen's vector kernels, which differ in the order of sums and in functions such as exp",
     "move nothing where it asks for what the build chooses by itself"},
    // oneMKL guide, "Specifying Code Branches".
    {"MKL_CBWR", kMkl, ",AUTO,COMPATIBLE,SSE4_2,AVX2,AVX512",
     "fix MKL's code branch and the way it shares work out, for reproducible results; on other "
     "makers' processors every branch but COMPATIBLE is AUTO",
     "move nothing where MKL is on that branch, and shares work out that way, by itself"},
    // oneMKL guide, "Instruction Set Specific Dispatching on Intel Architectures".
    {"MKL_ENABLE_INSTRUCTIONS", kMkl, ",SSE4_2,AVX2,AVX512",
     "limit the instruction set of MKL's kernels on Intel processors",
     "move nothing on other makers' processors, where it isn't available, and where MKL's own "
     "choice is within the limit"},
    // Not documented by Intel. D. de Kok, "Intel MKL on AMD Zen": removed in MKL 2020 Update 1.
    {"MKL_DEBUG_CPU_TYPE", kMkl, ",5",
     "make MKL before 2020.1 take its AVX2 kernels on other makers' processors",
     "move nothing since MKL 2020.1, which doesn't read it, and where MKL is on these kernels by "
     "itself"},
    // oneMKL guide, "Techniques to Set the Number of Threads": a function call takes precedence.
    {"MKL_NUM_THREADS", kMkl, ",1,2", "set MKL's number of threads", kOwnThreads},
    // oneMKL guide, "MKL_DYNAMIC".
    {"MKL_DYNAMIC", kMkl, ",FALSE", "let MKL take fewer threads than it is given, or not",
     kOneThread},
    // GNU libgomp manual, "Environment Variables", after the OpenMP specification.
    {"OMP_NUM_THREADS", "", ",1,2", "set OpenMP's number of threads", kOwnThreads},
    {"OMP_DYNAMIC", "", ",TRUE", "let OpenMP take fewer threads than it is given", kOneThread},
    {"OMP_THREAD_LIMIT", "", ",1", "limit OpenMP's threads, whatever number is asked for",
     kOneThread},
    // oneDNN Developer Guide, "CPU Dispatcher Control"; DNNL_ is the name before oneDNN 2.5.
    {"DNNL_MAX_CPU_ISA", kOneDnn, ",SSE41,AVX2,AVX512_CORE",
     "limit the instruction set of oneDNN's kernels, by its older name", kNotAsked},
    {"ONEDNN_MAX_CPU_ISA", kOneDnn, ",SSE41,AVX2,AVX512_CORE",
     "limit the instruction set of oneDNN's kernels", kNotAsked},
    // The same, "Primitive Attributes: floating-point math mode".
    {"ONEDNN_DEFAULT_FPMATH_MODE", kOneDnn, ",BF16",
     "let oneDNN compute float32 products from inputs that are rounded to bfloat16", kNotAsked},
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

std::string known_of_knob(const std::string& name, bool moved) {
  const KnownKnob* known = find_known(name);
  if (known == nullptr) {
    return "";
  }
  return moved ? known->moving : known->still;
}

}  // namespace drift
