#pragma once

#include <chrono>
#include <csignal>
#include <sys/types.h>
#include <thread>

namespace drift::test {

/// Whether a process that isn't a child of the caller ends within ten seconds; some init processes
/// take two to bury an orphan.
inline bool process_ends(pid_t process) {
  for (int i = 0; i < 500 && ::kill(process, 0) == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return ::kill(process, 0) != 0;
}

}  // namespace drift::test
