#include "runner/digest.hpp"

#include <array>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace drift::runner {
namespace {

TEST(Fnv1a, GivesItsPublishedValues) {
  EXPECT_EQ(fnv1a("", 0), 0xcbf29ce484222325ULL);
  EXPECT_EQ(fnv1a("a", 1), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(fnv1a("foobar", 6), 0x85944171f73967e8ULL);
  EXPECT_EQ(fnv1a("bar", 3, fnv1a("foo", 3)), fnv1a("foobar", 6));
}

TEST(Fnv1a, TellsAFloatFromItsNeighbours) {
  std::set<std::uint64_t> digests;
  float value = 1.0F;
  for (int i = 0; i < 10000; ++i) {
    const std::array<float, 3> values = {0.5F, value, -7.25F};
    digests.insert(fnv1a(values.data(), sizeof values));
    value = std::nextafter(value, 2.0F);
  }
  EXPECT_EQ(digests.size(), 10000U);
}

}  // namespace
}  // namespace drift::runner
