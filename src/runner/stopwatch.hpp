#pragma once

#include <chrono>

namespace drift::runner {

/// Seconds spent between start() and stop(), added up.
class Stopwatch {
 public:
  void start() { since_ = Clock::now(); }
  /// The seconds since start().
  double stop() {
    const double passed = std::chrono::duration<double>(Clock::now() - since_).count();
    seconds_ += passed;
    return passed;
  }
  double seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point since_;
  double seconds_ = 0;
};

}  // namespace drift::runner
