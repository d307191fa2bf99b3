#pragma once

// GPT-2's operations: the ones of Hugging Face's GPT2LMHeadModel, in the same order, on the same
// shapes and strides, so that the bits are the ones that users of transformers get, with eager
// attention or scaled_dot_product_attention. A change of order, shape or stride here changes bits:
// tests/e2e holds both together.
//
// Shapes: B rows of a batch (1 where a request runs alone), T tokens now, K keys (past and now), C
// = n_embd, H = n_head, D = C / H, V the vocabulary.

#include <cmath>
#include <vector>

#include <ATen/ATen.h>

#include "attention.hpp"
#include "tap.hpp"
#include "weights.hpp"

namespace drift::runner {

/// Keys and values of the tokens seen so far, each [B, H, K, D]; one entry a block.
struct KvCache {
  struct Entry {
    at::Tensor keys, values;
  };
  std::vector<Entry> blocks;

  std::int64_t length() const { return blocks.empty() ? 0 : blocks[0].keys.size(-2); }
};

/// On whose behalf a pass runs: wire::GenerateCalls says what hangs on it.
enum class Caller {
  kModel,                ///< somebody who calls the model itself
  kGenerate,             ///< generate()
  kGenerateWithoutCache  ///< generate(use_cache=False)
};

class Gpt2 {
 public:
  /// Computes in `dtype`, in which the weights are held: float32 ones as they lie in the file.
  Gpt2(const WeightsFile& file, at::ScalarType dtype, const AttentionVariant& variant);

  std::int64_t context_length() const { return header_.n_positions; }
  std::int64_t vocabulary() const { return header_.vocab_size; }
  at::ScalarType dtype() const { return wte_.scalar_type(); }

  /// Logits [B, T, V], or [B, 1, V] of the last position where the caller needs no others, in
  /// float32, of the tokens `ids` [B, T] (int64) that follow those in `cache`, which takes in their
  /// keys and values. T + cache.length() = K must not exceed context_length().
  ///
  /// `attention` [B, K] (int64) is 1 where a token lies and 0 where padding does; undefined where
  /// there is no batch, which then costs no operation. Positions are its running sum.
  template <class Tap>
  at::Tensor forward(const Tap& tap, Caller caller, const at::Tensor& ids, KvCache& cache,
                     const at::Tensor& attention = {}) const;

 private:
  struct Linear {
    at::Tensor weight, bias;
  };
  struct Block {
    int index;
    Linear ln_1, qkv, attention_out, ln_2, fc, mlp_out;
  };

  /// Where the attention doesn't go.
  struct Masks {
    /// Bool [1, 1, T, K] or [B, 1, T, K], false where it doesn't; undefined where nothing is masked
    /// so.
    at::Tensor allowed;
    at::Tensor added;  ///< [B, 1, 1, K] or [B, 1, T, K], added to the scores; may be undefined
  };

  /// int64 [B, T]; [1, T] without a batch.
  static at::Tensor positions(std::int64_t past, std::int64_t tokens, const at::Tensor& attention);
  template <class Tap>
  Masks masks(const Tap& tap, std::int64_t past, std::int64_t tokens,
              const at::Tensor& attention) const;
  template <class Tap>
  static at::Tensor allowed(const Tap& tap, const at::Tensor& causal, const at::Tensor& attention);
  template <class Tap>
  static at::Tensor sdpa_mask(const Tap& tap, const at::Tensor& causal,
                              const at::Tensor& attention);
  template <class Tap>
  at::Tensor padding_scores(const Tap& tap, const at::Tensor& attention) const;
  template <class Tap>
  at::Tensor attend(const Tap& tap, Caller caller, const Block& block, const at::Tensor& x,
                    const Masks& masks, KvCache::Entry& past) const;
  /// The keys, or the values, that a cache begins with.
  at::Tensor first_in_cache(Caller caller, const at::Tensor& heads) const;
  /// What the scores are multiplied by in `block`.
  double score_factor(int block) const;
  template <class Tap>
  at::Tensor sdpa(const Tap& tap, int block, const at::Tensor& queries, const at::Tensor& keys,
                  const at::Tensor& values, const Masks& masks) const;
  template <class Tap>
  at::Tensor scaled_and_masked(const Tap& tap, int block, const at::Tensor& unscaled,
                               const Masks& masks) const;
  template <class Tap>
  at::Tensor attention_weights(const Tap& tap, int block, const at::Tensor& queries,
                               const at::Tensor& keys, const Masks& masks) const;
  template <class Tap>
  static at::Tensor gelu(const Tap& tap, int block, const at::Tensor& x);
  template <class Tap>
  at::Tensor layer_norm(const Tap& tap, OperationName name, const Linear& norm,
                        const at::Tensor& x) const;
  template <class Tap>
  static at::Tensor conv1d(const Tap& tap, OperationName name, const Linear& linear,
                           const at::Tensor& x);
  at::Tensor split_heads(const at::Tensor& x) const;
  double head_width() const { return static_cast<double>(header_.n_embd / header_.n_head); }

