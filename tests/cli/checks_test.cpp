#include "cli/checks.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(WholeNumber, TakesDigitsWithinItsBounds) {
  const OptionCheck check = whole_number(1, std::numeric_limits<std::uint64_t>::max());
  for (const char* text : {"1", "10", "18446744073709551615"}) {
    EXPECT_EQ(check(text), "") << text;
  }
  for (const char* text :
       {"0", "-1", "010", "1.5", "1e3", "0x10", "", " 1", "nan", "18446744073709551616"}) {
    EXPECT_NE(check(text), "") << text;
  }
}

TEST(NumberBetween, RefusesWhatIsNoNumberOrOutside) {
  const OptionCheck check = number_between(0.5, 10);
  for (const char* text : {"0.5", "1e1", "10"}) {
    EXPECT_EQ(check(text), "") << text;
  }
  for (const char* text : {"nan", "inf", "-inf", "0.49", "11", "", "1x"}) {
    EXPECT_NE(check(text), "") << text;
  }
}

}  // namespace
}  // namespace drift
