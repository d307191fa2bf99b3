#pragma once

#include "wire.hpp"

namespace drift::runner {

/// Puts the process under a job's conditions: memory, denormals, threads, alignment. To be called
/// before any of its work. Throws std::runtime_error, naming the condition: it isn't one, or this
/// build or processor can't have it.
void take_conditions(const wire::Job& job);

}  // namespace drift::runner