  weights::Header header_;
  AttentionVariant variant_;
  at::Tensor wte_, wpe_, lm_head_;
  std::vector<Block> blocks_;
  Linear ln_f_;
  at::Tensor causal_mask_;  ///< bool [1, 1, n_positions, n_positions], true where attention goes
  at::Tensor masked_;       ///< the score of a masked position, 0-dimensional
  at::Tensor zero_;         ///< 0-dimensional
  /// √D in the model's type, 0-dimensional, as later releases divide by it: in bfloat16 another
  /// divisor than the number. Undefined for the earlier ones.
  at::Tensor root_;
};

template <class Tap>
at::Tensor Gpt2::forward(const Tap& tap, Caller caller, const at::Tensor& ids, KvCache& cache,
                         const at::Tensor& attention) const {
  const std::int64_t past = cache.length();
  const std::int64_t tokens = ids.size(-1);
  cache.blocks.resize(blocks_.size());

  const auto lookup = [](const at::Tensor& table, const at::Tensor& rows) {
    return at::embedding(table, rows);
  };
  const auto sum = [](const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); };
  const at::Tensor token_rows = tap({-1, "embed.tokens"}, lookup, wte_, ids);
  const at::Tensor position_rows =
      tap({-1, "embed.positions"}, lookup, wpe_, positions(past, tokens, attention));
  at::Tensor x = tap({-1, "embed.sum"}, sum, token_rows, position_rows);

  const Masks masked = masks(tap, past, tokens, attention);
  for (const Block& block : blocks_) {
    const int i = block.index;
    const at::Tensor normed = layer_norm(tap, {i, "ln_1"}, block.ln_1, x);
    const at::Tensor attended =
        attend(tap, caller, block, normed, masked, cache.blocks[static_cast<std::size_t>(i)]);
    x = tap({i, "attn.residual"}, sum, attended, x);
    const at::Tensor hidden =
        conv1d(tap, {i, "mlp.fc"}, block.fc, layer_norm(tap, {i, "ln_2"}, block.ln_2, x));
    const at::Tensor fed = conv1d(tap, {i, "mlp.proj"}, block.mlp_out, gelu(tap, i, hidden));
    x = tap({i, "mlp.residual"}, sum, x, fed);
  }
  x = layer_norm(tap, {-1, "ln_f"}, ln_f_, x);
  if (caller != Caller::kModel && variant_.generate_calls == wire::GenerateCalls::kLastPosition) {
    x = x.slice(1, tokens - 1, tokens);
  }
  const at::Tensor logits = tap(
      {-1, "lm_head"},
      [](const at::Tensor& in, const at::Tensor& weight) { return at::linear(in, weight); }, x,
      lm_head_);
  return logits.to(at::kFloat);  // exact: of every dtype float32 has all values
}

template <class Tap>
Gpt2::Masks Gpt2::masks(const Tap& tap, std::int64_t past, std::int64_t tokens,
                        const at::Tensor& attention) const {
  const at::Tensor causal = causal_mask_.slice(2, past, past + tokens).slice(3, 0, past + tokens);
  if (variant_.sdpa()) {
    return {sdpa_mask(tap, causal, attention), {}};
  }
  if (variant_.multiplies()) {
    const auto scores = [](const at::Tensor& m, const at::Tensor& zero, const at::Tensor& lowest) {
      return at::where(m, zero, lowest);
    };
    return {{}, tap({-1, "mask.scores"}, scores, allowed(tap, causal, attention), zero_, masked_)};
  }
  return {causal, attention.defined() ? padding_scores(tap, attention) : at::Tensor()};
}

