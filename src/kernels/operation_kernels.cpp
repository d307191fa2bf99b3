#include "driftaudit/operation_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "driftaudit/error.hpp"
#include "driftaudit/tensor.hpp"

namespace drift {
namespace {

std::int64_t size_of(std::size_t count) { return static_cast<std::int64_t>(count); }

std::vector<float> copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

void require_elements(std::size_t got, std::size_t wanted) {
  if (got != wanted) {
    throw trouble("a kernel gave " + std::to_string(got) + " values where " +
                  std::to_string(wanted) + " were expected");
  }
}

bool all_alike(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [&](float value) {
    return std::memcmp(&value, values.data(), sizeof value) == 0;
  });
}

}  // namespace

RowKernel rows_of(OperationCall operation) {
  return [operation = std::move(operation)](std::size_t rows, std::size_t length,
                                            std::span<const float> values) {
    return float_elements(
        operation({contiguous_tensor({size_of(rows), size_of(length)}, copy_of(values))}));
  };
}

DotKernel dots_of(OperationCall dot) {
  return [dot = std::move(dot)](std::size_t rows, std::size_t length, std::span<const float> a,
                                std::span<const float> b) {
    std::vector<float> out;
    out.reserve(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto vector = [&](std::span<const float> values) {
        return contiguous_tensor({size_of(length)}, copy_of(values.subspan(row * length, length)));
      };
      const std::vector<float> result = float_elements(dot({vector(a), vector(b)}));
      require_elements(result.size(), 1);
      out.push_back(result[0]);
    }
    return out;
  };
}

ProductKernel products_of(OperationCall matmul, ProductShape shape) {
  ProductKernel kernel;
  kernel.alike = std::make_shared<bool>(true);
  kernel.dots = [matmul = std::move(matmul), shape, alike = kernel.alike](
                    std::size_t rows, std::size_t length, std::span<const float> a,
                    std::span<const float> b) {
    std::vector<float> out;
    out.reserve(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<float> left;
      std::vector<float> right;
      left.reserve(shape.rows * length);
      right.reserve(shape.columns * length);
      const std::span<const float> of_a = a.subspan(row * length, length);
      for (std::size_t i = 0; i < shape.rows; ++i) {
        left.insert(left.end(), of_a.begin(), of_a.end());
      }
      for (const float value : b.subspan(row * length, length)) {
        right.insert(right.end(), shape.columns, value);
      }
      const std::vector<float> product = float_elements(
          matmul({contiguous_tensor({size_of(shape.rows), size_of(length)}, left),
                  contiguous_tensor({size_of(length), size_of(shape.columns)}, right)}));
      require_elements(product.size(), shape.rows * shape.columns);
      *alike = *alike && all_alike(product);
      out.push_back(product[0]);
    }
    return out;
  };
  return kernel;
}

RowKernel layer_norm_means(OperationCall layer_norm, float unit) {
  return [layer_norm = std::move(layer_norm), unit](std::size_t rows, std::size_t length,
                                                    std::span<const float> values) {
    const double scale = 0x1p-30 * unit;
    const double root = std::sqrt(1e-5);
    std::vector<float> scaled = copy_of(values);
    for (float& value : scaled) {
      value = static_cast<float>(value * scale);
    }
    const std::vector<float> out = float_elements(
        layer_norm({contiguous_tensor({size_of(rows), size_of(length)}, scaled),
                    contiguous_tensor({size_of(length)}, std::vector<float>(length, 1)),
                    contiguous_tensor({size_of(length)}, std::vector<float>(length, 0))}));
    require_elements(out.size(), values.size());
    std::vector<float> means;
    means.reserve(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::span<const float> terms = values.subspan(row * length, length);
      const auto zero = std::find(terms.begin(), terms.end(), 0.0F);
      if (zero == terms.end()) {
        throw usage_error("a mean that layer_norm subtracts shows only at a zero");
      }
      const float at_zero = out[row * length + static_cast<std::size_t>(zero - terms.begin())];
      means.push_back(static_cast<float>(-double{at_zero} * root / scale));
    }
    return means;
  };
}

}  // namespace drift
