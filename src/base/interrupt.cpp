#include "driftaudit/interrupt.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

#include "driftaudit/error.hpp"

namespace drift {
namespace {

volatile std::sig_atomic_t caught_signal = 0;
std::array<int, 2> wake_pipe = {-1, -1};

extern "C" void remember_signal(int number) {
  caught_signal = number;
  const char byte = 0;
  // The pipe only has to become readable; a full one already is.
  [[maybe_unused]] const ssize_t ignored = ::write(wake_pipe[1], &byte, 1);
}

}  // namespace

void install_interrupt_handlers() {
  if (::pipe2(wake_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    throw trouble("no pipe left for signals");
  }
  struct sigaction action {};
  action.sa_handler = remember_signal;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
}

void throw_if_interrupted() {
  if (caught_signal == SIGINT) {
    throw Error(Status::kInterrupted, "interrupted");
  }
  if (caught_signal == SIGTERM) {
    throw Error(Status::kTerminated, "terminated");
  }
}

int interrupt_fd() { return wake_pipe[0]; }

}  // namespace drift
