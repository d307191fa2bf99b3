#include "model/dtype.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "checkpoint_fixtures.hpp"

namespace drift {
namespace {

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

/// IEEE 754 binary16, by its definition in double arithmetic rather than by its bits.
double float16_by_definition(std::uint16_t pattern) {
  const int exponent = (pattern >> 10) & 0x1F;
  const double fraction = (pattern & 0x3FF) / 1024.0;
  const double sign = (pattern & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 0) {
    return sign * std::ldexp(fraction, -14);
  }
  if (exponent == 31) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return sign * std::ldexp(1 + fraction, exponent - 15);
}

TEST(Float16, EveryPatternIsRaisedToItsExactValue) {
  for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
    const auto half = static_cast<std::uint16_t>(pattern);
    const double wanted = float16_by_definition(half);
    const float raised = float16_to_float32(half);
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(raised)) << pattern;
      EXPECT_EQ(bits(raised), ((pattern & 0x8000U) << 16) | 0x7F800000U | (pattern & 0x3FFU) << 13);
    } else {
      EXPECT_EQ(static_cast<double>(raised), wanted) << pattern;
      EXPECT_EQ(std::signbit(raised), std::signbit(wanted)) << pattern;
    }
  }
}

TEST(Bfloat16, EveryPatternIsTheUpperHalfOfAFloat32) {
  for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
    EXPECT_EQ(bits(bfloat16_to_float32(static_cast<std::uint16_t>(pattern))), pattern << 16);
  }
}

TEST(Float16, EveryPatternComesBackFromFloat32) {
  for (std::uint32_t pattern = 0; pattern < 65536; ++pattern) {
    const auto half = static_cast<std::uint16_t>(pattern);
    const bool nan = std::isnan(float16_by_definition(half));
    const std::uint32_t quiet = nan ? 0x200U : 0U;
    EXPECT_EQ(float32_to_float16(float16_to_float32(half)), pattern | quiet) << pattern;
  }
}

TEST(Float16, RoundsToNearestAndTiesToEven) {
  for (std::uint32_t pattern = 0; pattern < 0x7BFF; ++pattern) {  // every finite pair of neighbours
    const auto low = static_cast<std::uint16_t>(pattern);
    const auto high = static_cast<std::uint16_t>(pattern + 1);
    const float middle = (float16_to_float32(low) + float16_to_float32(high)) / 2;
    EXPECT_EQ(float32_to_float16(middle), pattern % 2 == 0 ? low : high) << pattern;
    EXPECT_EQ(float32_to_float16(std::nextafterf(middle, 0.0F)), low) << pattern;
    EXPECT_EQ(float32_to_float16(std::nextafterf(middle, 1e9F)), high) << pattern;
  }
  EXPECT_EQ(float32_to_float16(65519.996F), 0x7BFF);
  EXPECT_EQ(float32_to_float16(65520.0F), 0x7C00);
  EXPECT_EQ(float32_to_float16(-1e30F), 0xFC00);
}

TEST(Bfloat16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(float32_to_bfloat16(1.0F), 0x3F80);
  EXPECT_EQ(float32_to_bfloat16(std::bit_cast<float>(0x3F808000U)), 0x3F80);
  EXPECT_EQ(float32_to_bfloat16(std::bit_cast<float>(0x3F808001U)), 0x3F81);
  EXPECT_EQ(float32_to_bfloat16(std::bit_cast<float>(0x3F818000U)), 0x3F82);
  EXPECT_EQ(float32_to_bfloat16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_TRUE(
      std::isnan(bfloat16_to_float32(float32_to_bfloat16(std::bit_cast<float>(0x7F800001U)))));
}

TEST(RaiseToFloat32, TakesBytesAtAnyAddress) {
  const std::string stored = "x" + test::bytes_of(std::vector<std::uint16_t>{0x3C00, 0xC000});
  std::vector<float> out(2);
  raise_to_float32(Dtype::kFloat16, std::as_bytes(std::span(stored)).subspan(1), out);
  EXPECT_EQ(out, (std::vector<float>{1.0F, -2.0F}));
}

TEST(RaiseToFloat32, TakesBytesAsTheNumbersThatTheyHold) {
  const std::string stored("\0\1\xff", 3);
  for (const Dtype dtype : {Dtype::kUint8, Dtype::kBool}) {
    std::vector<float> out(3);
    EXPECT_TRUE(raises_to_float32(dtype));
    raise_to_float32(dtype, std::as_bytes(std::span(stored)), out);
    EXPECT_EQ(out, (std::vector<float>{0, 1, 255}));
  }
  EXPECT_FALSE(raises_to_float32(Dtype::kInt64));
}

}  // namespace
}  // namespace drift
