#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "wire.hpp"

namespace drift::runner {

/// The other end has gone: nobody is left to speak to.
struct Disconnected : std::runtime_error {
  Disconnected() : std::runtime_error("the driver is gone") {}
};

/// The two streams to the driver. Owns no descriptor: they live as long as the process.
class Channel {
 public:
  Channel(int in, int out) : in_(in), out_(out) {}

  /// Writes the magic and the protocol version: before any frame.
  void open();
  /// Reads the driver's magic and protocol version; throws std::runtime_error when they differ.
  void expect_open();

  template <class T>
  void send(wire::FrameKind kind, const T& value) {
    wire::Writer payload;
    put(payload, value);
    write(wire::frame_head(kind, payload.bytes().size()));
    write(payload.bytes());
  }
  /// Waits for one frame of this kind. Errors: Disconnected; another kind; not a T.
  template <class T>
  T receive(wire::FrameKind kind) {
    return wire::parse<T>(receive_payload(kind));
  }
  /// Raw bytes among the frames: for a planted fault only.
  void write(const std::string& bytes);

 private:
  void read(char* to, std::size_t size);
  std::string receive_payload(wire::FrameKind kind);

  int in_;
  int out_;
};

}  // namespace drift::runner
