#include "driftaudit/operation_kernels.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"
#include "driftaudit/tensor.hpp"

#include "reveal/known_kernels.hpp"

namespace drift {
namespace {

using ::testing::ElementsAre;
using Sizes = std::vector<std::int64_t>;
using Row = std::span<const float>;

/// A matmul whose element (i, j) is the dot product, plus `skew` where j isn't 0.
OperationCall matmul_of(float skew, Sizes& left, Sizes& right) {
  return [skew, &left, &right](std::vector<wire::TensorData> inputs) {
    left = inputs.at(0).layout.sizes;
    right = inputs.at(1).layout.sizes;
    const std::vector<float> a = float_elements(inputs[0]);
    const std::vector<float> b = float_elements(inputs[1]);
    const auto inner = static_cast<std::size_t>(left[1]);
    const auto columns = static_cast<std::size_t>(right[1]);
    std::vector<float> out;
    for (std::size_t i = 0; i < static_cast<std::size_t>(left[0]); ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        float sum = j == 0 ? 0 : skew;
        for (std::size_t k = 0; k < inner; ++k) {
          sum += a[i * inner + k] * b[k * columns + j];
        }
        out.push_back(sum);
      }
    }
    return contiguous_tensor({left[0], right[1]}, out);
  };
}

TEST(RowsOfAnOperation, AreTheRowsOfOneMatrix) {
  Sizes sizes;
  const RowKernel kernel = rows_of([&](std::vector<wire::TensorData> inputs) {
    sizes = inputs.at(0).layout.sizes;
    return inputs[0];
  });
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(kernel(2, 3, values), values);
  EXPECT_EQ(sizes, (Sizes{2, 3}));
}

TEST(DotsOfAnOperation, AreACallARow) {
  std::size_t calls = 0;
  const DotKernel dots = dots_of([&](std::vector<wire::TensorData> inputs) {
    ++calls;
    EXPECT_EQ(inputs.at(0).layout.sizes, Sizes{2});
    const std::vector<float> a = float_elements(inputs[0]);
    const std::vector<float> b = float_elements(inputs.at(1));
    return contiguous_tensor({}, {a[0] * b[0] + a[1] * b[1]});
  });
  EXPECT_THAT(dots(2, 2, std::vector<float>{1, 2, 3, 4}, std::vector<float>{5, 6, 7, 8}),
              ElementsAre(17, 53));
  EXPECT_EQ(calls, 2U);
}

TEST(ProductsOfAMatmul, FillTheWholeProductWithOneDotProduct) {
  Sizes left;
  Sizes right;
  const ProductKernel product = products_of(matmul_of(0, left, right), {3, 4});
  EXPECT_THAT(product.dots(2, 2, std::vector<float>{1, 2, 3, 4}, std::vector<float>{5, 6, 7, 8}),
              ElementsAre(17, 53));
  EXPECT_EQ(left, (Sizes{3, 2}));
  EXPECT_EQ(right, (Sizes{2, 4}));
  EXPECT_TRUE(*product.alike);
}

TEST(ProductsOfAMatmul, NoticeElementsThatAddOtherwise) {
  Sizes left;
  Sizes right;
  const ProductKernel product = products_of(matmul_of(0.5F, left, right), {3, 4});
  EXPECT_THAT(product.dots(1, 2, std::vector<float>{1, 2}, std::vector<float>{5, 6}),
              ElementsAre(17));
  EXPECT_FALSE(*product.alike);
}

/// layer_norm over some mean, in plain float32.
OperationCall layer_norm_of(RowSum mean) {
  return [mean = std::move(mean)](std::vector<wire::TensorData> inputs) {
    const auto length = static_cast<std::size_t>(inputs.at(0).layout.sizes.at(1));
    std::vector<float> x = float_elements(inputs[0]);
    const std::vector<float> weight = float_elements(inputs.at(1));
    const std::vector<float> bias = float_elements(inputs.at(2));
    for (std::size_t first = 0; first < x.size(); first += length) {
      const std::span<float> row = std::span(x).subspan(first, length);
      const float of_row = mean(row);
      float variance = 0;
      for (const float value : row) {
        variance += (value - of_row) * (value - of_row) / static_cast<float>(length);
      }
      const float scale = 1 / std::sqrt(variance + 1e-5F);
      for (std::size_t i = 0; i < length; ++i) {
        row[i] = (row[i] * scale - of_row * scale) * weight[i] + bias[i];
      }
    }
    return contiguous_tensor(inputs[0].layout.sizes, x);
  };
}

TEST(MeansOfLayerNorm, AreThoseThatItSubtracts) {
  const RowKernel means =
      layer_norm_means(layer_norm_of([](Row x) { return x[2] / static_cast<float>(x.size()); }));
  EXPECT_THAT(means(2, 4, std::vector<float>{0, 0, 1, 0, 1, 0, 0, 0}),
              ElementsAre(testing::FloatEq(0.25F), 0));
}

TEST(MeansOfLayerNorm, ShowThatTheyRun) {
  const MeanKind running = mean_kind(layer_norm_means(layer_norm_of(running_mean)), 100);
  EXPECT_TRUE(running.running_mean) << running.evidence;
  const RowSum scaled = [](Row x) {
    return known_sum("serial").sum(x) / static_cast<float>(x.size());
  };
  for (const float unit : {1.0F, 1.1875F, 1.8125F}) {
    EXPECT_TRUE(mean_kind(layer_norm_means(layer_norm_of(scaled), unit), 100).scaled_sum) << unit;
  }
}

TEST(MeansOfLayerNorm, NeedAZeroInEachRow) {
  const RowKernel means = layer_norm_means(layer_norm_of(running_mean));
  EXPECT_THROW(means(1, 2, std::vector<float>{1, 1}), Error);
}

}  // namespace
}  // namespace drift
