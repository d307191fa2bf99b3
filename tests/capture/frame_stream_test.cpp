#include "capture/frame_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace drift {
namespace {

std::string opening(std::uint32_t protocol = wire::kProtocol) {
  wire::Writer head;
  head.number(protocol);
  return std::string(wire::kMagic, sizeof wire::kMagic) + head.bytes();
}

const std::string kTwoFrames =
    wire::frame(wire::FrameKind::kTaskEnd, wire::TaskEnd{3, wire::Stopped::kContext, 1.5}) +
    wire::frame(wire::FrameKind::kDone, wire::Done{77});

TEST(FrameStream, IsTheSameHoweverTheBytesArrive) {
  const std::string bytes = "noise\n" + opening() + kTwoFrames;
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    FrameStream stream;
    std::vector<FrameStream::Frame> frames;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      stream.append(std::string_view(bytes).substr(at, piece));
      while (auto frame = stream.take()) {
        frames.push_back(*frame);
      }
    }
    ASSERT_EQ(frames.size(), 2U) << piece;
    EXPECT_EQ(wire::parse<wire::TaskEnd>(frames[0].payload).task, 3U);
    EXPECT_EQ(wire::parse<wire::Done>(frames[1].payload).peak_memory_bytes, 77U);
    EXPECT_FALSE(stream.within_frame());
  }
}

TEST(FrameStream, KnowsThatAFrameIsNotWhole) {
  FrameStream stream;
  stream.append(opening() + kTwoFrames.substr(0, 14));
  EXPECT_FALSE(stream.take());
  EXPECT_TRUE(stream.within_frame());
}

TEST(FrameStream, GivesTheTextBeforeTheMagicAsLongAsThereIsNoMagic) {
  FrameStream stream;
  stream.append("some text");
  EXPECT_FALSE(stream.take());
  EXPECT_EQ(stream.preamble(), "some text");
  stream.append(opening());
  EXPECT_FALSE(stream.take());
  EXPECT_EQ(stream.preamble(), "");
  EXPECT_TRUE(stream.begun());
}

TEST(FrameStream, TakesJustAsMuchTextAsItMay) {
  FrameStream stream;
  stream.append(std::string(wire::kMaxPreamble, 'x') + opening() + kTwoFrames);
  EXPECT_TRUE(stream.take());
  FrameStream longer;
  longer.append(std::string(wire::kMaxPreamble + 1, 'x') + opening() + kTwoFrames);
  EXPECT_THROW(longer.take(), StreamError);
}

TEST(FrameStream, RefusesTheDriversOwnFrames) {
  FrameStream stream;
  stream.append(opening() + wire::frame(wire::FrameKind::kToken, wire::FedToken{1}));
  EXPECT_THROW(stream.take(), StreamError);
}

TEST(FrameStream, RefusesAnotherProtocol) {
  FrameStream stream;
  stream.append(opening(wire::kProtocol + 1));
  EXPECT_THROW(stream.take(), StreamError);
}

}  // namespace
}  // namespace drift
