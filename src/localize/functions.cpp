#include <algorithm>
#include <array>

#include "driftaudit/isolation.hpp"

namespace drift {
namespace {

struct KnownKind {
  const char* kind;
  const char* function;
  RowFamily family;
};

/// The operations of a GPT-2's forward pass.
constexpr std::array kKnownKinds{
    KnownKind{"embed.tokens", "embedding", RowFamily::kMoves},
    KnownKind{"embed.positions", "embedding", RowFamily::kMoves},
    KnownKind{"embed.sum", "add", RowFamily::kBinary},
    KnownKind{"ln_1", "layer_norm", RowFamily::kNorm},
    KnownKind{"attn.qkv", "addmm", RowFamily::kAddmm},
    KnownKind{"attn.keys", "cat", RowFamily::kMoves},
    KnownKind{"attn.values", "cat", RowFamily::kMoves},
    KnownKind{"mask.allowed", "logical_and", RowFamily::kMoves},
    KnownKind{"mask.scores", "where", RowFamily::kMoves},
    KnownKind{"attn.sdpa", "scaled_dot_product_attention", RowFamily::kAttention},
    KnownKind{"attn.scores", "matmul", RowFamily::kMatmulTransposed},
    KnownKind{"attn.scale", "div", RowFamily::kUnary},
    KnownKind{"attn.scale_by_layer", "div", RowFamily::kUnary},
    KnownKind{"attn.mask", "where", RowFamily::kMoves},
    KnownKind{"attn.softmax", "softmax", RowFamily::kUnary},
    KnownKind{"attn.context", "matmul", RowFamily::kMatmul},
    KnownKind{"attn.merge", "contiguous", RowFamily::kMoves},
    KnownKind{"attn.proj", "addmm", RowFamily::kAddmm},
    KnownKind{"attn.residual", "add", RowFamily::kBinary},
    KnownKind{"ln_2", "layer_norm", RowFamily::kNorm},
    KnownKind{"mlp.fc", "addmm", RowFamily::kAddmm},
    KnownKind{"mlp.gelu.half", "mul", RowFamily::kUnary},
    KnownKind{"mlp.gelu.cube", "pow", RowFamily::kUnary},
    KnownKind{"mlp.gelu.cubic", "mul", RowFamily::kUnary},
    KnownKind{"mlp.gelu.inner", "add", RowFamily::kBinary},
    KnownKind{"mlp.gelu.scale", "mul", RowFamily::kUnary},
    KnownKind{"mlp.gelu.tanh", "tanh", RowFamily::kUnary},
    KnownKind{"mlp.gelu.plus_one", "add", RowFamily::kUnary},
    KnownKind{"mlp.gelu", "mul", RowFamily::kBinary},
    KnownKind{"mlp.proj", "addmm", RowFamily::kAddmm},
    KnownKind{"mlp.residual", "add", RowFamily::kBinary},
    KnownKind{"ln_f", "layer_norm", RowFamily::kNorm},
    KnownKind{"lm_head", "linear", RowFamily::kLinear},
};

/// Those that are other functions where the scores are multiplied by the scale.
constexpr std::array kMultipliedKinds{
    KnownKind{"attn.scale", "mul", RowFamily::kUnary},
    KnownKind{"attn.mask", "add", RowFamily::kBinary},
};

}  // namespace

OperationFunction operation_function(const std::string& kind, wire::ScoreScale scale) {
  if (scale == wire::ScoreScale::kMultiply) {
    for (const KnownKind& known : kMultipliedKinds) {
      if (kind == known.kind) {
        return {known.function, known.family};
      }
    }
  }
  const auto* const at = std::find_if(kKnownKinds.begin(), kKnownKinds.end(),
                                      [&](const KnownKind& known) { return kind == known.kind; });
  return at == kKnownKinds.end() ? OperationFunction{kind, RowFamily::kUnknown}
                                 : OperationFunction{at->function, at->family};
}

}  // namespace drift
