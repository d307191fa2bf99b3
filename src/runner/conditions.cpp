#include "conditions.hpp"

#include <stdexcept>
#include <string>

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include "aligned_allocator.hpp"
#include "blas.hpp"
#include "memory_limit.hpp"

namespace drift::runner {
namespace {

int thread_count(const char* what, std::uint32_t threads) {
  if (threads < 1 || threads > 4096) {
    throw std::runtime_error(std::string(what) + " must be from 1 to 4096");
  }
  return static_cast<int>(threads);
}

/// Starts the threads that work is shared out to.
void start_threads(int threads) {
  at::parallel_for(0, threads, 1, [](std::int64_t, std::int64_t) {});
}

}  // namespace

void take_conditions(const wire::Job& job) {
  // Of this thread, and of those that it will start: so before any pool of threads.
  if (job.flush_denormals && !at::globalContext().setFlushDenormal(true)) {
    throw std::runtime_error("this build or processor can't flush denormals to zero");
  }
  at::set_num_interop_threads(thread_count("interop threads", job.interop_threads));
  const int threads = thread_count("threads", job.threads);
  at::set_num_threads(threads);
  set_blas_threads(threads);
  align_tensors(job.alignment);
  // Libraries that can't have a thread's stack end the process, or wait for the thread forever.
  start_threads(threads);
  limit_memory(job.memory_limit);
}

}  // namespace drift::runner
