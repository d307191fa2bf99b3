#include "driftaudit/runner_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include "driftaudit/interrupt.hpp"
#include "driftaudit/process.hpp"

#include "capture/frame_stream.hpp"

namespace drift {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr int kPipeBytes = 1 << 20;            ///< lets a runner go on while the driver compares
constexpr std::size_t kReadBytes = 1 << 18;    ///< at once
constexpr std::size_t kStderrBytes = 1 << 14;  ///< of its end that are kept
constexpr std::size_t kQuoteBytes = 400;       ///< of that, in a message
constexpr Seconds kTimeToEnd{5};               ///< between closing its stdout and ending

Command command_of(const RunnerLaunch& launch) {
  Command command;
  command.arguments = launch.launcher;
  command.arguments.push_back(launch.program.string());
  command.environment = launch.environment;
  return command;
}

std::string opening(const wire::Job& job) {
  wire::Writer head;
  head.number(wire::kProtocol);
  return std::string(wire::kMagic, sizeof wire::kMagic) + head.bytes() +
         wire::frame(wire::FrameKind::kJob, job);
}

void make_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

/// The last lines of a text, joined into one, printable, at most kQuoteBytes.
std::string quotable(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool separates = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (!separates) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
  if (line.size() > kQuoteBytes) {
    line = "..." + line.substr(line.size() - kQuoteBytes);
  }
  return line;
}

}  // namespace

struct RunnerProcess::Impl {
  Impl(const RunnerLaunch& launch, const wire::Job& job)
      : label(launch.label),
        timeout(launch.timeout_seconds),
        child(command_of(launch), {ChildProcess::Stream::kPipe, ChildProcess::Stream::kPipe,
                                   ChildProcess::Stream::kPipe}),
        outgoing(opening(job)) {
    for (const int fd : {child.in(), child.out(), child.err()}) {
      make_nonblocking(fd);
    }
    ::fcntl(child.out(), F_SETPIPE_SZ, kPipeBytes);  // a smaller pipe does too
    write_some();
  }

  ~Impl() {
    if (done) {  // a runner that said all, or its launcher, may still have to clean up
      child.close_in();
      if (await_end()) {
        child.wait();
      }
    }
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  FrameStream::Frame next_frame();
  void wait_for_bytes(Clock::time_point& heard);
  bool read_some();
  void read_stderr();
  void write_some();
  void send(std::string bytes);
  bool await_end();
  std::string quoted_stderr() const;
  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const;
  [[noreturn]] void fail_at_end();
  [[noreturn]] void fail_hung();

  std::string label;
  Seconds timeout;
  ChildProcess child;
  std::string outgoing;     ///< for the runner's stdin
  std::size_t written = 0;  ///< of it
  FrameStream stream;
  std::string stderr_tail;
  bool out_open = true;
  bool err_open = true;
  bool done = false;
};

/// Waits for the next frame, writing what is due and draining stderr meanwhile.
FrameStream::Frame RunnerProcess::Impl::next_frame() {
  Clock::time_point heard = Clock::now();
  for (;;) {
    try {
      if (auto frame = stream.take()) {
        return std::move(*frame);
      }
    } catch (const StreamError& error) {
      read_stderr();
      fail(fmt::format("the runner sent a malformed frame: {}", error.what()));
    }
    if (!out_open) {
      fail_at_end();
    }
    wait_for_bytes(heard);
  }
}

/// One turn of the poll loop; `heard` is when the runner last showed life.
void RunnerProcess::Impl::wait_for_bytes(Clock::time_point& heard) {
  const Seconds left = timeout - (Clock::now() - heard);
  if (left <= Seconds::zero()) {
    fail_hung();
  }
  const int milliseconds = static_cast<int>(std::min(left.count(), 3600.0) * 1000) + 1;
  std::array<pollfd, 4> polled = {{{child.out(), POLLIN, 0},
                                   {err_open ? child.err() : -1, POLLIN, 0},
                                   {outgoing.empty() ? -1 : child.in(), POLLOUT, 0},
                                   {interrupt_fd(), POLLIN, 0}}};
  if (::poll(polled.data(), polled.size(), milliseconds) < 0 && errno != EINTR) {
    fail(fmt::format("poll: {}", std::strerror(errno)));
  }
  throw_if_interrupted();
  if (polled[2].revents != 0) {
    write_some();
  }
  if (polled[1].revents != 0) {
    read_stderr();
    heard = Clock::now();
  }
  if (polled[0].revents != 0) {
    out_open = read_some();
    heard = Clock::now();
  }
}

/// Takes what stdout holds, up to kReadBytes; false at its end.
bool RunnerProcess::Impl::read_some() {
  std::array<char, kReadBytes> bytes;
  const ssize_t n = ::read(child.out(), bytes.data(), bytes.size());
  if (n > 0) {
    stream.append({bytes.data(), static_cast<std::size_t>(n)});
  }
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

void RunnerProcess::Impl::read_stderr() {
  std::array<char, 4096> bytes{};
  while (err_open) {
    const ssize_t n = ::read(child.err(), bytes.data(), bytes.size());
    if (n <= 0) {
      err_open = n < 0 && (errno == EAGAIN || errno == EINTR);
      return;
    }
    stderr_tail.append(bytes.data(), static_cast<std::size_t>(n));
    if (stderr_tail.size() > 2 * kStderrBytes) {
      stderr_tail.erase(0, stderr_tail.size() - kStderrBytes);
    }
  }
}

/// Writes what the pipe takes. A runner that is gone is noticed, with its reasons, when reading.
void RunnerProcess::Impl::write_some() {
  while (written < outgoing.size()) {
    const ssize_t n = ::write(child.in(), outgoing.data() + written, outgoing.size() - written);
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n < 0 && errno == EAGAIN) {
      return;
    }
    written = n < 0 ? outgoing.size() : written + static_cast<std::size_t>(n);
  }
  std::string().swap(outgoing);  // its memory too: a call can be large
  written = 0;
}

/// Sends what follows on what is not written yet.
void RunnerProcess::Impl::send(std::string bytes) {
  if (outgoing.empty()) {
    outgoing = std::move(bytes);
  } else {
    outgoing += bytes;
  }
  write_some();
}

/// Gives the runner a little time to end; stderr is drained meanwhile.
bool RunnerProcess::Impl::await_end() {
  const Clock::time_point since = Clock::now();
  while (Clock::now() - since < kTimeToEnd) {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(child.pid()), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != 0) {
      return true;
    }
    pollfd polled = {err_open ? child.err() : -1, POLLIN, 0};
    ::poll(&polled, 1, 10);
    read_stderr();
  }
  return false;
}

