#include "sweep/load.hpp"

#include <chrono>
#include <ctime>
#include <thread>

#include <gtest/gtest.h>

namespace drift {
namespace {

/// Processor time of all of this process's threads, in seconds.
double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST(Load, IsBusyAsLongAsItExists) {
  const double before = processor_seconds();
  {
    const Load load(2);
    const auto since = std::chrono::steady_clock::now();
    while (processor_seconds() < before + 0.05) {
      ASSERT_LT(std::chrono::steady_clock::now() - since, std::chrono::minutes(2));
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  const double ended = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(processor_seconds() - ended, 0.05);
}

TEST(Load, OfNoThreadIsNone) {
  const double before = processor_seconds();
  const Load load(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LT(processor_seconds() - before, 0.05);
}

}  // namespace
}  // namespace drift
