#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "runner/wire.hpp"

namespace drift {

/// What a runner wrote is not what runner/wire.hpp describes.
struct StreamError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Cuts the bytes that come from a runner into frames: skips what was printed before the magic,
/// checks the protocol version, bounds every length before anything is kept for it.
class FrameStream {
 public:
  struct Frame {
    wire::FrameKind kind;
    std::string payload;
  };

  void append(std::string_view bytes) { buffer_.append(bytes); }
  /// The next frame that is there in full, or nothing. Throws StreamError: more than
  /// wire::kMaxPreamble bytes before the magic, another protocol, an unknown kind, a payload
  /// of more than wire::kMaxPayload bytes.
  std::optional<Frame> take();

  /// Whether the magic and the protocol version have come.
  bool begun() const { return state_ == State::kFrames; }
  /// What came before the magic so far.
  std::string_view preamble() const;
  /// Whether the bytes end within a frame.
  bool within_frame() const { return begun() && start_ < buffer_.size(); }

 private:
  enum class State { kPreamble, kProtocol, kFrames };

  bool skip_preamble();
  bool check_protocol();
  std::size_t available() const { return buffer_.size() - start_; }
  void consume(std::size_t count);

  State state_ = State::kPreamble;
  std::string buffer_;
  std::size_t start_ = 0;  ///< of what isn't taken yet
};

}  // namespace drift
