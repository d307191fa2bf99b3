#include "driftaudit/tensor.hpp"

#include <cstring>
#include <stdexcept>

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(ContiguousTensor, LiesRowByRow) {
  const wire::TensorData tensor = contiguous_tensor({2, 1, 3}, {1, 2, 3, 4, 5, 6}, 20);
  const wire::TensorLayout expected = {wire::DType::kFloat32, {2, 1, 3}, {3, 3, 1}, 0, 20};
  EXPECT_EQ(tensor.layout, expected);
  EXPECT_EQ(float_elements(tensor), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(ContiguousTensor, MayBeANumberOrEmpty) {
  EXPECT_EQ(float_elements(contiguous_tensor({}, {7})), std::vector<float>{7});
  EXPECT_TRUE(float_elements(contiguous_tensor({2, 0, 3}, {})).empty());
}

TEST(ContiguousTensor, WantsAsManyValuesAsItsSizesSay) {
  EXPECT_THROW(contiguous_tensor({2, 3}, {1, 2, 3, 4, 5}), std::invalid_argument);
}

TEST(FloatElements, AreReadThroughStrides) {
  wire::TensorData tensor = contiguous_tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  tensor.layout.sizes = {3, 2};
  tensor.layout.strides = {1, 3};
  EXPECT_EQ(float_elements(tensor), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  tensor.layout.sizes = {2, 6};
  tensor.layout.strides = {0, 1};
  EXPECT_EQ(float_elements(tensor), (std::vector<float>{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}));
}

TEST(FloatElements, KeepEveryBit) {
  const std::uint32_t bits = 0x7fc12345;  // a NaN with a payload
  wire::TensorData tensor = contiguous_tensor({1}, {0});
  std::memcpy(tensor.bytes.data(), &bits, sizeof bits);
  const std::vector<float> values = float_elements(tensor);
  EXPECT_EQ(std::memcmp(values.data(), &bits, sizeof bits), 0);
}

TEST(FloatElements, AreThoseOfFloatTensorsOnly) {
  wire::TensorData tensor;
  tensor.layout.dtype = wire::DType::kInt64;
  tensor.bytes.assign(8, 'x');
  EXPECT_THROW(float_elements(tensor), std::invalid_argument);
}

}  // namespace
}  // namespace drift