std::string RunnerProcess::Impl::quoted_stderr() const {
  const std::string quote =
      quotable(stderr_tail.empty() ? stream.preamble() : std::string_view(stderr_tail));
  return quote.empty() ? "" : fmt::format("; its last words: {}", quote);
}

void RunnerProcess::Impl::fail(const std::string& what, const std::string& hint) const {
  throw trouble(fmt::format("{}: {}{}", label, what, quoted_stderr()), hint);
}

void RunnerProcess::Impl::fail_at_end() {
  const bool ended = await_end();
  read_stderr();
  if (!ended) {
    child.kill();
    fail("the runner closed its output in the middle of its work");
  }
  const ProcessEnd end = child.wait();
  if (end.signal == SIGKILL) {
    fail(fmt::format("the runner was killed in the middle of its work: {}", end.describe()),
         "if nobody did it, the system may have run out of memory");
  }
  if (end.signal == SIGILL) {
    fail(fmt::format("a kernel took an instruction that this processor lacks: {}", end.describe()),
         "unset what asks for such kernels (ATEN_CPU_CAPABILITY, say), or name ones that it has");
  }
  fail(
      fmt::format("the runner ended {}: {}",
                  stream.within_frame() ? "in the middle of a frame" : "too early", end.describe()),
      "see what is wrong with the build: driftaudit builds doctor");
}

void RunnerProcess::Impl::fail_hung() {
  child.kill();
  read_stderr();
  fail(fmt::format("the runner hangs: not a word for {:g} s", timeout.count()));
}

RunnerProcess::RunnerProcess(const RunnerLaunch& launch, const wire::Job& job)
    : impl_(std::make_unique<Impl>(launch, job)) {}
RunnerProcess::~RunnerProcess() = default;
RunnerProcess::RunnerProcess(RunnerProcess&&) noexcept = default;

RunnerProcess::Event RunnerProcess::next() {
  const FrameStream::Frame frame = impl_->next_frame();
  wire::Failure failure;
  try {
    switch (frame.kind) {
      case wire::FrameKind::kHello:
        return wire::parse<wire::Hello>(frame.payload);
      case wire::FrameKind::kStep:
        return wire::parse<wire::Step>(frame.payload);
      case wire::FrameKind::kTaskEnd:
        return wire::parse<wire::TaskEnd>(frame.payload);
      case wire::FrameKind::kDone: {
        const auto last = wire::parse<wire::Done>(frame.payload);
        impl_->done = true;
        return last;
      }
      case wire::FrameKind::kOperation:
        return wire::parse<wire::OperationRecord>(frame.payload);
      case wire::FrameKind::kQuestion:
        return wire::parse<wire::Question>(frame.payload);
      case wire::FrameKind::kResult:
        return wire::parse<wire::Result>(frame.payload);
      default:  // FrameStream lets no other kind through
        failure = wire::parse<wire::Failure>(frame.payload);
    }
  } catch (const std::runtime_error& error) {
    impl_->fail(fmt::format("the runner sent a malformed frame: {}", error.what()));
  }
  throw trouble(fmt::format("{}: the runner gave up: {}", impl_->label, quotable(failure.what)));
}

std::string RunnerProcess::log_tail() const { return impl_->stderr_tail; }

void RunnerProcess::feed(std::int32_t token) {
  impl_->send(wire::frame(wire::FrameKind::kToken, wire::FedToken{token}));
}

void RunnerProcess::call(std::vector<std::optional<wire::TensorData>> inputs) {
  impl_->send(wire::frame(wire::FrameKind::kCall, wire::Call{false, std::move(inputs)}));
}

void RunnerProcess::end_calls() {
  impl_->send(wire::frame(wire::FrameKind::kCall, wire::Call{true, {}}));
}

Error out_of_order(const std::string& side) {
  return trouble(fmt::format("{}: the runner sent its frames out of order", side),
                 "driftaudit builds doctor tells whether its runner is sound");
}

}  // namespace drift
