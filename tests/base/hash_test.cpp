#include "driftaudit/hash.hpp"

#include <array>
#include <cstddef>

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(Sha256, GivesThePublishedDigests) {  // FIPS 180-4 examples
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, IsTheSameInPiecesAndWhole) {
  Sha256 sha;
  sha.update("a");
  sha.update("bc");
  EXPECT_EQ(sha.hex(), sha256_hex("abc"));
}

TEST(Xxh3, GivesTheCanonicalDigestOfNothing) {
  // The library's own value: `printf '' | xxhsum -H2`.
  EXPECT_EQ(xxh3_128_hex({}), "99aa06d3014798d86001c324468d497f");
}

TEST(Xxh3, DiffersWhenOneBitDoes) {
  const std::array<std::byte, 4> a{};
  std::array<std::byte, 4> b{};
  b[3] = std::byte{0x80};
  EXPECT_NE(xxh3_128_hex(a), xxh3_128_hex(b));
}

}  // namespace
}  // namespace drift
