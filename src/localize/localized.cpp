#include <algorithm>
#include <array>
#include <cstring>

#include "driftaudit/element_difference.hpp"
#include "driftaudit/localize.hpp"
#include "driftaudit/tensor.hpp"

namespace drift {
namespace {

/// A tensor that somebody else holds: lm_head's outputs are too large to be copied.
struct TensorView {
  const wire::TensorLayout& layout;
  const std::string& bytes;
};

wire::TensorData copy_of(TensorView tensor) { return {tensor.layout, tensor.bytes}; }

/// Whether elements that lie at the same place in memory are those of the same index, and nothing
/// else lies there.
bool lie_alike(const wire::TensorLayout& x, const wire::TensorLayout& y) {
  return x.strides == y.strides && x.extent() == x.elements();
}

/// Whether two tensors hold the same elements, wherever these lie in memory: bytes between strides
/// belong to nobody.
bool same_elements(TensorView x, TensorView y) {
  if (x.layout.dtype != y.layout.dtype || x.layout.sizes != y.layout.sizes) {
    return false;
  }
  if (x.layout.dtype != wire::DType::kFloat32 || lie_alike(x.layout, y.layout)) {
    return x.layout.strides == y.layout.strides && x.bytes == y.bytes;
  }
  return compare_elements(float_elements(copy_of(x)), float_elements(copy_of(y))).same;
}

/// Compares the elements in the order in which they lie.
ElementDifference difference_in_place(const std::string& a, const std::string& b) {
  constexpr std::size_t kPiece = 4096;  // floats
  std::array<float, kPiece> of_a;
  std::array<float, kPiece> of_b;
  ElementComparison comparison;
  for (std::size_t at = 0; at < a.size(); at += sizeof of_a) {
    const std::size_t bytes = std::min(sizeof of_a, a.size() - at);
    std::memcpy(of_a.data(), a.data() + at, bytes);
    std::memcpy(of_b.data(), b.data() + at, bytes);
    const std::size_t count = bytes / sizeof(float);
    comparison.add({of_a.data(), count}, {of_b.data(), count});
  }
  return comparison.difference();
}

/// The elements of both; none where an operand came without, or isn't float32.
ElementDifference difference_of(const wire::Operand& a, const wire::Operand& b) {
  if (!a.bytes || !b.bytes || a.layout.dtype != wire::DType::kFloat32 ||
      b.layout.dtype != wire::DType::kFloat32 || a.layout.sizes != b.layout.sizes) {
    return {};
  }
  if (lie_alike(a.layout, b.layout)) {
    return difference_in_place(*a.bytes, *b.bytes);
  }
  return compare_elements(float_elements({a.layout, *a.bytes}),
                          float_elements({b.layout, *b.bytes}));
}

bool same_operand(const wire::Operand& a, const wire::Operand& b) {
  return a.weight == b.weight && a.layout.sizes == b.layout.sizes &&
         (a.weight || a.digest == b.digest);
}

bool same_inputs(const wire::OperationRecord& a, const wire::OperationRecord& b) {
  return std::equal(a.inputs.begin(), a.inputs.end(), b.inputs.begin(), b.inputs.end(),
                    same_operand);
}

std::vector<std::uint64_t> shape_of(const wire::TensorLayout& layout) {
  return {layout.sizes.begin(), layout.sizes.end()};
}

}  // namespace

LocalizedOperation localized(const ReplayedOperation& replayed) {
  const wire::OperationRecord& a = replayed.a;
  const wire::OperationRecord& b = replayed.b;
  LocalizedOperation operation;
  operation.name = a.name;
  operation.shape = shape_of(a.output.layout);
  operation.same = same_operand(a.output, b.output);
  operation.inputs_same = same_inputs(a, b);
  const std::string none;
  const TensorView recorded{a.output.layout, a.output.bytes ? *a.output.bytes : none};
  if (same_elements({replayed.a_again.layout, replayed.a_again.bytes}, recorded)) {
    operation.own = !same_elements({replayed.b_on_a.layout, replayed.b_on_a.bytes}, recorded);
    if (*operation.own && a.output.layout.dtype == wire::DType::kFloat32) {
      const ElementDifference own =
          difference_of(a.output, {replayed.b_on_a.layout, false, 0, replayed.b_on_a.bytes});
      operation.own_change = OwnChange{own.max_abs, own.max_ulp};
    }
  }
  if (!operation.same) {
    const ElementDifference difference = difference_of(a.output, b.output);
    operation.max_abs_diff = difference.max_abs;
    operation.mean_abs_diff = difference.mean_abs;
    operation.max_ulp = difference.max_ulp;
    operation.mean_ulp = difference.mean_ulp;
    operation.non_finite = difference.non_finite;
  }
  return operation;
}

std::optional<CacheReentry> cache_reentry(const ReplayedOperation& replayed) {
  const std::string kind = operation_kind(replayed.a.name);
  const bool reads_cache = kind == "attn.keys" || kind == "attn.values";
  if (!reads_cache || replayed.a.inputs.empty() || replayed.b.inputs.empty() ||
      same_operand(replayed.a.inputs[0], replayed.b.inputs[0])) {
    return std::nullopt;
  }
  const ElementDifference past = difference_of(replayed.a.inputs[0], replayed.b.inputs[0]);
  return CacheReentry{replayed.a.name, past.max_abs, past.max_ulp};
}

void summarize(LocalizeRecord& record) {
  record.first_difference.reset();
  record.own.clear();
  record.growth.clear();
  for (const LocalizedOperation& operation : record.operations) {
    if (!operation.same && !record.first_difference) {
      record.first_difference = operation.name;
    }
    if (operation.own == true) {
      record.own.push_back(operation.name);
    }
    const std::string stage = operation_stage(operation.name);
    if (record.growth.empty() || record.growth.back().stage != stage) {
      record.growth.push_back({stage, "", 0, 0, 0, 0});
    }
    record.growth.back() = {stage,
                            operation.name,
                            operation.max_abs_diff,
                            operation.mean_abs_diff,
                            operation.max_ulp,
                            operation.mean_ulp};
  }
}

}  // namespace drift
