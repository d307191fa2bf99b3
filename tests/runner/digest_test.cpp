#include "runner/digest.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace drift::runner {
namespace {

TEST(Fnv1a, GivesItsPublishedValues) {
  EXPECT_EQ(fnv1a("", 0), 0xcbf29ce484222325ULL);
  EXPECT_EQ(fnv1a("a", 1), 0xaf63dc4c8601ec8cULL);
  EXPECT_EQ(fnv1a("foobar", 6), 0x85944171f73967e8ULL);
  EXPECT_EQ(fnv1a("bar", 3, fnv1a("foo", 3)), fnv1a("foobar", 6));
}

#ifdef __GLIBCXX__
// What libstdc++ hashes with is the same function.
TEST(Murmur64a, IsThatOfTheStandardLibrary) {
  const std::string text = "The capital of France is Paris, and has been for long.";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    EXPECT_EQ(murmur64a(text.data(), size), std::_Hash_bytes(text.data(), size, 0)) << size;
  }
}
#endif

TEST(Murmur64a, TellsAFloatFromItsNeighbours) {
  std::set<std::uint64_t> digests;
  float value = 1.0F;
  for (int i = 0; i < 10000; ++i) {
    const std::array<float, 3> values = {0.5F, value, -7.25F};
    digests.insert(murmur64a(values.data(), sizeof values));
    value = std::nextafter(value, 2.0F);
  }
  EXPECT_EQ(digests.size(), 10000U);
}

}  // namespace
}  // namespace drift::runner
