#include "attention.hpp"

#include <limits>
#include <stdexcept>
#include <string>

#include "torch_version.hpp"

namespace drift::runner {
namespace {

#if !DRIFT_TORCH_SINCE(2, 1)
[[noreturn]] void refuse_sdpa() {
  throw std::runtime_error(
      "attention sdpa needs scaled_dot_product_attention with a scale, which torch has since 2.1; "
      "this is torch " +
      torch_version());
}
#endif

template <class Enum>
void check_known(Enum value, Enum last, const char* what) {
  if (value > last) {
    throw std::runtime_error("there is no " + std::string(what) + " " +
                             std::to_string(static_cast<std::uint32_t>(value)));
  }
}

}  // namespace

AttentionVariant attention_of(const wire::Job& job) {
  check_known(job.attention, wire::Attention::kSdpa, "attention");
  check_known(job.score_scale, wire::ScoreScale::kMultiply, "scale of scores");
  check_known(job.generate_calls, wire::GenerateCalls::kLastPosition, "kind of generate() calls");
#if !DRIFT_TORCH_SINCE(2, 1)
  if (job.attention == wire::Attention::kSdpa) {
    refuse_sdpa();
  }
#endif
  return {job.attention, job.score_scale, job.generate_calls};
}

at::Tensor scaled_dot_product(const at::Tensor& queries, const at::Tensor& keys,
                              const at::Tensor& values, const at::Tensor& mask,
                              const double* scale) {
  if (!mask.defined()) {
    return scaled_dot_product(queries, keys, values, queries.size(-2) > 1, scale);
  }
#if DRIFT_TORCH_SINCE(2, 1)
  return scale == nullptr
             ? at::scaled_dot_product_attention(queries, keys, values, mask, 0.0, false)
             : at::scaled_dot_product_attention(queries, keys, values, mask, 0.0, false, *scale);
#else
  refuse_sdpa();
#endif
}

at::Tensor scaled_dot_product([[maybe_unused]] const at::Tensor& queries,
                              [[maybe_unused]] const at::Tensor& keys,
                              [[maybe_unused]] const at::Tensor& values,
                              [[maybe_unused]] bool is_causal,
                              [[maybe_unused]] const double* scale) {
#if DRIFT_TORCH_SINCE(2, 1)
  return scale == nullptr
             ? at::scaled_dot_product_attention(queries, keys, values, {}, 0.0, is_causal)
             : at::scaled_dot_product_attention(queries, keys, values, {}, 0.0, is_causal, *scale);
#else
  refuse_sdpa();
#endif
}

at::Tensor safe_mask(const at::Tensor& mask) {
#if DRIFT_TORCH_SINCE(2, 5)
  return mask;
#else
  return at::logical_or(mask, at::all(at::logical_not(mask), -1, true));
#endif
}

at::Tensor lowest_score(at::ScalarType dtype) {
  const auto scalar = [&](double value) {
    return at::scalar_tensor(at::Scalar(value), at::TensorOptions(dtype));
  };
  switch (dtype) {
    case at::kBFloat16:
      return scalar(static_cast<float>(std::numeric_limits<at::BFloat16>::lowest()));
    case at::kHalf:
      return scalar(static_cast<float>(std::numeric_limits<at::Half>::lowest()));
    default:
      return scalar(std::numeric_limits<float>::lowest());
  }
}

}  // namespace drift::runner
