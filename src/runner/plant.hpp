#pragma once

#include <cstdint>
#include <vector>

#include "channel.hpp"
#include "faults.hpp"

namespace drift::runner {

/// Plants the faults that concern the process and its output, at the start of a task's step.
void plant_in_process(const std::vector<Fault>& faults, std::uint32_t task, std::uint32_t step,
                      Channel& channel);

/// Whether a fault of this kind is to be planted in a task's step.
bool plants(const std::vector<Fault>& faults, Fault::Kind kind, std::uint32_t task,
            std::uint32_t step);

}  // namespace drift::runner
