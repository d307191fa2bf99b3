#include "localize/random_rows.hpp"

#include <algorithm>
#include <utility>

#include "driftaudit/tensor.hpp"

#include "runner/split_mix.hpp"

namespace drift {
namespace {

std::vector<float> numbers(SplitMix64& random, std::uint64_t count) {
  std::vector<float> values(count);
  std::generate(values.begin(), values.end(), [&] { return random.symmetric(4); });
  return values;
}

std::vector<float> first(const std::vector<float>& values, std::uint64_t count) {
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// [length, columns], contiguous, seen as [rows, heads, length, columns]: each the same.
wire::TensorData repeated(wire::TensorData tensor, std::int64_t rows, std::int64_t heads) {
  const std::int64_t length = tensor.layout.sizes[0];
  const std::int64_t columns = tensor.layout.sizes[1];
  tensor.layout.sizes = {rows, heads, length, columns};
  tensor.layout.strides = {0, 0, columns, 1};
  return tensor;
}

/// w [columns, length], contiguous, seen as [1, 1, length, columns].
wire::TensorData transposed(wire::TensorData w) {
  const std::int64_t columns = w.layout.sizes[0];
  const std::int64_t length = w.layout.sizes[1];
  w.layout.sizes = {1, 1, length, columns};
  w.layout.strides = {columns * length, columns * length, 1, length};
  return w;
}

}  // namespace

RandomRows::RandomRows(RowFamily family, std::uint64_t length, std::uint64_t columns,
                       std::uint64_t rows, std::uint64_t batch)
    : family_(family), length_(length), columns_(columns) {
  SplitMix64 shared(length);
  SplitMix64 own((batch + 1) << 32U | length);
  if (family == RowFamily::kAttention) {
    x_ = numbers(own, std::max(rows, length) * columns);
    w_ = numbers(shared, length * columns);
    bias_ = numbers(shared, length * columns);
    return;
  }
  x_ = numbers(own, rows * length);
  if (family == RowFamily::kBinary) {
    y_ = numbers(own, rows * length);
  } else if (family == RowFamily::kNorm) {
    w_ = numbers(shared, length);
    bias_ = numbers(shared, length);
  } else if (family != RowFamily::kUnary) {
    w_ = numbers(shared, length * columns);
    bias_ = numbers(shared, columns);
  }
}

std::vector<wire::TensorData> RandomRows::inputs(std::uint64_t rows,
                                                 std::uint32_t alignment) const {
  const auto r = static_cast<std::int64_t>(rows);
  const auto n = static_cast<std::int64_t>(length_);
  const auto c = static_cast<std::int64_t>(columns_);
  const auto tensor = [&](const std::vector<std::int64_t>& sizes,
                          const std::vector<float>& values) {
    return contiguous_tensor(sizes, values, alignment);
  };
  if (family_ == RowFamily::kAttention) {
    return {tensor({r, 1, 1, c}, first(x_, rows * columns_)), repeated(tensor({n, c}, w_), r, 1),
            repeated(tensor({n, c}, bias_), r, 1)};
  }
  const std::vector<float> x = first(x_, rows * length_);
  switch (family_) {
    case RowFamily::kBinary:
      return {tensor({r, n}, x), tensor({r, n}, first(y_, rows * length_))};
    case RowFamily::kNorm:
      return {tensor({r, n}, x), tensor({n}, w_), tensor({n}, bias_)};
    case RowFamily::kAddmm:
      return {tensor({c}, bias_), tensor({r, n}, x), tensor({n, c}, w_)};
    case RowFamily::kLinear:
      return {tensor({r, n}, x), tensor({c, n}, w_)};
    case RowFamily::kMatmul:
      return {tensor({1, 1, r, n}, x), tensor({1, 1, n, c}, w_)};
    case RowFamily::kMatmulTransposed:
      return {tensor({1, 1, r, n}, x), transposed(tensor({c, n}, w_))};
    default:
      return {tensor({r, n}, x)};
  }
}

std::vector<wire::TensorData> RandomRows::heads(std::uint64_t rows) const {
  const auto r = static_cast<std::int64_t>(rows);
  const auto n = static_cast<std::int64_t>(length_);
  const auto c = static_cast<std::int64_t>(columns_);
  return {contiguous_tensor({1, r, 1, c}, first(x_, rows * columns_)),
          repeated(contiguous_tensor({n, c}, w_), 1, r),
          repeated(contiguous_tensor({n, c}, bias_), 1, r)};
}

std::vector<wire::TensorData> RandomRows::prefill() const {
  const std::vector<std::int64_t> sizes = {1, 1, static_cast<std::int64_t>(length_),
                                           static_cast<std::int64_t>(columns_)};
  return {contiguous_tensor(sizes, first(x_, length_ * columns_)), contiguous_tensor(sizes, w_),
          contiguous_tensor(sizes, bias_)};
}

}  // namespace drift
