#include <fmt/core.h>

#include "driftaudit/error.hpp"
#include "driftaudit/localize.hpp"
#include "driftaudit/progress.hpp"

namespace drift {
namespace {

std::uint64_t operand_bytes(const wire::Operand& operand) {
  return operand.weight ? 0 : operand.layout.extent() * wire::element_bytes(operand.layout.dtype);
}

}  // namespace

std::uint64_t replay_bytes(const wire::OperationRecord& operation) {
  // The worst moments of replay_pass(): A's record is held while its inputs are copied, put into a
  // frame and queued; later B's record arrives (its frame, then itself) beside A's and both
  // results; last come the elements that are compared.
  std::uint64_t inputs = 0;
  for (const wire::Operand& input : operation.inputs) {
    inputs += operand_bytes(input);
  }
  const std::uint64_t output = operand_bytes(operation.output);
  return 5 * (inputs + output) + output;
}

void check_memory(const std::vector<wire::OperationRecord>& operations, std::uint64_t budget) {
  for (const wire::OperationRecord& operation : operations) {
    const std::uint64_t needed = replay_bytes(operation);
    if (needed > budget) {
      throw usage_error(fmt::format("--memory: {} needs {} for its tensors, more than {}",
                                    operation.name, format_bytes(needed), format_bytes(budget)),
                        "give it more, or localize a shorter prompt");
    }
  }
}

}  // namespace drift