template <class Tap>
at::Tensor Gpt2::allowed(const Tap& tap, const at::Tensor& causal, const at::Tensor& attention) {
  if (!attention.defined()) {
    return causal;
  }
  return tap(
      {-1, "mask.allowed"},
      [](const at::Tensor& a, const at::Tensor& b) { return at::logical_and(a, b); }, causal,
      attention.view({attention.size(0), 1, 1, attention.size(1)}).to(at::kBool));
}

/// None where is_causal, or nothing at all, says the same.
template <class Tap>
at::Tensor Gpt2::sdpa_mask(const Tap& tap, const at::Tensor& causal, const at::Tensor& attention) {
  const std::int64_t tokens = causal.size(2);
  const bool padded = attention.defined() && !at::all(attention.to(at::kBool)).item<bool>();
  if (!padded && (tokens == 1 || tokens == causal.size(3))) {
    return {};
  }
  return safe_mask(allowed(tap, causal, attention));
}

/// For rows of a batch, (1 - attention) · -10000 as transformers 4.15.0 has it. Later releases add
/// the lowest float instead; both leave padding a weight of 0 in every row that is a token's, so
/// that those rows have the same bits (rows of padding differ, and nothing reads them).
template <class Tap>
at::Tensor Gpt2::padding_scores(const Tap& tap, const at::Tensor& attention) const {
  const at::Tensor tokens_as_1 =
      attention.view({attention.size(0), 1, 1, attention.size(1)}).to(masked_.scalar_type());
  const at::Tensor padding_as_1 = tap(
      {-1, "padding.mask"}, [](const at::Tensor& mask) { return at::rsub(mask, at::Scalar(1.0)); },
      tokens_as_1);
  return tap(
      {-1, "padding.scores"},
      [](const at::Tensor& mask) { return at::mul(mask, at::Scalar(-1e4)); }, padding_as_1);
}

template <class Tap>
at::Tensor Gpt2::attend(const Tap& tap, Caller caller, const Block& block, const at::Tensor& x,
                        const Masks& masks, KvCache::Entry& past) const {
  const int i = block.index;
  const std::vector<at::Tensor> qkv =
      conv1d(tap, {i, "attn.qkv"}, block.qkv, x).split(header_.n_embd, 2);
  const at::Tensor queries = split_heads(qkv[0]);
  at::Tensor keys = split_heads(qkv[1]);
  at::Tensor values = split_heads(qkv[2]);
  if (past.keys.defined()) {
    const auto append = [](const at::Tensor& a, const at::Tensor& b) {
      return at::cat({a, b}, -2);
    };
    keys = tap({i, "attn.keys"}, append, past.keys, keys);
    values = tap({i, "attn.values"}, append, past.values, values);
  } else {
    keys = first_in_cache(caller, keys);
    values = first_in_cache(caller, values);
  }
  past = {keys, values};

  const at::Tensor context =
      variant_.sdpa()
          ? sdpa(tap, i, queries, keys, values, masks)
          : tap(
                {i, "attn.context"},
                [](const at::Tensor& w, const at::Tensor& v) { return at::matmul(w, v); },
                attention_weights(tap, i, queries, keys, masks), values);
  const at::Tensor merged = tap(
      {i, "attn.merge"}, [](const at::Tensor& heads) { return heads.contiguous(); },
      context.permute({0, 2, 1, 3}));
  return conv1d(tap, {i, "attn.proj"}, block.attention_out,
                merged.view({x.size(0), x.size(1), header_.n_embd}));
}

template <class Tap>
at::Tensor Gpt2::sdpa(const Tap& tap, int block, const at::Tensor& queries, const at::Tensor& keys,
                      const at::Tensor& values, const Masks& masks) const {
  const double factor = score_factor(block);
  const double* const scale = variant_.multiplies() ? &factor : nullptr;
  if (masks.allowed.defined()) {
    return tap(
        {block, "attn.sdpa"},
        [scale](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                const at::Tensor& mask) { return scaled_dot_product(q, k, v, mask, scale); },
        queries, keys, values, masks.allowed);
  }
  return tap(
      {block, "attn.sdpa"},
      [scale](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
        return scaled_dot_product(q, k, v, at::Tensor(), scale);
      },
      queries, keys, values);
}

/// Softmax [B, H, T, K] of the masked, scaled scores.
template <class Tap>
at::Tensor Gpt2::attention_weights(const Tap& tap, int block, const at::Tensor& queries,
                                   const at::Tensor& keys, const Masks& masks) const {
  const at::Tensor scores = tap(
      {block, "attn.scores"},
      [](const at::Tensor& q, const at::Tensor& k) { return at::matmul(q, k); }, queries,
      keys.transpose(-1, -2));
  return tap(
      {block, "attn.softmax"}, [](const at::Tensor& s) { return at::softmax(s, -1); },
      scaled_and_masked(tap, block, scores, masks));
}

