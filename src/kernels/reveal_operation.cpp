#include "driftaudit/reveal_operation.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "driftaudit/error.hpp"

#include "reveal/probes.hpp"

namespace drift {
namespace {

/// Those of a build that softmax may call, the likely one first: where vectors have 16 lanes, it is
/// the one for 16.
std::vector<const char*> exponentials_for(std::size_t lanes) {
  constexpr std::size_t kLanesOfAvx512 = 16;
  if (lanes == kLanesOfAvx512) {
    return {"sleef_expf16_u10", "sleef_expf8_u10", "libm_expf", "exp"};
  }
  return {"sleef_expf8_u10", "libm_expf", "exp", "sleef_expf16_u10"};
}

/// A mean of fewer terms doesn't tell how it is scaled.
constexpr std::size_t kFewestOfAMean = 3;

ProofOptions proof_options(const OrderQuestion& question) {
  ProofOptions options;
  options.rows = question.proof_rows;
  options.batching = question.batching;
  return options;
}

RevealedOrder order_of(const OrderQuestion& question, const Revealed& revealed,
                       const Proof& proof) {
  return revealed_order(question.operation, question.length, revealed, proof, question.lanes);
}

RevealedOrder without_tree(const OrderQuestion& question, const std::string& status,
                           const std::string& why_not) {
  RevealedOrder order = order_of(question, {}, {});
  order.status = status;
  order.why_not = why_not;
  return order;
}

/// Whether the build has the exponential: one without it refuses it at the first call.
bool is_there(const Exponential& exponential) {
  try {
    const float zero = 0;
    exponential.apply(1, 1, std::span(&zero, 1));
    return true;
  } catch (const Error& error) {
    if (error.status() != Status::kTrouble) {
      throw;
    }
    return false;
  }
}

/// The proof with the exponential that replays most rows; `tried` gets the names of those that the
/// build has, up to the first that replays all.
Proof best_proof(const FindOperation& find, const RowKernel& softmax, const SumTree& tree,
                 const OrderQuestion& question, std::vector<std::string>& tried) {
  Proof best;
  for (const char* name : exponentials_for(question.lanes)) {
    const Exponential exponential{name, rows_of(find(name))};
    if (best.proved() || !is_there(exponential)) {
      continue;
    }
    const Proof proof = prove_softmax(softmax, tree, std::span(&exponential, 1), softmax_finishes(),
                                      proof_options(question));
    tried.emplace_back(name);
    if (best.rows == 0 || proof.proved_rows > best.proved_rows) {
      best = proof;
    }
  }
  return best;
}

RevealedOrder softmax_order(const FindOperation& find, const OrderQuestion& question) {
  const RowKernel softmax = rows_of(find("softmax"));
  const Revealed revealed = reveal_nonnegative(softmax_exceeds_one(softmax), question.length,
                                               question.batching, likely_orders(question.length));
  if (!revealed.tree) {
    return order_of(question, revealed, {});
  }
  std::vector<std::string> tried;
  const Proof best = best_proof(find, softmax, *revealed.tree, question, tried);
  RevealedOrder order = order_of(question, revealed, best);
  if (tried.empty()) {
    order.note = "no exponential is at hand";
  } else if (!best.proved()) {
    order.note =
        fmt::format("no exponential at hand replays every row; tried {}", fmt::join(tried, ", "));
  }
  return order;
}

RevealedOrder summed_order(const RowKernel& sums, const RowKernel& kernel,
                           std::span<const SumFinish> finishes, const OrderQuestion& question) {
  const Revealed revealed = reveal_signed(sums, question.length, question.batching);
  return order_of(question, revealed,
                  revealed.tree
                      ? prove_sum(kernel, *revealed.tree, finishes, proof_options(question))
                      : Proof{});
}

RevealedOrder sum_order(const FindOperation& find, const OrderQuestion& question) {
  const RowKernel sum = rows_of(find("sum"));
  return summed_order(sum, sum, sum_finishes(), question);
}

RevealedOrder mean_order(const FindOperation& find, const OrderQuestion& question) {
  const RowKernel mean = rows_of(find("mean"));
  if (question.length >= kFewestOfAMean) {
    const MeanKind kind = mean_kind(mean, question.length, question.batching);
    if (!kind.scaled_sum) {
      return without_tree(question, kind.running_mean ? "not a sum" : "not explained",
                          kind.evidence);
    }
  }
  return summed_order(sums_of_means(mean), mean, mean_finishes(), question);
}

RevealedOrder layer_norm_order(const FindOperation& find, const OrderQuestion& question) {
  if (question.length < kFewestOfAMean) {
    return without_tree(question, "not explained",
                        "means of fewer than 3 terms don't tell how they are made");
  }
  for (const float unit : {1.0F, 1.1875F, 1.375F, 1.625F, 1.8125F}) {
    const MeanKind kind =
        mean_kind(layer_norm_means(find("layer_norm"), unit), question.length, question.batching);
    if (kind.running_mean) {
      return without_tree(question, "not a sum", kind.evidence);
    }
  }
  return without_tree(question, "not explained",
                      "the means that it subtracts hang on no term's place, and its variance hides "
                      "the order of a sum");
}

RevealedOrder dot_order(const DotKernel& dots, const OrderQuestion& question) {
  const Revealed revealed = reveal_dot(dots, question.length);
  return order_of(
      question, revealed,
      revealed.tree ? prove_dot(dots, *revealed.tree, proof_options(question)) : Proof{});
}

RevealedOrder matmul_order(const FindOperation& find, const OrderQuestion& question) {
  const ProductShape& shape = question.shape;
  const ProductKernel product = products_of(find("matmul"), shape);
  RevealedOrder order = dot_order(product.dots, question);
  if (shape.rows * shape.columns > 1) {
    order.note =
        fmt::format("elements of the {} × {} product {}", shape.rows, shape.columns,
                    *product.alike ? "add alike, all of them"
                                   : "add differently: this is the order at row 0, column 0");
  }
  return order;
}

}  // namespace

const std::vector<std::string>& revealed_operations() {
  static const std::vector<std::string> all = {"softmax", "sum", "mean",
                                               "matmul",  "dot", "layer_norm"};
  return all;
}

RevealedOrder reveal_operation(const FindOperation& find, const OrderQuestion& question) {
  check_revealable(question.length);
  const std::string& name = question.operation;
  if (name == "softmax") {
    return softmax_order(find, question);
  }
  if (name == "sum") {
    return sum_order(find, question);
  }
  if (name == "mean") {
    return mean_order(find, question);
  }
  if (name == "matmul") {
    return matmul_order(find, question);
  }
  if (name == "dot") {
    return dot_order(dots_of(find("dot")), question);
  }
  if (name == "layer_norm") {
    return layer_norm_order(find, question);
  }
  throw usage_error(fmt::format("{}: no operation whose order is revealed", name),
                    fmt::format("one of {}", fmt::join(revealed_operations(), ", ")));
}

}  // namespace drift
