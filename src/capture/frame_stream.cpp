#include "capture/frame_stream.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/core.h>

namespace drift {
namespace {

constexpr std::string_view kMagic(wire::kMagic, sizeof wire::kMagic);
constexpr std::size_t kKeptBytes = std::size_t{1} << 20;  ///< of an empty buffer's memory
constexpr std::size_t kHeadBytes = sizeof(wire::FrameKind) + sizeof(std::uint64_t);

template <class T>
T number_at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

bool comes_from_a_runner(wire::FrameKind kind) {
  switch (kind) {
    case wire::FrameKind::kHello:
    case wire::FrameKind::kStep:
    case wire::FrameKind::kTaskEnd:
    case wire::FrameKind::kDone:
    case wire::FrameKind::kFailure:
    case wire::FrameKind::kOperation:
    case wire::FrameKind::kQuestion:
    case wire::FrameKind::kResult:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<FrameStream::Frame> FrameStream::take() {
  if (state_ == State::kPreamble && !skip_preamble()) {
    return std::nullopt;
  }
  if (state_ == State::kProtocol && !check_protocol()) {
    return std::nullopt;
  }
  if (available() < kHeadBytes) {
    return std::nullopt;
  }
  const auto kind = number_at<wire::FrameKind>(buffer_, start_);
  const auto size = number_at<std::uint64_t>(buffer_, start_ + sizeof kind);
  if (!comes_from_a_runner(kind)) {
    throw StreamError(fmt::format("a frame of unknown kind {}", static_cast<std::uint32_t>(kind)));
  }
  if (size > wire::kMaxPayload) {
    throw StreamError(fmt::format("a frame of {} bytes", size));
  }
  if (available() - kHeadBytes < size) {
    return std::nullopt;
  }
  Frame frame{kind, buffer_.substr(start_ + kHeadBytes, size)};
  consume(kHeadBytes + size);
  return frame;
}

std::string_view FrameStream::preamble() const {
  return state_ == State::kPreamble ? std::string_view(buffer_) : std::string_view();
}

bool FrameStream::skip_preamble() {
  const std::size_t at = buffer_.find(kMagic);
  if (std::min(at, buffer_.size()) > wire::kMaxPreamble) {
    throw StreamError(
        fmt::format("more than {} bytes of text before its first frame", wire::kMaxPreamble));
  }
  if (at == std::string::npos) {
    return false;
  }
  consume(at + kMagic.size());
  state_ = State::kProtocol;
  return true;
}

bool FrameStream::check_protocol() {
  if (available() < sizeof wire::kProtocol) {
    return false;
  }
  const auto protocol = number_at<std::uint32_t>(buffer_, start_);
  if (protocol != wire::kProtocol) {
    throw StreamError(
        fmt::format("protocol {}, where {} is spoken here", protocol, wire::kProtocol));
  }
  consume(sizeof protocol);
  state_ = State::kFrames;
  return true;
}

void FrameStream::consume(std::size_t count) {
  start_ += count;
  if (start_ == buffer_.size() && buffer_.capacity() > kKeptBytes) {
    std::string().swap(buffer_);  // one large frame must not hold its memory for ever
    start_ = 0;
  } else if (start_ * 2 >= buffer_.size()) {  // moves at most as many bytes as it frees
    buffer_.erase(0, start_);
    start_ = 0;
  }
}

}  // namespace drift
