#include "base/byte_count.hpp"

#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

TEST(ByteCount, TakesPowersOf1024) {
  EXPECT_EQ(byte_count("1500000"), 1500000U);
  EXPECT_EQ(byte_count("1K"), 1024U);
  EXPECT_EQ(byte_count("512M"), 512U << 20U);
  EXPECT_EQ(byte_count("2G"), std::uint64_t{2} << 30U);
}

TEST(ByteCount, RefusesWhatIsNone) {
  for (const char* text : {"", "0", "0G", "-1", "1.5G", "G", "2g", "2GB", "2_", " 2G",
                           "99999999999999999999", "9999999999G"}) {
    EXPECT_THROW(byte_count(text), Error) << text;
  }
}

TEST(ByteCount, IsSpeltSoThatItReadsBack) {
  for (const char* text : {"1", "1023", "1K", "1025", "512M", "2G", "3000G"}) {
    EXPECT_EQ(spelt_bytes(byte_count(text)), text);
  }
}

}  // namespace
}  // namespace drift
