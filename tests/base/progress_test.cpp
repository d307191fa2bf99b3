#include "driftaudit/progress.hpp"

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(FormatBytes, UsesPowersOfAThousand) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(999), "999 B");
  EXPECT_EQ(format_bytes(881924576), "881.9 MB");
  EXPECT_EQ(format_bytes(999999), "1.0 MB");
}

TEST(FormatDuration, GoesFromSecondsToHours) {
  EXPECT_EQ(format_duration(0.25), "0.2 s");
  EXPECT_EQ(format_duration(59.6), "1 min 0 s");
  EXPECT_EQ(format_duration(190), "3 min 10 s");
  EXPECT_EQ(format_duration(7500), "2 h 5 min");
}

}  // namespace
}  // namespace drift
