#include "channel.hpp"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace drift::runner {

void Channel::open() {
  wire::Writer head;
  head.number(wire::kProtocol);
  write(std::string(wire::kMagic, sizeof wire::kMagic) + head.bytes());
}

void Channel::expect_open() {
  char magic[sizeof wire::kMagic];
  read(magic, sizeof magic);
  if (std::memcmp(magic, wire::kMagic, sizeof magic) != 0) {
    throw std::runtime_error("stdin is no job: a runner is started by driftaudit");
  }
  std::uint32_t protocol = 0;
  read(reinterpret_cast<char*>(&protocol), sizeof protocol);
  if (protocol != wire::kProtocol) {
    throw std::runtime_error("the driver speaks protocol " + std::to_string(protocol) +
                             ", this runner " + std::to_string(wire::kProtocol));
  }
}

void Channel::write(const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(out_, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno != EINTR) {
      throw Disconnected();
    }
    done += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
}

void Channel::read(char* to, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::read(in_, to, size);
    if (n == 0 || (n < 0 && errno != EINTR)) {
      throw Disconnected();
    }
    if (n > 0) {
      to += n;
      size -= static_cast<std::size_t>(n);
    }
  }
}

std::string Channel::receive_payload(wire::FrameKind kind) {
  wire::FrameKind got{};
  read(reinterpret_cast<char*>(&got), sizeof got);
  std::uint64_t size = 0;
  read(reinterpret_cast<char*>(&size), sizeof size);
  if (got != kind || size > wire::kMaxPayload) {
    throw std::runtime_error("unexpected frame of kind " +
                             std::to_string(static_cast<std::uint32_t>(got)) + ", " +
                             std::to_string(size) + " bytes");
  }
  std::string payload(static_cast<std::size_t>(size), '\0');
  read(&payload[0], payload.size());
  return payload;
}

}  // namespace drift::runner
