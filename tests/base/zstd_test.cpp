#include "driftaudit/zstd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

using ::testing::HasSubstr;

std::string text_of(std::size_t size) {
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i) {
    text += std::to_string(i * i) + ",";
  }
  return text;
}

std::string decompressed(const std::string& bytes, std::uint64_t most = 1U << 30) {
  return zstd_decompressed(std::as_bytes(std::span(bytes)), most, "file.zst");
}

std::string refusal(const std::string& bytes, std::uint64_t most = 1U << 30) {
  try {
    decompressed(bytes, most);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kUsage);
    return error.what();
  }
  return "accepted";
}

TEST(Zstd, GivesBackAStreamThatCameInPieces) {
  const std::string text = text_of(1U << 20);
  std::string compressed;
  ZstdWriter writer([&](std::string_view piece) { compressed += piece; });
  for (std::size_t at = 0; at < text.size(); at += 10007) {
    writer.write(std::string_view(text).substr(at, 10007));
  }
  writer.finish();
  EXPECT_LT(compressed.size(), text.size() / 2);
  EXPECT_EQ(decompressed(compressed), text);
}

TEST(Zstd, GivesBackASinglePieceAndNothing) {
  for (const std::string& text : {std::string(), std::string("a"), text_of(300000)}) {
    EXPECT_EQ(decompressed(zstd_compressed(std::as_bytes(std::span(text)))), text);
  }
}

TEST(Zstd, RefusesWhatIsCutShortOrNotZstandardOrDamaged) {
  const std::string text = text_of(300000);
  const std::string sound = zstd_compressed(std::as_bytes(std::span(text)));
  for (std::size_t size = 1; size < sound.size(); size += 997) {
    EXPECT_NE(refusal(sound.substr(0, size)), "accepted") << size;
  }
  EXPECT_THAT(refusal("{\"schema\":1}"), HasSubstr("file.zst: at byte 0: not Zstandard"));
  EXPECT_THAT(refusal(""), HasSubstr("ends too early"));
  std::string damaged = sound;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 4);
  EXPECT_NE(refusal(damaged), "accepted");
}

TEST(Zstd, RefusesMoreThanItMayHold) {
  const std::string zeros(1U << 20, '\0');
  const std::string bomb = zstd_compressed(std::as_bytes(std::span(zeros)));
  EXPECT_LT(bomb.size(), 1000U);
  EXPECT_THAT(refusal(bomb, 1000), HasSubstr("holds more than the 1000 bytes"));
}

}  // namespace
}  // namespace drift
