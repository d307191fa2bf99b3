// A runner: reads a job on stdin, runs it on the libtorch that it is linked with, and writes frames
// on stdout. See wire.hpp for what they say and the driver's runner_process.hpp for the other end.

#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <unistd.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>

#include "blas.hpp"
#include "channel.hpp"
#include "conditions.hpp"
#include "job.hpp"
#include "memory_limit.hpp"
#include "operations.hpp"
#include "torch_version.hpp"
#include "wire.hpp"

namespace drift::runner {
namespace {

/// Where the frames go: a duplicate of fd 1. From then on fd 1 is stderr, since libraries print to
/// stdout when asked to (MKL_VERBOSE, DNNL_VERBOSE).
int take_stdout() {
  const int frames = ::dup(STDOUT_FILENO);
  if (frames < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    throw std::runtime_error("stdout can't be redirected");
  }
  return frames;
}

wire::Hello introduction() {
  return {torch_version(), at::show_config() + linked_blas(), at::get_parallel_info(),
          static_cast<std::uint32_t>(at::get_num_threads()),
          static_cast<std::uint64_t>(::getpid())};
}

std::uint64_t peak_memory_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

void serve(Channel& channel) {
  channel.expect_open();
  const auto job = channel.receive<wire::Job>(wire::FrameKind::kJob);
  take_conditions(job);
  channel.send(wire::FrameKind::kHello, introduction());
  run_job(job, channel);
  channel.send(wire::FrameKind::kDone, wire::Done{peak_memory_bytes(), status_bytes("VmPeak:")});
}

wire::Failure failure_of(const std::exception& error, std::uint64_t memory_limit) {
  return {out_of_memory(error, memory_limit) + first_line(error)};
}

int run() {
  std::signal(SIGPIPE, SIG_DFL);  // without a reader there is nothing to do but end
  Channel channel(STDIN_FILENO, take_stdout());
  channel.open();
  try {
    serve(channel);
    return 0;
  } catch (const Disconnected& gone) {
    std::fprintf(stderr, "runner: %s\n", gone.what());
  } catch (const std::exception& error) {
    const std::uint64_t limit = lift_memory_limit();
    channel.send(wire::FrameKind::kFailure, failure_of(error, limit));
  }
  return 1;
}

}  // namespace
}  // namespace drift::runner

int main() {
  try {
    return drift::runner::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "runner: %s\n", error.what());
    return 1;
  }
}
