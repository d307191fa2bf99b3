#include "memory_limit.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <sys/resource.h>

namespace drift::runner {
namespace {

std::string megabytes(std::uint64_t bytes) {
  return std::to_string((bytes + (1U << 20) - 1) >> 20U) + " MB";
}

}  // namespace

std::uint64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == key && status >> kilobytes) {
      return kilobytes * 1024;
    }
  }
  return 0;
}

void limit_memory(std::uint64_t bytes) {
  if (bytes == 0) {
    return;
  }
  // VmData is what counts towards the limit.
  if (const std::uint64_t held = status_bytes("VmData:"); held > bytes) {
    throw std::runtime_error("a memory limit of " + megabytes(bytes) + " is below the " +
                             megabytes(held) + " that this build takes before any work");
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = bytes;  // the soft one alone: a process may raise that again
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) {
    throw std::runtime_error(std::string("memory can't be limited: ") + std::strerror(errno));
  }
}

std::uint64_t lift_memory_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_DATA, &limit);
  return before == RLIM_INFINITY ? 0 : before;
}

std::string out_of_memory(const std::exception& error, std::uint64_t limit) {
  // As words too, since an operation's refusal repeats them.
  const std::string what = error.what();
  for (const char* words : {"std::bad_alloc", "can't allocate memory", "not enough memory",
                            "Cannot allocate memory", "out of memory"}) {
    if (what.find(words) != std::string::npos) {
      return "out of memory" + (limit == 0 ? "" : " within the limit of " + megabytes(limit)) +
             ": ";
    }
  }
  return "";
}

}  // namespace drift::runner
