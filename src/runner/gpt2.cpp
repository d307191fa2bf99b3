#include "gpt2.hpp"

#include <string>

namespace drift::runner {

Gpt2::Gpt2(const WeightsFile& file, at::ScalarType dtype, const AttentionVariant& variant)
    : header_(file.header()), variant_(variant) {
  const auto tensor = [&](const std::string& name) { return file[name].to(dtype); };
  const auto linear = [&](const std::string& name) {
    return Linear{tensor(name + ".weight"), tensor(name + ".bias")};
  };
  wte_ = tensor("wte.weight");
  wpe_ = tensor("wpe.weight");
  lm_head_ = (header_.flags & weights::kTied) != 0 ? wte_ : tensor("lm_head.weight");
  ln_f_ = linear("ln_f");
  for (std::uint32_t i = 0; i < header_.n_layer; ++i) {
    const std::string h = "h." + std::to_string(i) + ".";
    blocks_.push_back({static_cast<int>(i), linear(h + "ln_1"), linear(h + "attn.c_attn"),
                       linear(h + "attn.c_proj"), linear(h + "ln_2"), linear(h + "mlp.c_fc"),
                       linear(h + "mlp.c_proj")});
  }
  const std::int64_t n = header_.n_positions;
  causal_mask_ = at::ones({n, n}, at::TensorOptions(at::kBool)).tril().view({1, 1, n, n});
  // -10000 of transformers 4.15.0; its softmax is 0 as for the later releases' lowest float.
  masked_ = variant.multiplies() ? lowest_score(dtype)
                                 : at::scalar_tensor(at::Scalar(-1e4), at::TensorOptions(dtype));
  if (variant.generate_calls == wire::GenerateCalls::kLastPosition) {
    // A Parameter there, even without gradients: at::matmul then folds rows that aren't contiguous,
    // as a batch's last positions, into one matrix.
    lm_head_ = lm_head_.detach().set_requires_grad(true);
    root_ = at::scalar_tensor(at::Scalar(std::sqrt(head_width())), at::TensorOptions(dtype));
  }
  zero_ = at::scalar_tensor(at::Scalar(0.0), at::TensorOptions(dtype));
}

at::Tensor Gpt2::positions(std::int64_t past, std::int64_t tokens, const at::Tensor& attention) {
  if (!attention.defined()) {
    return at::arange(past, past + tokens, at::TensorOptions(at::kLong)).unsqueeze(0);
  }
  return at::cumsum(attention, -1)
      .sub(1)
      .masked_fill(attention.eq(0), at::Scalar(1))
      .slice(-1, past, past + tokens);
}

/// transformers' DynamicCache joins the first ones to an empty tensor, which copies them.
at::Tensor Gpt2::first_in_cache(Caller caller, const at::Tensor& heads) const {
  if (caller == Caller::kGenerateWithoutCache ||
      variant_.generate_calls == wire::GenerateCalls::kAllPositions) {
    return heads;
  }
  return at::cat({at::empty({0}, heads.options()), heads}, -2);
}

double Gpt2::score_factor(int block) const {
  const double by_width =
      (header_.flags & weights::kScaleAttention) != 0 ? std::pow(head_width(), -0.5) : 1.0;
  return (header_.flags & weights::kScaleByLayer) != 0 ? by_width / (block + 1.0) : by_width;
}

at::Tensor Gpt2::split_heads(const at::Tensor& x) const {
  const std::int64_t heads = header_.n_head;
  return x.view({x.size(0), x.size(1), heads, header_.n_embd / heads}).permute({0, 2, 1, 3});
}

}  // namespace drift::runner