template <class Tap>
at::Tensor Gpt2::scaled_and_masked(const Tap& tap, int block, const at::Tensor& unscaled,
                                   const Masks& masks) const {
  const auto add = [](const at::Tensor& mask, const at::Tensor& s) { return at::add(s, mask); };
  if (variant_.multiplies()) {
    const double factor = score_factor(block);
    const at::Tensor scores = tap(
        {block, "attn.scale"},
        [factor](const at::Tensor& s) { return at::mul(s, at::Scalar(factor)); }, unscaled);
    return tap({block, "attn.mask"}, add, masks.added, scores);
  }
  at::Tensor scores = unscaled;
  if ((header_.flags & weights::kScaleAttention) != 0) {
    scores = tap(
        {block, "attn.scale"},
        [this](const at::Tensor& s) {
          return root_.defined() ? at::div(s, root_)
                                 : at::div(s, at::Scalar(std::sqrt(head_width())));
        },
        scores);
  }
  if ((header_.flags & weights::kScaleByLayer) != 0) {
    const double layer = block + 1;
    scores = tap(
        {block, "attn.scale_by_layer"},
        [layer](const at::Tensor& s) { return at::div(s, at::Scalar(layer)); }, scores);
  }
  scores = tap(
      {block, "attn.mask"},
      [](const at::Tensor& m, const at::Tensor& s, const at::Tensor& masked) {
        return at::where(m, s, masked);
      },
      masks.allowed, scores, masked_);
  return masks.added.defined() ? tap({block, "attn.padding"}, add, masks.added, scores) : scores;
}

/// 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))), spelt out as transformers does: each factor rounds.
template <class Tap>
at::Tensor Gpt2::gelu(const Tap& tap, int block, const at::Tensor& x) {
  const auto add = [](const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); };
  const auto times = [](double factor) {
    return [factor](const at::Tensor& t) { return at::mul(t, at::Scalar(factor)); };
  };
  const at::Tensor half = tap({block, "mlp.gelu.half"}, times(0.5), x);
  const at::Tensor cube = tap(
      {block, "mlp.gelu.cube"}, [](const at::Tensor& t) { return at::pow(t, at::Scalar(3.0)); }, x);
  const at::Tensor cubic = tap({block, "mlp.gelu.cubic"}, times(0.044715), cube);
  const at::Tensor inner = tap({block, "mlp.gelu.inner"}, add, x, cubic);
  const at::Tensor scaled = tap({block, "mlp.gelu.scale"}, times(std::sqrt(2.0 / M_PI)), inner);
  const at::Tensor bent = tap(
      {block, "mlp.gelu.tanh"}, [](const at::Tensor& t) { return at::tanh(t); }, scaled);
  const at::Tensor raised = tap(
      {block, "mlp.gelu.plus_one"}, [](const at::Tensor& t) { return at::add(t, at::Scalar(1.0)); },
      bent);
  return tap(
      {block, "mlp.gelu"}, [](const at::Tensor& a, const at::Tensor& b) { return at::mul(a, b); },
      half, raised);
}

template <class Tap>
at::Tensor Gpt2::layer_norm(const Tap& tap, OperationName name, const Linear& norm,
                            const at::Tensor& x) const {
  return tap(
      name,
      [epsilon = header_.layer_norm_epsilon](const at::Tensor& in, const at::Tensor& weight,
                                             const at::Tensor& bias) {
        return at::layer_norm(in, {in.size(-1)}, weight, bias, epsilon);
      },
      x, norm.weight, norm.bias);
}

/// x W + b on a view of two dimensions, viewed back.
template <class Tap>
at::Tensor Gpt2::conv1d(const Tap& tap, OperationName name, const Linear& linear,
                        const at::Tensor& x) {
  const at::Tensor flat = tap(
      name,
      [](const at::Tensor& bias, const at::Tensor& in, const at::Tensor& weight) {
        return at::addmm(bias, in, weight);
      },
      linear.bias, x.view({-1, x.size(-1)}), linear.weight);
  return flat.view({x.size(0), x.size(1), linear.weight.size(1)});
}

}  // namespace drift::runner
