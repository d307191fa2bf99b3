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
#if __has_include(<torch/csrc/api/include/torch/version.h>)
#include <torch/csrc/api/include/torch/version.h>
#else
#include <torch/version.h>
#endif

#include "blas.hpp"
#include "channel.hpp"
#include "job.hpp"
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

void set_threads(std::uint32_t threads) {
  if (threads < 1 || threads > 4096) {
    throw std::runtime_error("threads must be from 1 to 4096");
  }
  at::set_num_interop_threads(1);
  at::set_num_threads(static_cast<int>(threads));
  set_blas_threads(static_cast<int>(threads));
}

/// Of the headers; the macro with the whole text is younger than the oldest releases.
std::string torch_version() {
  return std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + "." +
         std::to_string(TORCH_VERSION_PATCH);
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
  set_threads(job.threads);
  channel.send(wire::FrameKind::kHello, introduction());
  run_job(job, channel);
  channel.send(wire::FrameKind::kDone, wire::Done{peak_memory_bytes()});
}

/// The exception's first line: torch's carry a stack trace after it.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

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
    channel.send(wire::FrameKind::kFailure, wire::Failure{first_line(error.what())});
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
