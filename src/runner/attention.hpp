#pragma once

#include <ATen/ATen.h>

#include "wire.hpp"

namespace drift::runner {

/// Which of transformers' attentions a model computes, and what is called around it.
struct AttentionVariant {
  wire::Attention attention = wire::Attention::kEager;
  wire::ScoreScale score_scale = wire::ScoreScale::kDivide;
  wire::GenerateCalls generate_calls = wire::GenerateCalls::kAllPositions;

  bool sdpa() const { return attention == wire::Attention::kSdpa; }
  bool multiplies() const { return score_scale == wire::ScoreScale::kMultiply; }
};

/// The job's. Throws std::runtime_error, naming what is missing, where this build can't compute it.
AttentionVariant attention_of(const wire::Job& job);

/// at::scaled_dot_product_attention as transformers calls it. `queries` [B, H, T, D], `keys` and
/// `values` [B, H, K, D]; `mask`: bool, broadcast to [B, H, T, K], true where attention goes.
/// Undefined, `is_causal` is set where there is more than one query. `scale`: null for the
/// operation's own 1/√D.
at::Tensor scaled_dot_product(const at::Tensor& queries, const at::Tensor& keys,
                              const at::Tensor& values, const at::Tensor& mask,
                              const double* scale);

/// The same with `is_causal` as given, and no mask.
at::Tensor scaled_dot_product(const at::Tensor& queries, const at::Tensor& keys,
                              const at::Tensor& values, bool is_causal, const double* scale);

/// The mask that transformers gives the operation: before torch 2.5 a query that would see nothing,
/// which is padding, sees everything, since it would give NaN.
at::Tensor safe_mask(const at::Tensor& mask);

/// The lowest number of the type, 0-dimensional.
at::Tensor lowest_score(at::ScalarType dtype);

}  // namespace drift::runner
