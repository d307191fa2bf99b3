#include "driftaudit/ulp.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace drift {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();

TEST(UlpDistance, IsZeroBetweenSignedZeros) {
  EXPECT_EQ(ulp_distance(0.0F, -0.0F), 0U);
  EXPECT_EQ(ulp_distance(-0.0F, 0.0F), 0U);
}

TEST(UlpDistance, CountsTheFloatsBetween) {
  EXPECT_EQ(ulp_distance(1.0F, std::nextafter(1.0F, 2.0F)), 1U);
  EXPECT_EQ(ulp_distance(1.0F, std::nextafter(1.0F, 0.0F)), 1U);
  EXPECT_EQ(ulp_distance(1.0F, 2.0F), 1U << 23);
  EXPECT_EQ(ulp_distance(-1.0F, -2.0F), 1U << 23);
}

TEST(UlpDistance, CrossesZero) {
  EXPECT_EQ(ulp_distance(-kTiny, kTiny), 2U);
  EXPECT_EQ(ulp_distance(-0.0F, kTiny), 1U);
  EXPECT_EQ(ulp_distance(-1.0F, 1.0F), 2 * std::uint64_t{0x3f800000});
}

TEST(UlpDistance, PutsInfinityOneBeyondTheLargest) {
  EXPECT_EQ(ulp_distance(kInf, kLargest), 1U);
  EXPECT_EQ(ulp_distance(-kInf, -kLargest), 1U);
  EXPECT_EQ(ulp_distance(-kInf, kInf), 2 * std::uint64_t{0x7f800000});
}

TEST(UlpDistance, SetsNanApartFromEverything) {
  EXPECT_EQ(ulp_distance(kNan, 1.0F), kUlpNan);
  EXPECT_EQ(ulp_distance(1.0F, kNan), kUlpNan);
  EXPECT_EQ(ulp_distance(kNan, kNan), kUlpNan);
}

float bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

/// By the format's definition: sign, 5 bits of exponent, 10 of mantissa.
float float16(std::uint16_t bits) {
  const int exponent = bits >> 10U & 0x1fU;
  const auto mantissa = static_cast<float>(bits & 0x3ffU);
  const float size = exponent == 31  ? kInf
                     : exponent == 0 ? std::ldexp(mantissa, -24)
                                     : std::ldexp(1024 + mantissa, exponent - 25);
  return (bits & 0x8000U) != 0 ? -size : size;
}

TEST(UlpDistance, CountsStepsOfBFloat16) {
  constexpr FloatType kType = FloatType::kBFloat16;
  EXPECT_EQ(ulp_distance(1.0F, 1.0078125F, kType), 1U);
  EXPECT_EQ(ulp_distance(-1.0F, -2.0F, kType), 128U);
  EXPECT_EQ(ulp_distance(0.0F, -0.0F, kType), 0U);
  EXPECT_EQ(ulp_distance(-bfloat16(1), bfloat16(1), kType), 2U);  // the least denormals
  EXPECT_EQ(ulp_distance(kInf, bfloat16(0x7f7f), kType), 1U);
  EXPECT_EQ(ulp_distance(-kInf, kInf, kType), 2 * std::uint64_t{0x7f80});
  EXPECT_EQ(ulp_distance(kNan, 1.0F, kType), kUlpNan);
  for (std::uint16_t bits = 0; bits < 0x7f80; ++bits) {
    ASSERT_EQ(ulp_distance(0.0F, bfloat16(bits), kType), bits);
    ASSERT_EQ(ulp_distance(bfloat16(bits), -bfloat16(bits), kType), 2U * bits);
  }
}

TEST(UlpDistance, CountsStepsOfFloat16) {
  constexpr FloatType kType = FloatType::kFloat16;
  EXPECT_EQ(ulp_distance(1.0F, 1.0009765625F, kType), 1U);
  EXPECT_EQ(ulp_distance(0.0F, -0.0F, kType), 0U);
  EXPECT_EQ(ulp_distance(65504.0F, kInf, kType), 1U);
  EXPECT_EQ(ulp_distance(-kInf, kInf, kType), 2 * std::uint64_t{0x7c00});
  EXPECT_EQ(ulp_distance(kNan, kNan, kType), kUlpNan);
  for (std::uint16_t bits = 0; bits < 0x7c00; ++bits) {
    ASSERT_EQ(ulp_distance(0.0F, float16(bits), kType), bits);
    ASSERT_EQ(ulp_distance(float16(bits), -float16(bits), kType), 2U * bits);
  }
}

TEST(UlpDistance, TakesTypesByName) {
  EXPECT_EQ(float_type("float32"), FloatType::kFloat32);
  EXPECT_EQ(float_type("bfloat16"), FloatType::kBFloat16);
  EXPECT_EQ(float_type("float16"), FloatType::kFloat16);
}

}  // namespace
}  // namespace drift
