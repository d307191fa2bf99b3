#include "localize/random_rows.hpp"

#include <utility>

#include "driftaudit/tensor.hpp"

namespace drift {
namespace {

/// SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// One of 2^24 numbers in [-4, 4): all exact, and so is each step to them.
  float number() {
    constexpr std::int32_t kHalf = 1 << 23;
    const auto whole = static_cast<std::int32_t>(next() >> 40U) - kHalf;
    return static_cast<float>(whole) / static_cast<float>(kHalf / 4);
  }
  std::vector<float> numbers(std::uint64_t count) {
    std::vector<float> values(count);
    for (float& value : values) {
      value = number();
    }
    return values;
  }

 private:
  std::uint64_t state_;
};

std::vector<float> first(const std::vector<float>& values, std::uint64_t count) {
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)};
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
  x_ = own.numbers(rows * length);
  if (family == RowFamily::kBinary) {
    y_ = own.numbers(rows * length);
  } else if (family == RowFamily::kNorm) {
    w_ = shared.numbers(length);
    bias_ = shared.numbers(length);
  } else if (family != RowFamily::kUnary) {
    w_ = shared.numbers(length * columns);
    bias_ = shared.numbers(columns);
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

}  // namespace drift
