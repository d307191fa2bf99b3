#include "plant.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

namespace drift::runner {

void plant_in_process(const std::vector<Fault>& faults, std::uint32_t task, std::uint32_t step,
                      Channel& channel) {
  for (const Fault& fault : faults) {
    if (!fault.applies(task, step)) {
      continue;
    }
    switch (fault.kind) {
      case Fault::Kind::kExit:
        std::_Exit(7);
      case Fault::Kind::kHang:
        for (;;) {
          ::pause();
        }
      case Fault::Kind::kKill:
        std::raise(SIGKILL);
        break;
      case Fault::Kind::kFail:
        throw std::runtime_error("a planted failure");
      case Fault::Kind::kGarbage:
        channel.write("this is no frame, and it is longer than the head of one");
        break;
      case Fault::Kind::kText:
        std::puts("MKL_VERBOSE planted text");
        std::fflush(stdout);
        break;
      default:
        break;  // planted elsewhere
    }
  }
}

bool plants(const std::vector<Fault>& faults, Fault::Kind kind, std::uint32_t task,
            std::uint32_t step) {
  return std::any_of(faults.begin(), faults.end(), [&](const Fault& fault) {
    return fault.kind == kind && fault.applies(task, step);
  });
}

}  // namespace drift::runner
