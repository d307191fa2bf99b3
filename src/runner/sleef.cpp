#include "sleef.hpp"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <stdexcept>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace drift::runner {
namespace {

/// A symbol of libtorch_cpu and how it is called.
struct SleefFunction {
  const char* name;
  const char* symbol;
  std::int64_t width;  ///< floats at once
  SleefExponential::Vector vector;
  bool (*cpu_has_it)();
};

#if defined(__x86_64__)

// Compiled for these instructions, and called only where the CPU has them: the vectors travel in
// registers that the rest of the program doesn't use.
__attribute__((target("avx2"))) void call_on_8(void* symbol, const float* in, float* out) {
  const auto function = reinterpret_cast<__m256 (*)(__m256)>(symbol);
  _mm256_storeu_ps(out, function(_mm256_loadu_ps(in)));
}

__attribute__((target("avx512f"))) void call_on_16(void* symbol, const float* in, float* out) {
  const auto function = reinterpret_cast<__m512 (*)(__m512)>(symbol);
  _mm512_storeu_ps(out, function(_mm512_loadu_ps(in)));
}

bool cpu_has_avx2_and_fma() {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
bool cpu_has_avx512f() { return __builtin_cpu_supports("avx512f") != 0; }

const SleefFunction kSleefFunctions[] = {
    {"sleef_expf8_u10", "Sleef_expf8_u10", 8, call_on_8, cpu_has_avx2_and_fma},
    {"sleef_expf16_u10", "Sleef_expf16_u10", 16, call_on_16, cpu_has_avx512f},
};

#else

const SleefFunction kSleefFunctions[] = {
    {"sleef_expf8_u10", "Sleef_expf8_u10", 8, nullptr, [] { return false; }},
    {"sleef_expf16_u10", "Sleef_expf16_u10", 16, nullptr, [] { return false; }},
};

#endif

}  // namespace

at::Tensor SleefExponential::operator()(const at::Tensor& x) const {
  if (x.scalar_type() != at::kFloat) {
    throw std::runtime_error("it takes float32");
  }
  const at::Tensor in = x.contiguous();
  at::Tensor out = at::empty(in.sizes(), in.options());
  const float* from = in.data_ptr<float>();
  float* to = out.data_ptr<float>();
  std::array<float, 16> some_in{};
  std::array<float, 16> some_out{};
  for (std::int64_t done = 0; done < in.numel(); done += width_) {
    const std::int64_t count = std::min(width_, in.numel() - done);
    std::copy_n(from + done, count, some_in.begin());
    vector_(symbol_, some_in.data(), some_out.data());
    std::copy_n(some_out.begin(), count, to + done);
  }
  return out;
}

bool is_sleef_exponential(const std::string& name) {
  return std::any_of(std::begin(kSleefFunctions), std::end(kSleefFunctions),
                     [&](const SleefFunction& function) { return name == function.name; });
}

SleefExponential sleef_exponential(const std::string& name) {
  const SleefFunction& function =
      *std::find_if(std::begin(kSleefFunctions), std::end(kSleefFunctions),
                    [&](const SleefFunction& candidate) { return name == candidate.name; });
  if (!function.cpu_has_it()) {
    throw std::runtime_error("operation \"" + name + "\": this CPU hasn't its instructions");
  }
  void* const symbol = ::dlsym(RTLD_DEFAULT, function.symbol);
  if (symbol == nullptr) {
    throw std::runtime_error("operation \"" + name + "\": this libtorch_cpu exports no " +
                             function.symbol);
  }
  return {symbol, function.width, function.vector};
}

}  // namespace drift::runner
